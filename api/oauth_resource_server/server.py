"""The one object of an API: it authenticates requests, and gets tokens for calls on behalf of their callers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from oauth_resource_server import jose
from oauth_resource_server.blocking import finish
from oauth_resource_server.caller import Caller, Demand
from oauth_resource_server.certificates import Certificates
from oauth_resource_server.credentials import Credentials
from oauth_resource_server.dpop import Proofs, Replays, ReplaysInMemory, normalize
from oauth_resource_server.http import Http, default_http
from oauth_resource_server.issuer import Issuer
from oauth_resource_server.onward import OnwardTokens
from oauth_resource_server.refusals import InvalidToken, Refusal
from oauth_resource_server.request import Request, Scheme
from oauth_resource_server.tokens import Claims, Introspection, JwtTokens

NO_DEMAND = Demand()


class ResourceServer:
    """An API that accepts access tokens of one issuer (RFC 6750, RFC 9068, RFC 7662)."""

    def __init__(
        self,
        issuer: str,
        *,
        audience: str | Collection[str] = (),
        url: str | None = None,
        credentials: Credentials | None = None,
        introspect: Literal["opaque", "all"] = "opaque",
        introspection_cache: float = 0,
        algorithms: Collection[str] = jose.ALGORITHMS,
        token_types: Collection[str] = ("at+jwt",),
        require_bound_tokens: bool = False,
        dpop_nonce_secret: bytes | None = None,
        replays: Replays | None = None,
        certificate_header: str | None = None,
        trusted_proxies: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        http: Http | None = None,
    ) -> None:
        """Make it once, when the API starts; nothing is fetched yet. The README explains each setting."""
        audience = frozenset([audience] if isinstance(audience, str) else audience)
        audience = audience or frozenset(filter(None, [url]))
        if not audience:
            raise ValueError("an API needs an audience or a url, else it takes tokens for others")
        if url is not None and (normalize(url) is None or "?" in url or "#" in url):
            raise ValueError("url is the public URL of the API, without query and fragment")
        if introspect == "all" and credentials is None:
            raise ValueError("to introspect tokens an API needs credentials at its issuer")
        self.audience, self.url = audience, url
        self._algorithms = jose.check_algorithms(algorithms)
        self._token_types, self._introspect = token_types, introspect
        self._credentials, self._introspection_seconds = credentials, introspection_cache
        self._require_bound_tokens = require_bound_tokens
        self._certificates = Certificates.create(certificate_header, trusted_proxies)
        self._proofs = None
        if url is not None:
            self._proofs = Proofs(
                url=url,
                algorithms=self._algorithms,
                nonce_secret=dpop_nonce_secret,
                replays=replays or ReplaysInMemory(),
            )
        self._issuer = issuer, metadata
        self.connect(http or default_http())

    def connect(self, http: Http) -> None:
        """Forget what was fetched, and reach the issuer by this from now on; tests use it."""
        url, metadata = self._issuer
        self.issuer = Issuer(url, http, metadata)
        self._jwts = self._introspection = self._onward = None
        if self._introspect != "all":
            self._jwts = JwtTokens(self.issuer, self.audience, self._algorithms, self._token_types)
        if self._credentials is not None:
            self._onward = OnwardTokens(issuer=self.issuer, credentials=self._credentials)
            self._introspection = Introspection(
                issuer=self.issuer,
                audience=self.audience,
                credentials=self._credentials,
                seconds=self._introspection_seconds,
            )

    async def authenticate(self, request: Request, demand: Demand = NO_DEMAND) -> Caller:
        """Return the caller of a request that meets the demand; raise a Refusal, which says how to answer."""
        schemes: tuple[Scheme, ...] = ("Bearer", "DPoP") if self._proofs else ("Bearer",)
        try:
            scheme, token = request.read_token()
            schemes = (scheme,)
            claims = await self._read(token)
            await self._check_binding(request, scheme, token, claims)
            caller = Caller.from_claims(token, claims)
            demand.check(caller)
        except Refusal as refusal:
            shared = {"scope": " ".join(demand.scope)} if demand.scope else {}
            shared |= {"resource_metadata": self.metadata_url} if self.metadata_url else {}
            refusal.add_challenge(schemes, shared, " ".join(sorted(self._algorithms)))
            raise
        return caller

    def authenticate_blocking(self, request: Request, demand: Demand = NO_DEMAND) -> Caller:
        """The same as `authenticate`, in a thread without an event loop."""
        return finish(self.authenticate(request, demand))

    async def on_behalf_of(
        self,
        caller: Caller,
        scope: str,
        *,
        audience: str | None = None,
        grant_type: str | None = None,
    ) -> str:
        """Return a bearer token for a call on behalf of the caller; raise ExchangeRefused or IssuerUnavailable.

        The grant is `delegation` where the issuer has it and no audience is given, else token exchange (RFC 8693).
        """
        if self._onward is None:
            raise ValueError("to get tokens an API needs credentials at its issuer")
        return await self._onward.get(caller, scope, audience, grant_type)

    def on_behalf_of_blocking(
        self,
        caller: Caller,
        scope: str,
        *,
        audience: str | None = None,
        grant_type: str | None = None,
    ) -> str:
        """The same as `on_behalf_of`, in a thread without an event loop."""
        return finish(self.on_behalf_of(caller, scope, audience=audience, grant_type=grant_type))

    @property
    def metadata_path(self) -> str | None:
        """The path of the metadata document; None for an API without a `url` (RFC 9728 §3.1)."""
        if self.url is None:
            return None
        return f"/.well-known/oauth-protected-resource{urlsplit(self.url).path.rstrip('/')}"

    @property
    def metadata_url(self) -> str | None:
        """The URL of the metadata document, which challenges name (RFC 9728 §5.1)."""
        if self.url is None:
            return None
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{self.metadata_path}"

    def metadata(self, scopes: Iterable[str] = ()) -> dict[str, object]:
        """Return the metadata document of an API with a `url` (RFC 9728 §2)."""
        document: dict[str, object] = {
            "resource": self.url,
            "authorization_servers": [self.issuer.url],
            "bearer_methods_supported": ["header"],
            "dpop_signing_alg_values_supported": sorted(self._algorithms),
            "tls_client_certificate_bound_access_tokens": True,
        }
        listed = sorted(scopes)
        return document | ({"scopes_supported": listed} if listed else {})

    async def aclose(self) -> None:
        """Close the connections to the issuer."""
        await self.issuer.http.aclose()

    async def _read(self, token: str) -> Claims:
        digest = jose.hash_of(token)
        if self._jwts is not None and token.count(".") == 2:  # noqa: PLR2004
            return await self._jwts.read(token, digest)
        if self._introspection is None:
            raise InvalidToken("the access token is not a JWT")
        return await self._introspection.read(token, digest)

    async def _check_binding(
        self, request: Request, scheme: Scheme, token: str, claims: Claims
    ) -> None:
        """Check what the token is bound to (RFC 7800 §3.1); a token with an unknown binding is refused."""
        bound: Any = claims.get("cnf", {})
        cnf = cast("dict[str, object]", bound if isinstance(bound, dict) else {"unknown": bound})
        if not cnf.keys() <= {"jkt", "x5t#S256"}:
            raise InvalidToken("the access token is bound in a way that this API does not check")
        if not cnf and self._require_bound_tokens:
            raise InvalidToken("this API accepts only tokens that are bound to a key")
        if ("jkt" in cnf) != (scheme == "DPoP"):
            raise InvalidToken("a token bound by DPoP, and no other, comes with the scheme DPoP")
        if "x5t#S256" in cnf:
            self._certificates.check(request, str(cnf["x5t#S256"]))
        if "jkt" in cnf:
            if not self._proofs:
                raise InvalidToken("this API has no url, and cannot check DPoP proofs")
            await self._proofs.verify(request, token, str(cnf["jkt"]))
