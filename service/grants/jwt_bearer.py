"""urn:ietf:params:oauth:grant-type:jwt-bearer: a JWT of a trusted issuer says who the user is (RFC 7523 §2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from service.identity import received_id_jag
from service.identity.assertions import (
    ASSERTION_TYPES,
    ForeignAssertion,
    ForeignAssertions,
    find_act,
)
from service.keys.foreign_keys import time_in
from service.keys.jose import MAX_JWT_LENGTH, JwtRefused
from service.model.authorization import Authorization, Confirmation, read_confirmation
from service.model.handle import new_selector
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidGrant, InvalidRequest
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.token_types import ID_JAG_TYP
from service.tokens.granting import GrantResult, NewGrant, ScopeRule, TokenRequest
from service.tokens.permitted import find_actors
from service.tokens.requested_access import Access, check_understood, require_scope

MAX_ACTORS = 5
"""The longest chain of parties that act for a user."""

_TYPES = ASSERTION_TYPES | {ID_JAG_TYP}


class JwtBearerGrant(msgspec.Struct, frozen=True):
    """Grants an access token and never a refresh token: the client brings a new assertion (RFC 7521 §4.1)."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_ASSERTION
    takes_authorization_details: ClassVar[bool] = False
    assertions: ForeignAssertions
    registry: LiveRegistry

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant the scope to the user whom the assertion names, once for each assertion."""
        presented = request.params.require("assertion")
        if len(presented) > MAX_JWT_LENGTH:
            return InvalidRequest(f"assertion is longer than {MAX_JWT_LENGTH} characters")
        try:
            assertion = await self.assertions.verify(presented, request.client, typ=_TYPES)
            _check_key(assertion, request.cnf)
            act = _find_act(assertion)
            access = self._find_access(assertion, request)
            await self.assertions.use_up(assertion, request.client)
        except JwtRefused as refused:
            return InvalidGrant(f"the assertion is refused: {refused}")
        authorization = _authorize(request, assertion, access, act)
        return NewGrant(
            authorization=authorization, proven_at=time_in(assertion.claims, "iat") or 0
        )

    def _find_access(self, assertion: ForeignAssertion, request: TokenRequest) -> Access:
        if assertion.issuer.id_jag:
            return received_id_jag.find_access(assertion, request, self.registry.current)
        require_scope(request.scope)
        registry, resources = self.registry.current, request.resources
        check_understood(registry, resources, request.scope, ())
        return registry.cut_scope(request.scope, resources) - {OFFLINE_ACCESS}, resources, ()


def _check_key(assertion: ForeignAssertion, cnf: Confirmation | None) -> None:
    """Raise JwtRefused unless the client has proven the key that the assertion is bound to, if any (RFC 7800 §3)."""
    if "cnf" not in assertion.claims:
        return
    try:
        expected = read_confirmation(assertion.claims["cnf"])
    except ValueError as error:
        raise JwtRefused("it is bound to a key in a way that is not known here") from error
    if cnf != expected:
        raise JwtRefused("it is bound to a key that the request does not prove")


def _find_act(assertion: ForeignAssertion) -> Mapping[str, object] | None:
    act = find_act(assertion)
    if len([*find_actors(act, None)]) > MAX_ACTORS:
        raise JwtRefused(f"its act names more than {MAX_ACTORS} parties")
    return act


def _authorize(
    request: TokenRequest,
    assertion: ForeignAssertion,
    access: Access,
    act: Mapping[str, object] | None,
) -> Authorization:
    scope, resources, details = access
    return Authorization(
        id=new_selector(),
        client_id=request.client.client_id,
        scope=scope,
        resources=resources,
        authorization_details=details,
        subject=assertion.subject,
        amr=(request.grant_type,),
        idp=assertion.idp,
        auth_time=assertion.auth_time,
        user_claims=assertion.user_claims,
        act=act,
        grant_type=request.grant_type,
        cnf=request.cnf,
        created_at=request.now,
    )
