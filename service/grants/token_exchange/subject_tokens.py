"""Verifies the tokens of an exchange: the subject token and the actor token (RFC 8693 §2.1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.clock import clock
from service.grants.token_exchange.parameters import ExchangeRequest, PresentedToken
from service.identity.assertions import ASSERTION_TYPES, ForeignAssertions, find_act
from service.identity.providers.claims import with_trusted_methods
from service.identity.sessions import Sessions
from service.keys.jose import JwtRefused, unverified_claims
from service.model.authorization import Authorization, Source
from service.model.handle import digest, new_selector
from service.model.session import Session
from service.model.token_exchange import SELF, ExchangeRule
from service.model.user import is_in_store
from service.protocol.errors import InvalidRequest
from service.tokens.active import ACCESS_TOKEN_TYPES, ActiveTokens, Inactive
from service.tokens.granting import DerivationSource
from service.tokens.id_token import Hint, IdTokens
from service.tokens.permitted import find_user_claims

_FOREIGN_TYPES = ASSERTION_TYPES | ACCESS_TOKEN_TYPES


class Subject(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A verified subject token."""

    claims: Mapping[str, object]
    """Its claims, of which `act` and `may_act` count."""
    authorization: Authorization
    """Its user, and how and when the user authenticated."""
    source: Source
    """The source that a new authorization ends with."""
    token: DerivationSource | None
    """The token that a new access token is derived from; None where the new token begins an authorization of its own."""


class Actor(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The party that is to act for the user."""

    claims: Mapping[str, object]
    """Those that `may_act` is compared with."""
    idp: str | None = None
    """The identity provider or trusted issuer of an actor who is a user of one, and not of the user store."""


class SubjectTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Verifies subject and actor tokens; whatever is wrong with one is an InvalidRequest (RFC 8693 §2.2.2)."""

    issuer: str
    active_tokens: ActiveTokens
    id_tokens: IdTokens
    sessions: Sessions
    assertions: ForeignAssertions

    def find_issuer(self, token: PresentedToken) -> str | None:
        """Return `self` for a token of this service, the name of a trusted issuer, or None; nothing is verified yet."""
        if token.type != "jwt":
            return SELF
        try:
            iss = unverified_claims(token.text).get("iss")
        except JwtRefused:
            return None
        if iss == self.issuer:
            return SELF
        trusted = self.assertions.registry.current.find_trusted_issuer(iss, id_jag=False)
        return trusted.name if trusted else None

    async def verify_subject(self, asked: ExchangeRequest, rule: ExchangeRule) -> Subject:
        match asked.subject.type:
            case "access_token":
                return await self._access_token(asked, rule)
            case "jwt":
                return await self._jwt(asked, rule)
            case "refresh_token":
                return await self._refresh_token(asked)
            case "id_token":
                return await self._id_token(asked)
            case _:
                raise InvalidRequest("subject_token_type cannot be exchanged for this token")

    async def _access_token(self, asked: ExchangeRequest, rule: ExchangeRule) -> Subject:
        token = await self.active_tokens.find_to_derive_from(asked.subject.text)
        if token is None or token.authorization is None or token.subject is None:
            raise InvalidRequest("subject_token is not an active token of a user")
        own = (asked.token_request.client.api_resource,)
        allowed = own if rule.subject_audience is None else rule.subject_audience
        registry = self.active_tokens.clients.registry.current
        if not registry.identifies_any(token.audience, allowed):
            raise InvalidRequest(
                "subject_token is not for an audience whose tokens the client may exchange"
            )
        return Subject(
            claims=token.claims,
            authorization=token.authorization,
            source=Source(selector=token.selector, name=token.name, expires_at=token.expires_at),
            token=token,
        )

    async def _jwt(self, asked: ExchangeRequest, rule: ExchangeRule) -> Subject:
        """Verify a JWT access token of this service, or a JWT of a trusted issuer, which may be used again."""
        if self.find_issuer(asked.subject) == SELF:
            return await self._access_token(asked, rule)
        try:
            foreign = await self.assertions.verify(
                asked.subject.text, asked.token_request.client, typ=_FOREIGN_TYPES
            )
            act = find_act(foreign)
        except JwtRefused as refused:
            raise InvalidRequest(f"subject_token is refused: {refused}") from refused
        authorization = Authorization(
            id=new_selector(),
            client_id=asked.client_id,
            scope=frozenset(),
            subject=foreign.subject,
            idp=foreign.idp,
            auth_time=foreign.auth_time,
            user_claims=foreign.user_claims,
            created_at=clock(),
        )
        claims = {**foreign.claims} | ({} if act is None else {"act": act})
        source = Source(expires_at=foreign.expires_at)
        return Subject(claims=claims, authorization=authorization, source=source, token=None)

    async def _refresh_token(self, asked: ExchangeRequest) -> Subject:
        try:
            token = await self.active_tokens.check_refresh_token(asked.subject.text)
        except Inactive as inactive:
            raise InvalidRequest("subject_token is not an active refresh token") from inactive
        authorization = token.authorization
        if authorization.client_id != asked.client_id:
            raise InvalidRequest("subject_token is a refresh token of another client")
        # The key is all that a public client's refresh token is protected by (RFC 9449 §5, RFC 8705 §4).
        if token.record.cnf not in {None, asked.token_request.cnf}:
            raise InvalidRequest("subject_token is bound to a key that the request does not prove")
        act = {} if authorization.act is None else {"act": authorization.act}
        return Subject(
            claims={**authorization.claims, **act},
            authorization=authorization,
            source=Source(selector=token.selector, expires_at=token.expires_at),
            token=token,
        )

    async def _id_token(self, asked: ExchangeRequest) -> Subject:
        hint, session = await self._read_id_token(asked.subject.text, "subject_token")
        if hint.client.client_id != asked.client_id:
            raise InvalidRequest("subject_token is an ID token of another client")
        authorization = Authorization(
            id=new_selector(),
            client_id=asked.client_id,
            scope=frozenset(),
            subject=session.subject,
            idp=session.idp,
            auth_time=session.auth_time,
            amr=session.methods,
            acr=session.acr,
            session_id=session.id,
            user_claims=session.user_claims,
            created_at=clock(),
        )
        expires_at = int(str(hint.claims["exp"]))
        source = Source(selector=session.id, is_session=True, expires_at=expires_at)
        return Subject(claims=hint.claims, authorization=authorization, source=source, token=None)

    async def _read_id_token(self, text: str, parameter: str) -> tuple[Hint, Session]:
        """Return an ID token of this service that has not expired, and its session, which lives."""
        try:
            hint = await self.id_tokens.read_hint(text, sender=None)
        except JwtRefused as refused:
            raise InvalidRequest(f"{parameter} {refused}") from refused
        if int(str(hint.claims["exp"])) <= clock():
            raise InvalidRequest(f"{parameter} has expired")
        if not hint.is_proof:
            raise InvalidRequest(
                f"{parameter} is signed with its client's secret, and so proves nothing"
            )
        session = await self.sessions.find_by_id(str(hint.claims.get("sid")))
        if session is None or not hint.user.has_subject(session.subject):
            raise InvalidRequest(f"{parameter} names no session, or one that has ended")
        stores = self.sessions.stores
        (revoked_at,) = await stores.kv.read(
            stores.access_ends.read(digest(session.subject), digest(hint.client.client_id))
        )
        if revoked_at is not None and int(str(hint.claims["iat"])) <= revoked_at:
            raise InvalidRequest(f"the access of the client of {parameter} was revoked")
        users, registry = self.active_tokens.users, self.active_tokens.clients.registry
        if await find_user_claims(users, registry, session) is None:
            raise InvalidRequest(f"the user of {parameter} is not active")
        return hint, with_trusted_methods(session, registry.current)

    async def verify_actor(self, token: PresentedToken) -> Actor:
        """Return the subject of a live access token or ID token of this service."""
        if token.type == "id_token":
            hint, session = await self._read_id_token(token.text, "actor_token")
            claims = {**hint.claims, "sub": session.subject}
            return Actor(claims=claims, idp=_find_foreign_idp(session))
        is_jwt = token.type == "jwt" and self.find_issuer(token) == SELF
        if token.type != "access_token" and not is_jwt:
            raise InvalidRequest("actor_token_type is not access_token, jwt or id_token")
        found = await self.active_tokens.find_to_derive_from(token.text)
        if found is None:
            raise InvalidRequest("actor_token is not active")
        idp = None if found.authorization is None else _find_foreign_idp(found.authorization)
        return Actor(claims=found.claims, idp=idp)


def _find_foreign_idp(person: Authorization | Session) -> str | None:
    """Return the provider or issuer whose own user it is; None for a user of the user store."""
    return None if is_in_store(person.idp, person.user_claims) else person.idp
