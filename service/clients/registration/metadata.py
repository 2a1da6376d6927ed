"""Which metadata may a client register, and what `Client` does it make? (RFC 7591 §2, OpenID Connect Registration §2)"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from service.clients.registration.metadata_names import (
    KEYS,
    REGISTRABLE,
    TAGGED,
    by_registered_name,
    computes_with_secret,
    with_defaults,
)
from service.config.problem import Finding
from service.config.registry import client_of
from service.config.rules import (
    client_credentials,
    client_grants,
    client_keys,
    logout_uris,
    redirect_uris,
    supported,
)
from service.config.rules.registered_client import RULES, Offered
from service.config.rules.rule import ClientRule
from service.config.schema.client import ClientEntry
from service.config.schema.findings import schema_findings
from service.config.schema.types import Text, WebUrl
from service.model.catalogue import Credential, Registrable
from service.model.client import Client, Secret
from service.model.local_text import NO_LANGUAGE, LocalText, local_text
from service.model.registered_client import RegisteredClient
from service.protocol.errors import (
    InvalidClientMetadata,
    InvalidRedirectUri,
    InvalidScope,
    OAuthError,
)
from service.protocol.response_type import RESPONSE_TYPES
from service.protocol.scope import OFFLINE_ACCESS, format_scope, parse_scope
from service.protocol.shown_name import unfit_name

_RULES_OF_ALL: tuple[ClientRule, ...] = (
    redirect_uris.redirect_uris_are_safe,
    client_grants.public_client_cannot_act_for_itself,
    client_grants.response_types_follow_from_grant_types,
    client_credentials.keys_are_given_once,
    client_credentials.jwks_holds_public_keys,
    client_credentials.symmetric_algorithms_know_the_secret,
    client_credentials.signed_requests_can_be_verified,
    client_credentials.encryption_has_an_algorithm,
    client_keys.encryption_has_a_key,
    logout_uris.logout_uris_are_encrypted,
    logout_uris.frontchannel_logout_is_at_home,
)
"""The rules on the file's clients that say something of what a client can register."""

REGISTERED_TOKEN_LIFETIME: int = ClientEntry.model_fields["access_token_lifetime"].default
"""Seconds, the longest that a registered client's tokens which a key signs live."""

_PLACEHOLDER = "a secret is made when all is well"
_NAME_IN_LANGUAGE = "client_name#"
_LINK = TypeAdapter[str](WebUrl)
_NAME = TypeAdapter[str](Text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationPolicy:
    """What this service lets clients register; the same defaults and rules as for clients of the file."""

    allowed_scopes: frozenset[str]
    offered: Offered

    @property
    def registrable(self) -> Registrable:
        """What discovery says of clients that may yet come (RFC 8414 §2)."""
        return Registrable(
            grant_types=self.offered.catalogue.registrable_grant_types,
            response_types=frozenset(known.name for known in RESPONSE_TYPES),
            scopes=self.allowed_scopes,
        )

    def accept(self, asked: Mapping[str, object]) -> dict[str, object]:
        """The metadata that will be in force, defaults included; the error names the field (RFC 7591 §3.2)."""
        known = {name: value for name, value in asked.items() if value is not None}
        metadata = with_defaults(
            {name: value for name, value in known.items() if name in {*REGISTRABLE, "scope"}},
            algorithms=self.offered.algorithms,
        )
        metadata["scope"] = self._scope(metadata)
        if not isinstance(metadata.get("default_max_age", 0), int):  # the file may write 15m
            raise InvalidClientMetadata("default_max_age: expected a whole number of seconds")
        if isinstance(metadata.get("client_name"), dict):  # as the file may have it
            raise InvalidClientMetadata("client_name: expected text; client_name#de is German")
        try:
            entry = self._entry("dc_", metadata)
        except ValidationError as error:
            raise _refusal(next(schema_findings(error))) from error
        for finding in self._findings(entry):
            raise _refusal(finding)
        return metadata | _tagged(known)

    def client(self, record: RegisteredClient, *, secret_value: str | None) -> Client:
        """The client that a record stands for; a scope that is allowed no longer is not the client's."""
        made = client_of(self._entry(record.client_id, record.metadata), {}, self.offered.catalogue)
        made = replace(
            made,
            dynamically_registered=True,
            client_name=_name(record.metadata),
            client_secrets=(),
        )
        if record.secret_sha256 is None:
            return made
        secret = Secret(
            sha256=record.secret_sha256,
            value=secret_value,
            description=None,
            expires_at=record.expires_at,
        )
        return replace(made, client_secrets=(secret,))

    def needs_secret(self, metadata: Mapping[str, object]) -> bool:
        """Whether the client proves, verifies or decrypts anything by a secret (RFC 7591 §3.2.1)."""
        credential = self._credential(metadata)
        return credential is Credential.SECRET or (
            credential is not Credential.NOTHING and self.needs_secret_value(metadata)
        )

    def needs_secret_value(self, metadata: Mapping[str, object]) -> bool:
        """Whether the service has to keep the secret itself, because its hash will not do (OIDC Core §10)."""
        needs_value = self._credential(metadata) is Credential.SECRET_VALUE
        return needs_value or computes_with_secret(metadata)

    def _credential(self, metadata: Mapping[str, object]) -> Credential | None:
        method = str(metadata["token_endpoint_auth_method"])
        return self.offered.catalogue.client_auth_methods.get(method)

    def _entry(self, client_id: str, metadata: Mapping[str, object]) -> ClientEntry:
        """The metadata as if an operator had written them, with what an operator decides for strangers."""
        scope = frozenset(str(metadata["scope"]).split()) & self.allowed_scopes
        confidential = metadata["token_endpoint_auth_method"] != "none"
        secret = (
            {"value": _PLACEHOLDER} if self.needs_secret_value(metadata) else {"sha256": "0" * 64}
        )
        values = {KEYS.get(name, name): metadata[name] for name in REGISTRABLE & metadata.keys()}
        return ClientEntry.model_validate(
            {
                **values,
                "client_id": client_id,
                "client_secrets": [secret] if self.needs_secret(metadata) else [],
                "require_client_secret": confidential,
                "allowed_scopes": scope - {OFFLINE_ACCESS},
                "allow_offline_access": OFFLINE_ACCESS in scope,
                "require_pkce": not confidential,
                "require_consent": True,
                # A JWT would show the local subject to the client that carries it (OIDC Core §8.1).
                "access_token_type": "reference" if _is_pairwise(metadata) else "jwt",
            }
        )

    def _scope(self, metadata: Mapping[str, object]) -> str:
        """What the client may ask for: all, or what it names; offline_access only to refresh by (RFC 7591 §2)."""
        asked = metadata.get("scope")
        scope = self.allowed_scopes if asked is None else _scope_of(asked)
        if not scope <= self.allowed_scopes:
            raise InvalidClientMetadata("scope: holds a value that cannot be registered")
        grant_types = metadata["grant_types"]
        refreshes = isinstance(grant_types, list) and "refresh_token" in grant_types
        return format_scope(scope if refreshes else scope - {OFFLINE_ACCESS})

    def _findings(self, entry: ClientEntry) -> Iterator[Finding]:
        for rule in _RULES_OF_ALL:
            yield from (finding for finding in rule(entry) if finding.severity == "error")
        yield from client_credentials.auth_method_fits_the_credentials(
            entry, self.offered.catalogue
        )
        for each in RULES:
            yield from each(entry, self.offered)
        # Warnings in the file; to a stranger, a protection that is not served is not promised.
        yield from supported.client_uses_supported_features(entry, self.offered.catalogue)


def _name(metadata: Mapping[str, object]) -> LocalText | None:
    """Return the client's name in each language that it registered (OpenID Connect Registration §2.1).

    A name that only an earlier release accepted is left out.
    """
    names = {
        name.removeprefix(_NAME_IN_LANGUAGE): str(value)
        for name, value in metadata.items()
        if name.startswith(_NAME_IN_LANGUAGE)
    }
    if "client_name" in metadata:
        names[NO_LANGUAGE] = str(metadata["client_name"])
    shown = {language: name for language, name in names.items() if unfit_name(name) is None}
    return local_text(shown) if shown else None


def _is_pairwise(metadata: Mapping[str, object]) -> bool:
    return metadata.get("subject_type") == "pairwise"


def _scope_of(asked: object) -> frozenset[str]:
    try:
        return parse_scope(asked if isinstance(asked, str) else "")
    except InvalidScope as error:
        raise InvalidClientMetadata("scope: expected values with spaces between them") from error


def _tagged(asked: Mapping[str, object]) -> dict[str, object]:
    """What a person is shown, in further languages: kept and told, as it is (§2.1)."""
    tagged = {name: value for name, value in asked.items() if TAGGED.fullmatch(name)}
    for name, value in tagged.items():
        is_name = name.startswith(_NAME_IN_LANGUAGE)
        check = _NAME if is_name else _LINK
        try:
            check.validate_python(value, strict=True)
        except ValidationError as error:
            raise InvalidClientMetadata(f"{name}: is not what {name.split('#')[0]} is") from error
        unfit = unfit_name(str(value)) if is_name else None
        if unfit is not None:
            raise InvalidClientMetadata(f"{name}: {unfit}")
    return tagged


def _refusal(finding: Finding) -> OAuthError:
    """A finding as the error that the client gets, by the metadata's registered name (RFC 7591 §3.2.2)."""
    name = by_registered_name(str(finding.location[0]))
    where = "".join(f"[{at}]" for at in finding.location[1:2] if isinstance(at, int))
    message = re.sub(r"§\s*", "section ", finding.message)
    kind = InvalidRedirectUri if name == "redirect_uris" else InvalidClientMetadata
    return kind(f"{name}{where}: {message}")
