"""Transaction tokens: what a call chain within a trust domain is about (draft-ietf-oauth-transaction-tokens-10).

`req_wl` lists workloads as the versions of the draft up to 08 say, because 10 leaves that open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast
from uuid import UUID

import msgspec
import orjson

from service.clients.keys import ClientKeys
from service.clock import clock
from service.events.event import Emit
from service.events.tokens import TransactionTokenIssued
from service.grants.token_exchange.parameters import ExchangeRequest
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, check_times, read_sub, time_in
from service.keys.jose import JwtRefused, require_claims, verify
from service.model.authorization import Authorization
from service.model.handle import new_selector
from service.model.token_exchange import TrustDomain
from service.protocol.authorization_details import is_same
from service.protocol.errors import InvalidRequest, InvalidScope, InvalidTarget, RefusedValue
from service.protocol.json_input import JsonRefused, parse_unambiguous_json, require_object
from service.protocol.octets import random_bytes
from service.protocol.paths import token_endpoint_of
from service.protocol.scope import format_scope, split_scope
from service.protocol.token_types import TRANSACTION_TOKEN_TYP, uri_of
from service.tokens.active import ActiveToken, ActiveTokens
from service.tokens.granting import ExchangedGrant, SignedClaims

MAX_WORKLOADS = 5
MAX_SELF_SIGNED_AGE = 600
"""Seconds from `iat` to `exp` of a self-signed subject token."""

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = dict.fromkeys(
    ("aud", "txn", "sub", "scope", "req_wl"), str
) | {"exp": int}
_SELF_SIGNED = frozenset({UNNAMED, "jwt"})


class _Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A verified subject token, with which a transaction token begins."""

    sub: str
    expires_at: float | None
    """The end of the subject token, if it has one."""
    authorization: Authorization | None = None
    """The user, where the subject token is an access token."""
    replaced: Mapping[str, object] = {}
    """The claims of the transaction token that is replaced."""


class TransactionTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The transaction token service of every trust domain of the configuration."""

    issuer: str
    active_tokens: ActiveTokens
    client_keys: ClientKeys
    clock_skew: int
    emit: Emit

    async def exchange(self, asked: ExchangeRequest) -> ExchangedGrant:
        """Grant a transaction token; the trust domain alone decides."""
        if asked.actor is not None:
            raise InvalidRequest("actor_token has no meaning for transaction tokens")
        domain = self._find_domain(asked)
        details, context = (
            _read_json(asked, name, domain) for name in ("request_details", "request_context")
        )
        scope = _check_scope(asked.token_request.scope, domain.scopes)
        origin = await self._verify_subject(asked, domain)
        if origin.replaced:
            _check_scope(scope, split_scope(str(origin.replaced["scope"])))
        claims = self._compose(asked.client_id, domain, scope, origin)
        members = {name for value in scope for name in domain.transaction_context.get(value, ())}
        details = {name: value for name, value in details.items() if name in members}
        for name, added in (("tctx", details), ("rctx", context)):
            merged = _merge(origin.replaced.get(name), added, at_most=domain.max_context_bytes)
            if merged:
                claims[name] = merged
        return self._grant(asked, claims, scope, origin)

    def _find_domain(self, asked: ExchangeRequest) -> TrustDomain:
        """Return the domain if the client may ask there; a replacement is another permission."""
        if not asked.token_request.params.get("audience"):
            raise InvalidRequest("audience is missing: the name of the trust domain")
        domains = self.active_tokens.clients.registry.current.trust_domains
        domain = domains.get(asked.targets[0]) if len(asked.targets) == 1 else None
        is_replacement = asked.subject.type == "txn_token"
        if domain is None or asked.client_id not in (
            domain.replacement if is_replacement else domain.clients
        ):
            message = "audience is not one trust domain in which the client may do this"
            raise InvalidTarget(message, refused=RefusedValue("audience", asked.targets[0]))
        if not is_replacement and asked.subject.type not in domain.subject_token_types:
            raise InvalidRequest("subject_token_type is not one that the trust domain accepts")
        return domain

    async def _verify_subject(self, asked: ExchangeRequest, domain: TrustDomain) -> _Origin:
        try:
            if asked.subject.type == "txn_token":
                return self._verify_replaced(asked, domain)
            if asked.subject.type == "self_signed":
                return await self._verify_self_signed(asked)
            if asked.subject.type == "unsigned_json":
                return _read_unsigned(asked.subject.text, at_most=domain.max_context_bytes)
        except JwtRefused as refused:
            raise InvalidRequest(f"subject_token is refused: {refused}") from refused
        return _read_access_token(await self._find_access_token(asked))

    async def _find_access_token(self, asked: ExchangeRequest) -> ActiveToken:
        """Return the token, which an API may use only if it is for that API, as in a delegation."""
        token = await self.active_tokens.find_to_derive_from(asked.subject.text)
        if token is None:
            raise InvalidRequest("subject_token is not an active access token")
        own, registry = asked.own_resource, self.active_tokens.clients.registry.current
        if own is not None and not registry.identifies_any(token.audience, (own,)):
            raise InvalidRequest("subject_token is not for the API resource that the client is")
        return token

    async def _verify_self_signed(self, asked: ExchangeRequest) -> _Origin:
        """Verify a JWT by a key of the client itself, made for this service."""
        client = asked.token_request.client
        claims = await self.client_keys.verify(
            asked.subject.text, client, algorithms=SIGNING_ALGORITHMS, typ=_SELF_SIGNED
        )
        if claims.get("iss") != client.client_id:
            raise JwtRefused("iss is not the client_id")
        ours = (self.issuer, token_endpoint_of(self.issuer))
        if not any(claims.get("aud") in (one, [one]) for one in ours):
            raise JwtRefused("aud is not this service alone")
        expires, issued = time_in(claims, "exp"), time_in(claims, "iat")
        if expires is None or issued is None or expires - issued > MAX_SELF_SIGNED_AGE:
            raise JwtRefused("exp or iat is missing, or they are too far apart")
        check_times(claims, now=clock(), clock_skew=self.clock_skew)
        return _Origin(sub=read_sub(claims), expires_at=expires)

    def _verify_replaced(self, asked: ExchangeRequest, domain: TrustDomain) -> _Origin:
        """Verify a transaction token of this domain that has not expired, and that few have replaced."""
        claims = verify(asked.subject.text, self.client_keys.ring.find, typ={TRANSACTION_TOKEN_TYP})
        require_claims(claims, _CLAIM_TYPES)
        expires_at = int(str(claims["exp"]))
        if claims.get("iss") != self.issuer or claims["aud"] != domain.name:
            raise JwtRefused("it is one of another trust domain")
        if expires_at <= clock():
            raise JwtRefused("it has expired")
        if str(claims["req_wl"]).count(",") + 2 > MAX_WORKLOADS:
            raise JwtRefused(f"{MAX_WORKLOADS} workloads have asked for it already")
        return _Origin(sub=str(claims["sub"]), expires_at=expires_at, replaced=claims)

    async def issue_to_gateway(
        self, token: ActiveToken, domain: TrustDomain, *, by: str, scope: frozenset[str]
    ) -> str:
        """Return a transaction token for a request by which an access token has come to this API."""
        origin = _read_access_token(token)
        claims = self._compose(by, domain, scope, origin)
        self._record(claims, scope)
        return await self.client_keys.ring.signing_key().sign(claims, typ=TRANSACTION_TOKEN_TYP)

    def _compose(
        self, by: str, domain: TrustDomain, scope: frozenset[str], origin: _Origin
    ) -> dict[str, object]:
        """Return the claims but for the contexts; a replacement keeps `txn`, and all workloads."""
        now, before = clock(), origin.replaced
        expires_at = now + domain.lifetime
        if origin.expires_at is not None:
            expires_at = min(expires_at, int(origin.expires_at))
        return {
            "iss": self.issuer,
            "iat": now,
            "aud": domain.name,
            "exp": expires_at,
            "txn": before.get("txn") or str(UUID(bytes=random_bytes(16), version=4)),
            "sub": origin.sub,
            "scope": format_scope(scope),
            "req_wl": f"{before['req_wl']},{by}" if before else by,
        }

    def _grant(
        self,
        asked: ExchangeRequest,
        claims: Mapping[str, object],
        scope: frozenset[str],
        origin: _Origin,
    ) -> ExchangedGrant:
        user = origin.authorization
        self._record(claims, scope)
        return ExchangedGrant(
            authorization=Authorization(
                id=new_selector(),
                client_id=asked.client_id,
                scope=scope,
                subject=user.subject if user else None,
                idp=user.idp if user else None,
                user_claims=user.user_claims if user else {},
                created_at=asked.token_request.now,
            ),
            origin=None,
            token=SignedClaims(claims=claims, typ=TRANSACTION_TOKEN_TYP),
            expires_at=int(str(claims["exp"])),
            members={"issued_token_type": uri_of("txn_token")},
        )

    def _record(self, claims: Mapping[str, object], scope: frozenset[str]) -> None:
        workloads = str(claims["req_wl"])
        self.emit(
            TransactionTokenIssued(
                client_id=workloads.rpartition(",")[2],
                trust_domain=str(claims["aud"]),
                txn=str(claims["txn"]),
                subject=str(claims["sub"]),
                scope=scope,
                workloads=workloads,
            )
        )


def _read_access_token(token: ActiveToken) -> _Origin:
    return _Origin(
        sub=str(token.claims["sub"]),
        expires_at=token.expires_at,
        authorization=token.authorization,
    )


def _check_scope(scope: frozenset[str], allowed: frozenset[str]) -> frozenset[str]:
    """Return the scope; InvalidScope if it is missing, or wider than allowed."""
    if not scope:
        raise InvalidScope("scope is missing: the purpose of the transaction")
    for value in sorted(scope - allowed):
        message = "scope holds a purpose that the trust domain or the replaced token does not allow"
        raise InvalidScope(message, refused=RefusedValue("scope", value))
    return scope


def _read_json(asked: ExchangeRequest, name: str, domain: TrustDomain) -> Mapping[str, object]:
    """Return the JSON object of a parameter, an empty one if it is absent."""
    text = asked.token_request.params.get(name)
    if text is None:
        return {}
    try:
        content = _parse(text, at_most=domain.max_context_bytes)
    except JsonRefused as refused:
        raise InvalidRequest(f"{name} {refused}") from refused
    said, token = orjson.dumps(content), asked.subject.text
    within_text = orjson.dumps(token)[1:-1]  # with its quotes escaped, if it is JSON itself
    if token.encode() in said or within_text in said:
        raise InvalidRequest(f"{name} contains the subject_token")
    return content


def _parse(text: str, *, at_most: int) -> Mapping[str, object]:
    """Return a JSON object; raise JsonRefused if the text is something else, or too long."""
    if len(text.encode()) > at_most:
        raise JsonRefused(f"is longer than {at_most} bytes")
    return require_object(parse_unambiguous_json(text))


def _merge(before: object, added: Mapping[str, object], *, at_most: int) -> Mapping[str, object]:
    """Return a context with new members; what was asserted before never changes."""
    known = cast("dict[str, object]", before) if isinstance(before, dict) else {}
    if not all(is_same(known[name], value) for name, value in added.items() if name in known):
        raise InvalidRequest("a member of the transaction token's context cannot be changed")
    merged = {**known, **added}
    if known and len(orjson.dumps(merged)) > at_most:
        raise InvalidRequest(f"the context would have more than {at_most} bytes")
    return merged


def _read_unsigned(text: str, *, at_most: int) -> _Origin:
    try:
        content = _parse(text, at_most=at_most)
    except JsonRefused as refused:
        raise JwtRefused(f"it {refused}") from refused
    return _Origin(sub=read_sub(content), expires_at=None)
