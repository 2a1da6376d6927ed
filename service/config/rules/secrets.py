"""Rules on secrets and passwords."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.schema.file import ConfigurationFile
from service.config.schema.resources import SecretEntry
from service.model.user import PASSWORD_COST

_ARGON2ID = re.compile(
    r"\$argon2id\$v=[0-9]+\$(m=[0-9]+,t=[0-9]+,p=[0-9]+)\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}"
)


def secrets_are_hashed_once(file: ConfigurationFile) -> Iterator[Finding]:
    """A secret is given as its hash or as itself, and is still valid."""
    for at, client in enumerate(file.clients):
        yield from _secrets(("clients", at, "client_secrets"), client.client_secrets)
    for at, resource in enumerate(file.api_resources):
        yield from _secrets(("api_resources", at, "secrets"), resource.secrets)


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
    """A password is kept as an Argon2id hash in PHC form (RFC 9106 §3.1), all at the same cost."""
    hint = "`python -m service hash-password` makes one"
    for at, user in enumerate(file.users.list):
        if user.password is None:
            continue
        location, hashed = ("users", "list", at, "password"), _ARGON2ID.fullmatch(user.password)
        if hashed is None:
            yield Finding(location, "expected an Argon2id hash such as $argon2id$v=19$…", hint)
        elif hashed[1] != PASSWORD_COST:
            message = f"its cost is not {PASSWORD_COST}, so the time of a refusal tells who exists"
            yield warning(location, message, hint)
