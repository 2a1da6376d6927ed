"""Makes the result of an exchange for each requested type of token: a table, one entry for each type (RFC 8693 §3)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
from msgspec.structs import replace

from service.grants.token_exchange.parameters import ExchangeRequest
from service.grants.token_exchange.subject_tokens import Subject
from service.keys.foreign_keys import time_in
from service.model.authorization import Authorization, new_family_key
from service.model.handle import new_selector
from service.protocol.errors import InvalidRequest
from service.protocol.token_types import GRANT_TYPE, uri_of
from service.tokens.granting import DerivedGrant, ExchangedGrant, NewGrant

ExchangeResult = DerivedGrant | NewGrant | ExchangedGrant


class AllowedExchange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An exchange that a rule allows."""

    asked: ExchangeRequest
    subject: Subject
    scope: frozenset[str]
    resources: tuple[str, ...]
    act: Mapping[str, object] | None
    claims: Mapping[str, object] = {}
    """Those of the new token, where it is none of the usual ones."""

    @property
    def proven_at(self) -> float:
        """The time at which the subject token was made, where no record tells that it has ended."""
        if self.subject.token is not None:
            return sys.maxsize
        return time_in(self.subject.claims, "iat") or 0

    def begin_authorization(self, amr: tuple[str, ...]) -> Authorization:
        """Return a new authorization for the caller, which ends with the subject token."""
        origin, request = self.subject.authorization, self.asked.token_request
        return Authorization(
            id=new_selector(),
            client_id=request.client.client_id,
            scope=self.scope,
            resources=self.resources,
            subject=origin.subject,
            amr=amr,
            idp=origin.idp,
            auth_time=origin.auth_time,
            session_id=origin.session_id,
            user_claims=origin.user_claims,
            act=self.act,
            grant_type=GRANT_TYPE,
            family_key=new_family_key(self.scope),
            cnf=request.cnf,
            source=self.subject.source,
            created_at=request.now,
        )


def grant_access_token(exchange: AllowedExchange) -> DerivedGrant | NewGrant:
    """Grant an access token in the client's own format."""
    return _grant_access_token(exchange, "access_token")


def grant_jwt(exchange: AllowedExchange) -> DerivedGrant | NewGrant:
    """Grant an access token that is a JWT (RFC 8693 §3)."""
    return _grant_access_token(exchange, "jwt")


def _grant_access_token(
    exchange: AllowedExchange, issued: Literal["access_token", "jwt"]
) -> DerivedGrant | NewGrant:
    members, always_jwt = {"issued_token_type": uri_of(issued)}, issued == "jwt"
    if exchange.subject.token is None:
        authorization = exchange.begin_authorization((GRANT_TYPE,))
        return NewGrant(
            authorization=authorization,
            members=members,
            always_jwt=always_jwt,
            proven_at=exchange.proven_at,
            refusal=InvalidRequest,
        )
    narrowed = {"scope": exchange.scope, "resources": exchange.resources}
    return DerivedGrant(
        request=replace(exchange.asked.token_request, **narrowed),
        source=exchange.subject.token,
        amr=(GRANT_TYPE,),
        act=exchange.act,
        members=members,
        always_jwt=always_jwt,
        refusal=InvalidRequest,
    )


def grant_refresh_token(exchange: AllowedExchange) -> ExchangedGrant:
    """Grant the first refresh token of a family; one family never comes from another that came by exchange."""
    if exchange.subject.authorization.source is not None:
        raise InvalidRequest(
            "subject_token came by token exchange, so no refresh token is issued for it"
        )
    return ExchangedGrant(
        authorization=exchange.begin_authorization((GRANT_TYPE,)),
        origin=exchange.subject.authorization,
        token="refresh_token",
        expires_at=exchange.subject.source.expires_at,
        members={"issued_token_type": uri_of("refresh_token")},
        proven_at=exchange.proven_at,
    )


def grant_id_token(exchange: AllowedExchange) -> ExchangedGrant:
    """Grant an ID token for the caller, which says how the user authenticated."""
    return ExchangedGrant(
        authorization=exchange.begin_authorization(exchange.subject.authorization.amr),
        origin=exchange.subject.authorization,
        token="id_token",
        expires_at=exchange.subject.source.expires_at,
        members={"issued_token_type": uri_of("id_token")},
        proven_at=exchange.proven_at,
    )


BY_RULE: Mapping[str, Callable[[AllowedExchange], ExchangeResult]] = {
    "access_token": grant_access_token,
    "jwt": grant_jwt,
    "refresh_token": grant_refresh_token,
    "id_token": grant_id_token,
}
"""The types that a rule of `token_exchange` allows, by their short names."""
