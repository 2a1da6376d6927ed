"""An identity provider's metadata and keys, and why it may vouch for nobody (OpenID Connect Discovery §4, RFC 6749 §5.2)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Collection
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from service.caching import BoundedCache
from service.clock import clock
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import ForeignKeys, UnknownKey, accepted_header
from service.keys.jose import VerifiedClaims
from service.model.identity_provider import IdentityProvider
from service.model.outgoing import HttpAnswer, HttpClient, HttpRequest, Unreachable
from service.protocol.json_input import parse_json
from service.protocol.uris import is_web_url
from service.single_flight import SingleFlight

T = TypeVar("T")

OK, BAD_REQUEST, SERVER_ERROR = 200, 400, 500
WELL_KNOWN = "/.well-known/openid-configuration"

LIFETIME = 3600
"""Seconds until metadata and keys are fetched again."""

PAUSE = 30
"""Seconds between two requests that an unknown key id or a failure causes."""

REST = 1
"""Seconds between two requests to a provider that has never answered: nobody can sign in there until it does."""

MAX_PROVIDERS = 1000

_ORDINARY = re.compile(r"[A-Za-z_]{1,64}")


class ProviderFailed(Exception):
    """The provider vouches for nobody; the message is for the audit log, never for a page."""


class ProviderUnavailable(ProviderFailed):
    """The provider is unavailable, or does not work as a provider should."""


class ProviderRefused(ProviderFailed):
    """The provider refused, or its answer does not hold."""


class ProviderUserRefused(ProviderFailed):
    """The provider vouches for a user without permission to sign in here."""


class ProviderMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """The members that matter here (OpenID Connect Discovery §3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    token_endpoint_auth_signing_alg_values_supported: tuple[str, ...] = ()
    authorization_response_iss_parameter_supported: bool = False


class KnownProvider(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata and keys of a provider as they were fetched."""

    metadata: ProviderMetadata
    keys: ForeignKeys
    renewable_from: int = 0
    """Before this time an unknown key id causes no request, however often it is sent."""

    def verify(self, jwt: str, *, typ: Collection[str]) -> VerifiedClaims:
        """Return the claims, or raise JwtRefused if the provider did not sign them (OIDC Core §3.1.3.7)."""
        promised = self.metadata.id_token_signing_alg_values_supported
        algorithms = set(promised).intersection(SIGNING_ALGORITHMS)  # no weak ones, RFC 8725 §3.1
        header = accepted_header(jwt, algorithms=algorithms, typ=typ)
        return self.keys.verify(jwt, header)


class ProviderDirectory:
    """Fetches each provider's metadata once for all who need it at the same time."""

    def __init__(self, *, http: HttpClient) -> None:
        self.http = http
        self._known: BoundedCache[str, KnownProvider] = BoundedCache(MAX_PROVIDERS)
        self._failures: BoundedCache[str, str] = BoundedCache(MAX_PROVIDERS)
        """The causes, of providers that never answered."""
        self._fetches: SingleFlight[str, KnownProvider] = SingleFlight()

    async def find(self, provider: IdentityProvider) -> KnownProvider:
        """Return the provider, as it was before if it is unavailable; ProviderUnavailable if it never answered."""
        if not provider.is_openid:
            return _read_configured_endpoints(provider)
        issuer = provider.issuer
        known = self._known.get(issuer)
        if known is not None:
            return known
        if (cause := self._failures.get(issuer)) is not None:
            raise ProviderUnavailable(cause)
        seconds = LIFETIME
        try:
            known = await self._fetches.run(issuer, lambda: self._fetch(issuer))
        except ProviderUnavailable as error:
            known, seconds = self._known.get_stale(issuer), PAUSE
            if known is None:
                self._failures.put(issuer, str(error), seconds=REST)
                raise
        self._known.put(issuer, known, seconds=seconds)
        return known

    async def verify(
        self, known: KnownProvider, jwt: str, *, typ: Collection[str]
    ) -> VerifiedClaims:
        """Return the signed claims of a JWT of one of these types, in lower case; JwtRefused if the provider did not sign it.

        The keys are fetched again if it is signed with an unknown one.
        """
        try:
            return known.verify(jwt, typ=typ)
        except UnknownKey:
            renewed = await self._find_renewed(known)
        return renewed.verify(jwt, typ=typ)

    async def _find_renewed(self, known: KnownProvider) -> KnownProvider:
        """Return the provider with its present keys, unless an unknown key id has just caused a request."""
        if clock() < known.renewable_from:
            return known
        issuer = known.metadata.issuer
        try:
            found = await self._fetches.run(issuer, lambda: self._fetch(issuer))
        except ProviderUnavailable:
            self._known.put(issuer, replace(known, renewable_from=clock() + PAUSE), seconds=PAUSE)
            raise
        renewed = replace(found, renewable_from=clock() + PAUSE)
        self._known.put(issuer, renewed, seconds=LIFETIME)
        return renewed

    async def _fetch(self, issuer: str) -> KnownProvider:
        url, source = issuer.rstrip("/") + WELL_KNOWN, "metadata or keys"
        metadata = _parse_metadata(
            await read_body(self.http.fetch(HttpRequest(url)), source), issuer=issuer
        )
        try:
            keys = ForeignKeys.parse(
                await read_body(self.http.fetch(HttpRequest(metadata.jwks_uri)), source)
            )
        except ValueError as error:
            raise ProviderUnavailable("its keys cannot be understood") from error
        return KnownProvider(metadata=metadata, keys=keys)


def _read_configured_endpoints(provider: IdentityProvider) -> KnownProvider:
    """Return an authorization server without metadata: it has the endpoints of the configuration, and no keys."""
    return KnownProvider(
        metadata=ProviderMetadata(
            issuer=provider.issuer,
            authorization_endpoint=provider.authorization_endpoint or "",
            token_endpoint=provider.token_endpoint or "",
            userinfo_endpoint=provider.userinfo_endpoint,
            jwks_uri="",
        ),
        keys=ForeignKeys(()),
    )


def _parse_metadata(body: bytes, *, issuer: str) -> ProviderMetadata:
    """Return the metadata, if it is the issuer's own and its URLs are as safe as the issuer's (Discovery §4.3)."""
    unusable = ProviderUnavailable("its metadata cannot be understood")
    metadata = parse_body(body, ProviderMetadata, unusable)
    if metadata.issuer != issuer:
        raise ProviderUnavailable("its metadata is that of another issuer")
    urls = [metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri]
    urls.append(metadata.userinfo_endpoint or metadata.token_endpoint)
    if not all(map(is_web_url, urls)):
        raise ProviderUnavailable("its metadata holds an endpoint that is no URL")
    schemes = ("https://", "http://") if urlsplit(issuer).scheme == "http" else ("https://",)
    if not all(url.startswith(schemes) for url in urls):
        raise ProviderUnavailable("its metadata holds a URL that is not https")
    return metadata


async def read_body(
    answering: Awaitable[HttpAnswer], source: str, *, may_refuse: bool = False
) -> bytes:
    """Return the body of an answer with status 200; raise ProviderFailed for any other."""
    try:
        answer = await answering
    except Unreachable as error:
        raise ProviderUnavailable(f"its {source}: {error}") from error
    if may_refuse and BAD_REQUEST <= answer.status < SERVER_ERROR:
        nameless = ProviderRefused(f"its {source}: status {answer.status}")
        code = parse_body(answer.body, dict[str, object], nameless).get("error")
        raise ProviderRefused(f"its {source}: {printable(code)}") if code else nameless
    if answer.status != OK:
        raise ProviderUnavailable(f"its {source}: status {answer.status}")
    return answer.body


def printable(error: object) -> str:
    """Return an error code if it looks like one: the provider chose it (RFC 6749 §5.2)."""
    text = str(error)
    return text if _ORDINARY.fullmatch(text) else "an error without an ordinary code"


def parse_body(body: bytes, kind: type[T], failure: ProviderFailed) -> T:
    """Return the JSON of an answer as this type; raise `failure` if it is something else."""
    try:
        return msgspec.convert(parse_json(body), kind)
    except ValueError as error:
        raise failure from error
