"""Rules on secrets and passwords."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.rules.client_credentials import computes_with_secret
from service.config.schema.file import ConfigurationFile
from service.config.schema.resources import SecretEntry
from service.model.user import PASSWORD_COST, hashing_work

_ARGON2ID = re.compile(
    r"\$argon2id\$v=[0-9]+\$(m=[0-9]+,t=[0-9]+,p=[0-9]+)\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}"
)


def secrets_are_hashed_once(file: ConfigurationFile) -> Iterator[Finding]:
    """A secret is given as its hash or as itself, and is still valid."""
    for at, client in enumerate(file.clients):
        yield from _secrets(("clients", at, "client_secrets"), client.client_secrets)
    for at, resource in enumerate(file.api_resources):
        yield from _secrets(("api_resources", at, "secrets"), resource.secrets)
    for at, scope in enumerate(file.api_scopes):
        yield from _secrets(("api_scopes", at, "secrets"), scope.secrets)


def plain_secrets_are_needed(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a secret that is not hashed, where its hash is enough."""
    hint = "write sha256 in its place, which `python -m service hash-secret` makes"
    for at, client in enumerate(file.clients):
        if not computes_with_secret(client):
            message = "no algorithm of this client needs the secret itself"
            choice = f"{hint}; or set token_endpoint_auth_method: client_secret_jwt"
            yield from _warn_of_values(
                ("clients", at, "client_secrets"), client.client_secrets, message, choice
            )
    for at, resource in enumerate(file.api_resources):
        message = "an API needs the hash of its secret only"
        yield from _warn_of_values(
            ("api_resources", at, "secrets"), resource.secrets, message, hint
        )


def _warn_of_values(
    location: Location, secrets: tuple[SecretEntry, ...], message: str, hint: str
) -> Iterator[Finding]:
    for at, secret in enumerate(secrets):
        if secret.value is not None:
            yield warning((*location, at, "value"), message, hint)


def api_resources_have_secrets(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of an API that cannot introspect tokens (RFC 7662 §2.1)."""
    for at, resource in enumerate(file.api_resources):
        if not resource.secrets:
            message = "is empty, so this API cannot introspect tokens"
            hint = "`python -m service new-secret` makes one"
            yield warning(("api_resources", at, "secrets"), message, hint)


def _secrets(location: Location, secrets: tuple[SecretEntry, ...]) -> Iterator[Finding]:
    now = time.time()
    for at, secret in enumerate(secrets):
        if (secret.sha256 is None) is (secret.value is None):
            message = "expected either sha256 or value"
            yield Finding((*location, at), message, "`python -m service hash-secret` makes sha256")
        if secret.expires_at is not None and secret.expires_at <= now:
            message = "this secret has expired and is not accepted"
            yield warning((*location, at, "expires_at"), message, "remove it")


def passwords_are_hashed(file: ConfigurationFile) -> Iterator[Finding]:
    """A password is kept as an Argon2id hash in PHC form (RFC 9106 §3.1), at the usual cost at least."""
    hint = "`python -m service hash-password` makes one"
    for at, user in enumerate(file.users.list):
        if user.password is None:
            continue
        location, hashed = ("users", "list", at, "password"), _ARGON2ID.fullmatch(user.password)
        if hashed is None:
            yield Finding(location, "expected an Argon2id hash such as $argon2id$v=19$…", hint)
        elif hashing_work(hashed[1]) < hashing_work(PASSWORD_COST):
            message = f"its cost is lower than {PASSWORD_COST}, so a stolen hash is easier to guess"
            yield warning(location, message, hint)
