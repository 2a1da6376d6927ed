"""Finds clients by the metadata document at the URL that is their client_id, and judges it (draft-ietf-oauth-client-id-metadata-document-02).

The sender of a request chooses the URL, so fetches are few, small, and only where the guarded client may go.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import cast

import msgspec
from msgspec.structs import replace

from service.caching import BoundedCache
from service.clients.origins import RegisteredOrigins
from service.clients.registration.metadata import RegistrationPolicy, present_members
from service.clock import clock
from service.events.clients import ClientDocumentFetched, ClientDocumentRefused
from service.events.event import Emit
from service.keys.algorithms import PRIVATE_MEMBERS
from service.model.catalogue import Registrable
from service.model.client import Client, Permissions
from service.model.client_entry import Mark
from service.model.client_metadata import RegisteredClient, marked, registered_names
from service.model.outgoing import HttpAnswer, HttpClient, HttpRequest, Unreachable
from service.model.request_context import caller, current_request
from service.protocol.errors import (
    InvalidClient,
    InvalidClientMetadata,
    InvalidRedirectUri,
    OAuthError,
    TemporarilyUnavailable,
)
from service.protocol.json_input import parse_unambiguous_json, require_object
from service.protocol.redirect_uri import origin_of
from service.protocol.uris import ClientIdUrl, is_on_loopback, parse_client_id_url, split_uri
from service.single_flight import SingleFlight
from service.store.rate_limit import RateLimit

MAX_BYTES = 5 * 1024
"""Of a document (§8.7)."""

CACHED_CLIENTS = 500

AT_ONCE = 32
"""Fetches of this process; one more is refused at once."""

PER_NETWORK = 20
"""Fetches per minute that the requests of one network cause."""

PER_HOST = 60
"""Fetches per minute at one host of documents that this process has not had, whoever causes them."""

SHORTEST = 300
"""Seconds that a document counts whatever its headers say: a sign-in needs it several times."""

ORIGINS_LIFETIME = 86400
"""Seconds for which scripts of a client may call the service after a fetch; unauthenticated callers cause fetches, too."""

GRANT_TYPES = frozenset({"authorization_code", "refresh_token"})
"""Anybody may name such a client; only a redirect URI ties an answer to it, so no other grant is safe."""
RESPONSE_TYPES = frozenset({"code"})
METHODS = ("none", "private_key_jwt")
"""Nobody could keep a secret that is in a public document."""

MAX_REDIRECT_URIS = 20
"""Each leaves the name of its origin in Redis for a while, whoever has named the document."""

_SECRETS = ("client_secret", "client_secret_expires_at")

_JSON = re.compile(r"application/(?:[a-z0-9!#$&^_.-]+\+)?json")
_MAX_AGE = re.compile(r'max-age="?(\d{1,9})', re.IGNORECASE)
_UNCACHED = re.compile(r"no-store|no-cache", re.IGNORECASE)


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
        """Return the members that count, with the texts in other languages, without grant types that are for other servers."""
        counted = marked(Mark.IN_DOCUMENT)
        members = {"scope", *(name for name, key in registered_names().items() if key in counted)}
        known = {
            name: value for name, value in document.items() if name.partition("#")[0] in members
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


class ClientDocuments(msgspec.Struct, frozen=True, kw_only=True):
    """Keeps the clients of this process for a while, and never an error."""

    http: HttpClient
    """Guarded by the address policy, for bodies of `MAX_BYTES`."""
    policy: DocumentPolicy
    origins: RegisteredOrigins
    per_network: RateLimit
    per_host: RateLimit
    lifetime: int
    emit: Emit
    _clients: BoundedCache[str, Client] = msgspec.field(
        default_factory=lambda: BoundedCache[str, Client](CACHED_CLIENTS)
    )
    _fetches: SingleFlight[str, Client] = msgspec.field(default_factory=SingleFlight[str, Client])
    _places: asyncio.Semaphore = msgspec.field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def find_permissions(self, client_id: str) -> Permissions | None:
        """Return what the operator allows such a client; None if the id is not a URL of an allowed host.

        Nothing is fetched: a token that was issued does not depend on the client's web server.
        """
        return None if self.policy.parse(client_id) is None else self.policy.permissions

    async def find(self, client_id: str) -> Client | None:
        """Return the client; None if the id is not a URL of an allowed host.

        Raise InvalidClient if the document is refused, and TemporarilyUnavailable if it cannot be fetched now.
        """
        url = self.policy.parse(client_id)
        if url is None:
            return None
        client = self._clients.get(client_id)
        if client is not None:
            return client
        if self._fetches.get(client_id) is None:
            await self._count(url)
        return await self._fetches.run(client_id, lambda: self._fetch(url))

    async def _count(self, url: ClientIdUrl) -> None:
        """Count a fetch; callers who name many URLs at a host do not keep out its known clients."""
        request = current_request.get()
        if request is not None and request.find_address is not None:
            await self.per_network.count_network(caller())
        if self._clients.get_stale(url.url) is None:
            await self.per_host.count(url.host)

    async def _fetch(self, url: ClientIdUrl) -> Client:
        if self._places.locked():
            raise TemporarilyUnavailable("too many metadata documents of clients are being fetched")
        async with self._places:
            try:
                answer = await self.http.fetch(HttpRequest(url.url))
            except Unreachable as error:
                raise self._report_away(url, str(error)) from error
        document = self._read(url, answer)
        expires_at = clock() + ORIGINS_LIFETIME
        try:
            record = self.policy.build_record(url, document, expires_at=expires_at)
            client = self.policy.build_client(record)
        except OAuthError as error:
            self.emit(ClientDocumentRefused(client_id=url.url, cause=error.description))
            description = f"the client's metadata document is refused: {error.description}"
            raise InvalidClient(description) from error
        await self.origins.add(record)
        self._clients.put(url.url, client, seconds=self._seconds(answer))
        self.emit(ClientDocumentFetched(client_id=url.url))
        return client

    def _read(self, url: ClientIdUrl, answer: HttpAnswer) -> Mapping[str, object]:
        """Return a document that names this client_id, character by character (§4)."""
        status = answer.status
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise self._report_away(url, f"status {status}")
        if status != HTTPStatus.OK:
            raise self._report_absent(url, f"status {status}")
        media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if not _JSON.fullmatch(media_type):
            raise self._report_absent(url, "its Content-Type is not JSON")
        try:
            document = require_object(parse_unambiguous_json(answer.body))
        except ValueError as error:
            raise self._report_absent(url, "it is not a JSON object") from error
        if document.get("client_id") != url.url:
            raise self._report_absent(url, "its client_id is not its URL")
        return document

    def _report_away(self, url: ClientIdUrl, cause: str) -> TemporarilyUnavailable:
        self.emit(ClientDocumentRefused(client_id=url.url, cause=cause))
        return TemporarilyUnavailable("the client's metadata document cannot be fetched now")

    def _report_absent(self, url: ClientIdUrl, cause: str) -> InvalidClient:
        """Return the one error for whatever else is at the URL, of which no caller learns anything."""
        self.emit(ClientDocumentRefused(client_id=url.url, cause=cause))
        return InvalidClient("there is no metadata document of the client at its client_id")

    def _seconds(self, answer: HttpAnswer) -> int:
        """Return how long the document counts: as its headers say, within limits (§5.2)."""
        return min(self.lifetime, max(_freshness(answer.headers, self.lifetime), SHORTEST))


def _freshness(headers: Mapping[str, str], unstated: int) -> int:
    """Return for how many seconds an answer says that it may be used again (RFC 9111 §4.2)."""
    control, age = headers.get("Cache-Control", ""), headers.get("Age", "")
    if _UNCACHED.search(control):
        return 0
    if found := _MAX_AGE.search(control):
        fresh = int(found[1])
    elif expires := headers.get("Expires"):
        fresh = _timestamp(expires, 0) - _timestamp(headers.get("Date", ""), clock())
    else:
        return unstated
    return fresh - (int(age[:9]) if age.isdecimal() else 0)


def _timestamp(date: str, otherwise: int) -> int:
    try:
        return int(parsedate_to_datetime(date).timestamp())
    except (ValueError, OverflowError):
        return otherwise


def _refuse_secrets(document: Mapping[str, object]) -> None:
    for name in _SECRETS:
        if name in document:
            raise InvalidClientMetadata(f"{name}: a public document must not have it")
    jwks = document.get("jwks")
    keys = cast("Mapping[str, object]", jwks).get("keys") if isinstance(jwks, dict) else None
    for key in cast("list[object]", keys) if isinstance(keys, list) else ():
        if isinstance(key, dict) and not PRIVATE_MEMBERS.isdisjoint(cast("dict[str, object]", key)):
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
    links = marked(Mark.SHOWN_TO_USERS)  # which may lead anywhere
    for name in [key for key in marked(Mark.URL) if key not in links]:
        if name in metadata and not _is_own(url, str(metadata[name])):
            raise InvalidClientMetadata(f"{name}: is not at the origin of the client_id")


def _is_own(url: ClientIdUrl, uri: str) -> bool:
    parts = split_uri(uri)
    return parts is not None and "@" not in parts.netloc and origin_of(uri) == url.origin
