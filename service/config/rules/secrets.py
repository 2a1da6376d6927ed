"""Rules on secrets and passwords (RFC 7662 §2.1, RFC 9106 §3.1)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from service.config.problem import Finding, warning
from service.config.rules.client_keys import computes_with_secret
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry, Secret
from service.model.resources import ApiResourceEntry
from service.model.user import PASSWORD_COST, hashing_work

_ARGON2ID = re.compile(
    r"\$argon2id\$v=[0-9]+\$(m=[0-9]+,t=[0-9]+,p=[0-9]+)\$[A-Za-z0-9+/]{8,}\$[A-Za-z0-9+/]{16,}"
)
_SECRETS = (("clients", "client_secrets"), ("api_resources", "secrets"), ("api_scopes", "secrets"))
_WRITE_HASH = "write sha256 in its place, which `python -m service hash-secret` makes"


def secrets_are_hashed_and_valid(file: ConfigurationFile) -> Iterator[Finding]:
    """A secret is given by its hash, or by its value where an algorithm needs that, and is still valid."""
    for section, key in _SECRETS:
        for at, entry in enumerate[object](getattr(file, section)):
            for index, secret in enumerate[Secret](getattr(entry, key)):
                for finding in _judge_secret(secret, entry):
                    yield finding.below(section, at, key, index)


def _judge_secret(secret: Secret, of: object) -> Iterator[Finding]:
    if (secret.sha256 is None) is (secret.value is None):
        hint = "`python -m service hash-secret` makes sha256"
        yield Finding((), "expected either sha256 or value", hint)
    if secret.expires_at is not None and secret.expires_at <= time.time():
        yield warning(("expires_at",), "this secret has expired and is not accepted", "remove it")
    if secret.value is not None and isinstance(of, ApiResourceEntry):
        yield warning(("value",), "an API needs the hash of its secret only", _WRITE_HASH)
    if secret.value is not None and isinstance(of, ClientEntry) and not computes_with_secret(of):
        message = "no algorithm of this client needs the secret itself"
        hint = f"{_WRITE_HASH}; or set token_endpoint_auth_method: client_secret_jwt"
        yield warning(("value",), message, hint)


def api_resources_have_secrets(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of an API that cannot introspect tokens (RFC 7662 §2.1)."""
    for at, resource in enumerate(file.api_resources):
        if not resource.secrets:
            message = "is empty, so this API cannot introspect tokens"
            hint = "`python -m service new-secret` makes one"
            yield warning(("api_resources", at, "secrets"), message, hint)


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
