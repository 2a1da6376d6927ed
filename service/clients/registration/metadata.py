"""Checks the metadata that a client registers, and builds its `Client` (RFC 7591 §2, OpenID Connect Registration §2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import msgspec
from msgspec.structs import replace

from service.clients.registration.rules import RULES, Offered, unfit_name
from service.config.convert import convert
from service.config.judge import ClientRule
from service.config.problem import Finding
from service.config.registry import client_of
from service.config.schema.findings import schema_findings
from service.keys.algorithms import uses_secret
from service.model.catalogue import Credential, Registrable
from service.model.client import Client
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import RegisteredClient, marked, registered_names
from service.model.local_text import NO_LANGUAGE, LocalText, local_text
from service.model.marks import Unfit
from service.model.secret import Secret
from service.model.types import Text, WebUrl
from service.protocol import errors
from service.protocol.authorization_request import RESPONSE_TYPES
from service.protocol.errors import InvalidClientMetadata
from service.protocol.redirect_uri import private_use_scheme
from service.protocol.scope import OFFLINE_ACCESS, format_scope, parse_scope

MAX_BYTES = 16 * 1024
"""Of the metadata of a client, which may hold keys and their certificates."""

TAGGED = re.compile(
    rf"({'|'.join(marked(Mark.SHOWN_TO_USERS))})#[A-Za-z]{{2,8}}(-[A-Za-z0-9]{{1,8}}){{0,8}}"
)
"""Texts for users may have a language tag (OpenID Connect Registration §2.1)."""


_DEPTH = 4
"""A member of a key in jwks is that deep; nothing below it has a meaning here."""


class RegistrationPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Applies the defaults and rules of clients in config.yaml."""

    allowed_scopes: frozenset[str]
    offered: Offered
    rules: Iterable[ClientRule]
    """Those on every client, registered dynamically or not."""

    @property
    def registrable(self) -> Registrable:
        """Return for discovery what future clients can use (RFC 8414 §2)."""
        return Registrable(
            grant_types=self.offered.catalogue.registrable_grant_types,
            response_types=frozenset(known.name for known in RESPONSE_TYPES),
            scopes=self.allowed_scopes,
        )

    def accept(self, sent: Mapping[str, object]) -> dict[str, object]:
        """Return the metadata with defaults; raise an error that names the wrong field (RFC 7591 §3.2).

        The members are those that `present_members` left.
        """
        if len(msgspec.json.encode(sent)) > MAX_BYTES:
            raise InvalidClientMetadata(f"the metadata are longer than {MAX_BYTES} bytes")
        known = {*registered_names(), "scope"}
        accepted = {name: sent[name] for name in sent if name in known}
        metadata = _with_defaults(accepted, algorithms=self.offered.algorithms)
        metadata["scope"] = self._scope(metadata)
        max_age = metadata.get("default_max_age", 0)
        if type(max_age) is not int or max_age < 0:  # config.yaml allows 15m
            raise InvalidClientMetadata("default_max_age: expected a whole number of seconds")
        if isinstance(metadata.get("client_name"), dict):  # config.yaml allows it
            raise InvalidClientMetadata("client_name: expected text; client_name#de is German")
        try:
            entry = self._entry("dc_", metadata)
        except Unfit as error:
            raise _to_error(next(schema_findings(error))) from error
        for finding in self._findings(entry):
            raise _to_error(finding)
        return metadata | _check_tagged(sent)

    def build_client(self, record: RegisteredClient, *, secret_value: str | None) -> Client:
        """Return the client of a record, without scope values that are no longer allowed."""
        digest, expires_at = record.secret_sha256, record.expires_at
        secret = digest and Secret(sha256=digest, value=secret_value, expires_at=expires_at)
        return replace(
            client_of(self._entry(record.client_id, record.metadata), {}),
            dynamically_registered=True,
            client_name=_read_names(record.metadata),
            client_secrets=(secret,) if secret else (),
        )

    def needs_secret(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the client needs a secret to prove, verify or decrypt anything (RFC 7591 §3.2.1)."""
        credential = self._credential(metadata)
        return credential is Credential.SECRET or (
            credential is not Credential.NOTHING and self.needs_secret_value(metadata)
        )

    def needs_secret_value(self, metadata: Mapping[str, object]) -> bool:
        """Return whether the service needs the secret itself instead of its hash (OIDC Core §10)."""
        if self._credential(metadata) is Credential.SECRET_VALUE:
            return True
        named = [str(metadata.get(key)) for key in (*marked(Mark.HMAC), *marked(Mark.ENCRYPTION))]
        return any(uses_secret(alg) for alg in named)

    def _credential(self, metadata: Mapping[str, object]) -> Credential | None:
        method = str(metadata["token_endpoint_auth_method"])
        return self.offered.catalogue.client_auth_methods.get(method)

    def _entry(self, client_id: str, metadata: Mapping[str, object]) -> ClientEntry:
        """Return the metadata as an entry of config.yaml, with the safe settings for unknown clients."""
        scope = frozenset(str(metadata["scope"]).split()) & self.allowed_scopes
        confidential = metadata["token_endpoint_auth_method"] != "none"
        needs_value = self.needs_secret_value(metadata)
        secret = {"value": "generated after the checks"} if needs_value else {"sha256": "0" * 64}
        is_pairwise = metadata.get("subject_type") == "pairwise"
        names = registered_names()
        values = {names[name]: metadata[name] for name in names.keys() & metadata.keys()}
        entry: ClientEntry = convert(
            {
                **values,
                "client_id": client_id,
                "client_secrets": [secret] if self.needs_secret(metadata) else [],
                "require_client_secret": confidential,
                "allowed_scopes": [*(scope - {OFFLINE_ACCESS})],
                "allow_offline_access": OFFLINE_ACCESS in scope,
                "require_pkce": not confidential,
                "require_consent": True,
                # A JWT would show the local subject to the client that carries it (OIDC Core §8.1).
                "access_token_type": "reference" if is_pairwise else "jwt",
            },
            ClientEntry,
        )
        return entry

    def _scope(self, metadata: Mapping[str, object]) -> str:
        """Return the scope that is registered: what was sent without values that are not allowed, else all that is allowed.

        The answer shows what was left out (RFC 7591 §3.2.1); offline_access needs refresh_token.
        """
        sent, scope = metadata.get("scope"), self.allowed_scopes
        if sent is not None:
            try:
                scope &= parse_scope(sent if isinstance(sent, str) else "")
            except errors.InvalidScope as error:
                description = "scope: expected values with spaces between them"
                raise InvalidClientMetadata(description) from error
            if not scope:
                raise InvalidClientMetadata("scope: holds no value that can be registered")
        grant_types = metadata["grant_types"]
        refreshes = isinstance(grant_types, list) and "refresh_token" in grant_types
        return format_scope(scope if refreshes else scope - {OFFLINE_ACCESS})

    def _findings(self, entry: ClientEntry) -> Iterator[Finding]:
        for rule in self.rules:
            yield from (finding for finding in rule(entry) if finding.severity == "error")
        for each in RULES:
            yield from each(entry, self.offered)


def _read_names(metadata: Mapping[str, object]) -> LocalText | None:
    """Return the client's name in each language that it registered (OpenID Connect Registration §2.1)."""
    parts = ((*name.partition("#"), str(value)) for name, value in metadata.items())
    shown = {
        language or NO_LANGUAGE: name
        for member, _, language, name in parts
        if member == "client_name" and unfit_name(name) is None  # an earlier release accepted more
    }
    return local_text(shown) if shown else None


def _check_tagged(sent: Mapping[str, object]) -> dict[str, object]:
    """Return the members with a language tag, which are kept as they are (OpenID Connect Registration §2.1)."""
    tagged = {name: value for name, value in sent.items() if TAGGED.fullmatch(name)}
    for name, value in tagged.items():
        member = name.partition("#")[0]
        is_name = member == "client_name"
        try:
            convert(value, Text if is_name else WebUrl)
        except Unfit as error:
            raise InvalidClientMetadata(f"{name}: is not what {member} is") from error
        unfit = unfit_name(str(value)) if is_name else None
        if unfit is not None:
            raise InvalidClientMetadata(f"{name}: {unfit}")
    return tagged


def _to_error(finding: Finding) -> errors.OAuthError:
    """Return the error for the client, with the registered name of the metadata (RFC 7591 §3.2.2)."""
    key = str(finding.location[0])
    name = next((name for name, known in registered_names().items() if known == key), key)
    where = "".join(f"[{at}]" for at in finding.location[1:2] if isinstance(at, int))
    message = re.sub(r"§\s*", "section ", finding.message)
    kind = errors.InvalidRedirectUri if name == "redirect_uris" else InvalidClientMetadata
    return kind(f"{name}{where}: {message}")


def _with_defaults(sent: Mapping[str, object], *, algorithms: tuple[str, ...]) -> dict[str, object]:
    """Add the defaults for what the client has not sent (OpenID Connect Registration §2).

    Clients that know RFC 7591 alone have no application_type; those with a scheme of their own are native.
    """
    signing = "RS256" if "RS256" in algorithms else algorithms[0]
    metadata: dict[str, object] = {
        "application_type": "native" if private_use_schemes(sent) else "web",
        "grant_types": ["authorization_code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "subject_type": "public",
        "id_token_signed_response_alg": signing,
        "authorization_signed_response_alg": signing,  # JARM §3
        "require_auth_time": False,
        **sent,
    }
    grant_types = metadata["grant_types"]
    has_code = isinstance(grant_types, list) and "authorization_code" in grant_types
    metadata.setdefault("response_types", ["code"] if has_code else [])
    for alg in marked(Mark.ENCRYPTION):
        if alg in metadata:
            metadata.setdefault(alg.removesuffix("_alg") + "_enc", "A128CBC-HS256")
    for channel in ("frontchannel", "backchannel"):
        if f"{channel}_logout_uri" in metadata:
            metadata.setdefault(f"{channel}_logout_session_required", False)
    return metadata


def present_members(sent: Mapping[str, object]) -> dict[str, object]:
    """Return the members without those that count as absent: null, and empty or blank texts, also in lists and keys (RFC 7592 §2.2)."""
    return cast("dict[str, object]", _without_absent(sent, _DEPTH))


def _without_absent(value: object, depth: int) -> object:
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        left = {name: _without_absent(one, depth - 1) for name, one in members}
        return {name: one for name, one in left.items() if not _is_absent(one)}
    if isinstance(value, list):
        items = [_without_absent(one, depth - 1) for one in cast("list[object]", value)]
        left_items = [one for one in items if not _is_absent(one)]
        return None if items and not left_items else left_items
    return value


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def private_use_schemes(members: Mapping[str, object]) -> frozenset[str]:
    """Return the schemes by which redirect URIs lead to applications on the user's device (RFC 8252 §7.1)."""
    uris = members.get("redirect_uris")
    texts = cast("Iterable[object]", uris if isinstance(uris, list) else ())
    schemes = (private_use_scheme(one) for one in texts if isinstance(one, str))
    return frozenset(scheme for scheme in schemes if scheme)
