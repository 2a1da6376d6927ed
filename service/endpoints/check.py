"""/connect/check/API: tells a proxy whether it may pass a request on to an API (RFC 6750 §3, RFC 9449 §7, RFC 9470 §3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus
from typing import cast
from urllib.parse import quote, unquote

import msgspec
import structlog

from service.clients.authentication.authentication import ClientAuthentication
from service.clock import clock
from service.events.clients import ClientRefused
from service.events.event import Emit
from service.events.tokens import TokenChecked
from service.grants.token_exchange.transaction_token import TransactionTokens
from service.model.credentials import RequestCredentials
from service.model.registry import LiveRegistry
from service.model.resources import ApiResource, Demand
from service.protocol.errors import (
    InsufficientScope,
    InsufficientUserAuthentication,
    InvalidClient,
    InvalidRequest,
    InvalidToken,
    OAuthError,
    TemporarilyUnavailable,
)
from service.protocol.params import Params
from service.protocol.paths import resource_metadata_url
from service.protocol.redirect_uri import origin_of
from service.protocol.scope import format_scope, split_scope
from service.tokens.access_token import ForwardedTokens
from service.tokens.active import ActiveToken
from service.web.endpoint import (
    NOSNIFF,
    Answer,
    Direct,
    Fields,
    Message,
    Route,
    WholeRequest,
    raw_path,
)
from service.web.key_proofs import OriginalRequest, TokenGuard

PATH = "/connect/check/"
CREDENTIALS = "X-Check-Authorization"

_VISIBLE = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
_PER_TOKEN = Fields({"Vary": "Authorization", NOSNIFF: "nosniff"})
_NOBODY = Fields({"Cache-Control": "no-store", "Vary": "Authorization", NOSNIFF: "nosniff"})
_ORIGINAL = (
    *("X-Original-URL", "X-Original-Method", "X-Forwarded-Uri", "X-Forwarded-Method"),
    *("X-Forwarded-Host", "X-Forwarded-Proto"),
)
"""The headers by which proxies tell of the caller's request."""
_PARAMETERS = frozenset({"scope", "acr", "max_age"})
"""A misspelt one would let everything pass."""
_WORDS = re.compile(r"[\x20\x21\x23-\x5B\x5D-\x7E]*")
"""Texts that challenges repeat in quotes (RFC 6750 §3)."""
_LONGEST_AGE = 9
"""Digits of max_age."""

log = structlog.stdlib.get_logger(__name__)


class _Asked(msgspec.Struct, frozen=True):
    api: ApiResource
    demand: Demand
    rest: str
    """The original path, if it came behind the name of a check."""


class CheckEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Believes what a trusted proxy, or one with the API's own credentials, says of a request; fails closed."""

    client_auth: ClientAuthentication
    guard: TokenGuard
    forwarded: ForwardedTokens
    transaction_tokens: TransactionTokens
    registry: LiveRegistry
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("*", PATH, self.check, below=True, refuse=_refuse),)

    async def check(self, request: Message) -> Answer:
        """Answer 200, 401, 403, 404 or 503; the body is never read."""
        name, _, check = raw_path(request).removeprefix(PATH).partition("/")
        api = self.registry.current.api_resources.get(unquote(name))
        if not await self._may_ask(request, api):
            return _refuse()
        if api is None:
            return Answer(_NOBODY, b"", 404)
        try:
            asked = _read_named(api, check) if check else _Asked(api, _read_demand(request), "")
            if asked is None:
                return Answer(_NOBODY, b"", 404)
            token = await self._find_token(request, asked)
            headers = _headers(token, asked) | await self._make_token(request, token, asked)
        except OAuthError as error:
            if isinstance(error, InvalidRequest):
                error.status = HTTPStatus.UNAUTHORIZED  # proxies know what to do with that
            error.headers = {**error.headers, "Vary": "Authorization"}
            self.emit(TokenChecked(api=api.name, result=error.code))
            raise
        self.emit(TokenChecked(api=api.name, result="passed"))
        return Answer(_PER_TOKEN, b"", 200, headers)

    async def _may_ask(self, request: Message, api: ApiResource | None) -> bool:
        """Return whether the peer is a gateway, or has the credentials of this API."""
        try:
            credentials = _read_once(request, CREDENTIALS)
            if credentials is None:
                return self.guard.credentials.client_address.is_from_gateway(request)
            shown = _read_credentials(credentials)
            return api is not None and await self.client_auth.authenticate_caller(shown) is api
        except (InvalidClient, InvalidRequest) as refused:
            claimed = refused.claimed if isinstance(refused, InvalidClient) else None
            cause = refused.description
            self.emit(ClientRefused(client_id=claimed, endpoint=PATH, cause=cause))
            return False

    async def _find_token(self, request: Message, asked: _Asked) -> ActiveToken:
        api, demand = asked.api, asked.demand
        challenge = _name_scope(demand.scope) + self._name_metadata(api)
        try:
            original = _read_original(request, asked, challenge)
        except InvalidRequest as error:
            raise self.guard.add_challenge(error, request, parameters=challenge) from error
        token = await self.guard.find_token_of(request, original)
        scope = token.scope & api.scopes
        refusal: OAuthError | None = None
        if not (api.is_in(token.audience) and (scope or self._has_details_for(api, token))):
            refusal = InvalidToken("the access token is not for this API")
        elif not demand.scope <= scope:
            refusal = InsufficientScope("the access token lacks a scope that the request needs")
        elif not self._is_met(demand, token):
            message = "the user has to authenticate anew, or in another way"
            refusal = InsufficientUserAuthentication(message)
        if refusal is None:
            return token
        if isinstance(refusal, InsufficientUserAuthentication):
            challenge = _name_step_up(demand) + challenge
        raise self.guard.add_challenge(refusal, request, parameters=challenge)

    def _has_details_for(self, api: ApiResource, token: ActiveToken) -> bool:
        """Return whether the API understands some of the token's authorization_details (RFC 9396 §9)."""
        return bool(self.registry.current.details_for(token.authorization_details, (api.name,)))

    def _name_metadata(self, api: ApiResource) -> str:
        """Return the parameter of challenges that leads to the metadata of an API with a URL (RFC 9728 §5.1)."""
        if api.url is None:
            return ""
        return f', resource_metadata="{resource_metadata_url(self.guard.active_tokens.issuer, api.name)}"'

    async def _make_token(
        self, request: Message, token: ActiveToken, asked: _Asked
    ) -> dict[str, str]:
        """Return the header with what the API gets in place of the caller's token, if it gets anything."""
        api = asked.api
        if api.check.token == "none":
            return {}
        if api.check.token == "jwt":
            return {"Authorization": f"Bearer {await self.forwarded.mint(token, api)}"}
        domains = self.registry.current.trust_domains
        domain = domains[api.check.trust_domain or min(domains)]
        scope = (asked.demand.scope or token.scope & api.scopes) & domain.scopes
        if not scope:
            message = "the access token has no scope that is a purpose of the trust domain"
            purposes = asked.demand.scope or api.scopes & domain.scopes
            challenge = _name_scope(purposes) + self._name_metadata(api)
            insufficient = InsufficientScope(message)
            raise self.guard.add_challenge(insufficient, request, parameters=challenge)
        make = self.transaction_tokens.issue_to_gateway
        return {"Txn-Token": await make(token, domain, by=api.name, scope=scope)}

    def _is_met(self, demand: Demand, token: ActiveToken) -> bool:
        """Return whether the user has authenticated well enough, and not too long ago (RFC 9470 §6)."""
        claims = token.claims
        if demand.max_age is not None:
            auth_time = claims.get("auth_time")
            if not isinstance(auth_time, int) or clock() - auth_time > demand.max_age:
                return False
        if demand.acr is None or claims.get("acr") == demand.acr:
            return True
        amr = tuple(map(str, cast("list[object]", claims.get("amr", ()))))
        return self.registry.current.acr_met(amr, (demand.acr,)) is not None


def _refuse() -> Answer:
    return Answer(_NOBODY, b"", 401)


def _read_credentials(header: str) -> RequestCredentials:
    """Return the credentials of an API: its secret by Basic, or a token of its platform as Bearer."""
    scheme, _, token = header.partition(" ")
    if scheme.lower() == "bearer":
        return RequestCredentials.of_assertion(token.strip(), endpoint=PATH, now=clock())
    return RequestCredentials(
        endpoint=PATH, authorization=header, params=Params({}), certificate=None, now=clock()
    )


def _read_named(api: ApiResource, path: str) -> _Asked | None:
    """Return the demand that the first segment names, and the original path behind it."""
    name, slash, rest = path.partition("/")
    demand = api.checks.get(unquote(name))
    return None if demand is None else _Asked(api, demand, slash + rest)


def _read_demand(request: Message) -> Demand:
    """Return what the operator has written into the query; TemporarilyUnavailable if that cannot be understood."""
    try:
        if isinstance(request, WholeRequest):
            return _demand_in(request.query)
        return _demand_in(request.rel_url.raw_query_string)
    except InvalidRequest as error:
        cause = error.description
        log.error("the query of a check cannot be understood", cause=cause)  # noqa: TRY400 - a traceback adds nothing
        raise TemporarilyUnavailable("the check is not set up correctly") from error


@lru_cache(maxsize=1000)  # a proxy asks with the same few all day
def _demand_in(query: str) -> Demand:
    params = Params.parse(query)
    params.refuse_repeated(frozenset())
    if unknown := sorted(params.values.keys() - _PARAMETERS):
        raise InvalidRequest(f"{unknown[0]} is not a parameter of a check")
    if not all(map(_WORDS.fullmatch, filter(None, map(params.get, ("scope", "acr"))))):
        raise InvalidRequest("scope or acr has characters that no challenge can name")
    age = params.get("max_age")
    if age is not None and not (age.isascii() and age.isdigit() and len(age) <= _LONGEST_AGE):
        raise InvalidRequest("max_age is not a number of seconds")
    return Demand(
        scope=split_scope(params.get("scope") or ""),
        acr=params.get("acr"),
        max_age=None if age is None else int(age),
    )


def _read_original(request: Message, asked: _Asked, challenge: str) -> OriginalRequest:
    """Return method and URL of the request that is asked about, as the proxy tells them.

    The origin is that of the API's `url`, where it has one: proxies tend to pass on the host that the caller has chosen, and
    then a proof that was made for somebody else's server would count here (RFC 9449 §4.3).
    """
    told = {name: _read_once(request, name) for name in _ORIGINAL}
    method = told["X-Original-Method"] or told["X-Forwarded-Method"] or request.method
    url = told["X-Original-URL"] or told["X-Forwarded-Uri"] or asked.rest or "/"
    path = url.partition("?")[0].partition("#")[0]
    host = told["X-Forwarded-Host"] or request.headers.get("Host", "")
    origin: str | None = f"{told['X-Forwarded-Proto'] or 'https'}://{host}"
    if not path.startswith("/"):
        scheme, _, rest = path.partition("://")
        host, slash, path = rest.partition("/")
        origin, path = f"{scheme}://{host}", slash + path
    if asked.api.url is not None:
        origin = origin_of(asked.api.url)
    return OriginalRequest(method, f"{origin}{path}", challenge)


def _read_once(request: Message, name: str) -> str | None:
    """Return a header, None if it is absent; InvalidRequest if it came twice, because one may be the caller's own."""
    values = request.headers.getall(name, ())
    if len(values) > 1:
        raise InvalidRequest(f"{name} is sent more than once")
    return values[0] if values else None


def _name_scope(scope: frozenset[str]) -> str:
    """Return the parameter of every challenge that says which scope the request needs (RFC 6750 §3)."""
    return f', scope="{format_scope(scope)}"' if scope else ""


def _name_step_up(demand: Demand) -> str:
    """Return the parameters that say how the user has to authenticate (RFC 9470 §3)."""
    acr = f', acr_values="{demand.acr}"' if demand.acr else ""
    return acr + (f", max_age={demand.max_age}" if demand.max_age is not None else "")


def _headers(token: ActiveToken, asked: _Asked) -> dict[str, str]:
    """Return what the API may be told of the token, and for how long the answer may be used again."""
    claims, now, age = token.claims, clock(), asked.demand.max_age
    seconds = min(token.expires_at - now, asked.api.check.cache)
    if age is not None:
        seconds = min(seconds, int(str(claims["auth_time"])) + age - now)
    if token.cnf is not None or asked.api.check.token != "none":
        seconds = 0  # each request has to prove the key anew, or gets a token of its own
    return {
        "X-Token-Subject": quote(str(claims["sub"]), safe=_VISIBLE),
        "X-Token-Client": quote(str(claims["client_id"]), safe=_VISIBLE),
        "X-Token-Scope": quote(format_scope(token.scope & asked.api.scopes), safe=_VISIBLE + " "),
        "Cache-Control": f"private, max-age={max(seconds, 0)}",
    }
