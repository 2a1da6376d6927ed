"""Judges the metadata document behind a client_id that is a URL (draft-ietf-oauth-client-id-metadata-document-02 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import msgspec

from service.clients.registration.members import present_members
from service.clock import clock
from service.model.catalogue import Registrable
from service.model.client import Client, Permissions, RegisteredClient
from service.protocol.client_id_url import ClientIdUrl, parse_client_id_url
from service.protocol.errors import InvalidClientMetadata, InvalidRedirectUri
from service.protocol.redirect_uri import origin_of
from service.protocol.uris import is_on_loopback, split_uri

if TYPE_CHECKING:
    from service.clients.registration.metadata import RegistrationPolicy

GRANT_TYPES = frozenset({"authorization_code", "refresh_token"})
"""Anybody may name such a client; only a redirect URI ties an answer to it, so no other grant is safe."""
RESPONSE_TYPES = frozenset({"code"})
METHODS = ("none", "private_key_jwt")
"""Nobody could keep a secret that is in a public document."""

MEMBERS = frozenset(
    {
        *("redirect_uris", "grant_types", "response_types", "token_endpoint_auth_method", "scope"),
        *("client_name", "client_uri", "policy_uri", "tos_uri", "contacts"),
        *("jwks", "jwks_uri", "token_endpoint_auth_signing_alg", "id_token_signed_response_alg"),
        *("software_id", "software_version", "application_type", "initiate_login_uri"),
        *("post_logout_redirect_uris", "default_max_age", "require_auth_time"),
        *("require_pushed_authorization_requests", "dpop_bound_access_tokens"),
    }
)
"""Those that count, with the texts in other languages; a document is for many servers, so that others are ignored.

`logo_uri` is not among them: anybody could show any picture, and learn from the user's browser who sees it (§8.8, §9.2)."""

MAX_REDIRECT_URIS = 20
"""Each leaves the name of its origin in Redis for a while, whoever has named the document."""

_SECRETS = ("client_secret", "client_secret_expires_at")
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})
"""Members of private and symmetric JWKs (RFC 7518 §6)."""


class DocumentPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Applies the rules of dynamic registration, and those of documents."""

    registration: RegistrationPolicy
    allowed_hosts: frozenset[str]
    """Empty for all hosts, on port 443."""

    @property
    def registrable(self) -> Registrable:
        """Return for discovery what clients with a document can use (RFC 8414 §2)."""
        scopes = self.registration.allowed_scopes
        return Registrable(grant_types=GRANT_TYPES, response_types=RESPONSE_TYPES, scopes=scopes)

    @property
    def permissions(self) -> Permissions:
        """Return what the operator allows all of these clients, whatever their documents say today."""
        return Permissions(
            grant_types=GRANT_TYPES,
            scope=self.registration.allowed_scopes,
            authorization_details_types=frozenset(),
            enable_local_login=True,
            identity_providers=frozenset(),
        )

    def parse(self, client_id: str) -> ClientIdUrl | None:
        """Return the URL of a document that may be fetched; None for every other client_id."""
        url = parse_client_id_url(client_id)
        if url is None:
            return None
        is_allowed = url.place in self.allowed_hosts if self.allowed_hosts else not url.has_port
        return url if is_allowed else None

    def build_record(
        self, url: ClientIdUrl, document: Mapping[str, object], *, expires_at: int
    ) -> RegisteredClient:
        """Return the metadata that count; raise an error that names the wrong member (RFC 7591 §3.2)."""
        document = present_members(document)
        _refuse_secrets(document)
        if not document.get("client_name"):
            raise InvalidClientMetadata("client_name: is missing")
        metadata = self.registration.accept(self._relevant(document))
        _check_origins(url, metadata)
        return RegisteredClient(
            client_id=url.url,
            issued_at=clock(),
            expires_at=expires_at,
            metadata=metadata,
            access_token_digest="",
            secret_sha256=None,
            sealed_secret=None,
        )

    def build_client(self, record: RegisteredClient) -> Client:
        """Return the client of a document; the user is asked each time, and every code needs PKCE."""
        client = self.registration.build_client(record, secret_value=None)
        return replace(client, allow_remember_consent=False, require_pkce=True)

    def _relevant(self, document: Mapping[str, object]) -> dict[str, object]:
        """Return the members that count, without grant types that are for other servers."""
        known = {
            name: value for name, value in document.items() if name.partition("#")[0] in MEMBERS
        }
        known.setdefault("token_endpoint_auth_method", "none")
        if known["token_endpoint_auth_method"] not in METHODS:
            raise InvalidClientMetadata(
                "token_endpoint_auth_method: expected none or private_key_jwt"
            )
        for name, offered in (("grant_types", GRANT_TYPES), ("response_types", RESPONSE_TYPES)):
            if isinstance(value := known.get(name), list):
                values = cast("list[object]", value)
                known[name] = [one for one in values if isinstance(one, str) and one in offered]
        if known.get("response_types", ["code"]) != ["code"]:
            raise InvalidClientMetadata("response_types: expected code")
        return known


def _refuse_secrets(document: Mapping[str, object]) -> None:
    for name in _SECRETS:
        if name in document:
            raise InvalidClientMetadata(f"{name}: a public document must not have it")
    jwks = document.get("jwks")
    keys = cast("Mapping[str, object]", jwks).get("keys") if isinstance(jwks, dict) else None
    for key in cast("list[object]", keys) if isinstance(keys, list) else ():
        if isinstance(key, dict) and not _PRIVATE.isdisjoint(cast("dict[str, object]", key)):
            raise InvalidClientMetadata("jwks: has a key that is not public")


def _check_origins(url: ClientIdUrl, metadata: Mapping[str, object]) -> None:
    """Refuse what is neither at the document's own origin nor, for answers, on the user's machine."""
    for name in ("redirect_uris", "post_logout_redirect_uris"):
        uris = cast("list[str]", metadata.get(name, []))
        if len(uris) > MAX_REDIRECT_URIS:
            raise InvalidClientMetadata(f"{name}: has more than {MAX_REDIRECT_URIS}")
        for at, uri in enumerate(uris):
            if not _is_own(url, uri) and not is_on_loopback(uri):
                error = InvalidRedirectUri if name == "redirect_uris" else InvalidClientMetadata
                raise error(f"{name}[{at}]: is neither at the origin of the client_id nor loopback")
    for name in ("jwks_uri", "initiate_login_uri"):
        if name in metadata and not _is_own(url, str(metadata[name])):
            raise InvalidClientMetadata(f"{name}: is not at the origin of the client_id")


def _is_own(url: ClientIdUrl, uri: str) -> bool:
    parts = split_uri(uri)
    return parts is not None and "@" not in parts.netloc and origin_of(uri) == url.origin
