"""urn:ietf:params:oauth:grant-type:token-exchange: a token for another one (RFC 8693)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.events.event import Emit
from service.events.tokens import TokenExchangeJudged
from service.grants.token_exchange import id_jag
from service.grants.token_exchange.parameters import ExchangeRequest, read_request
from service.grants.token_exchange.policy import build_act, find_access, find_rule
from service.grants.token_exchange.results import BY_RULE, AllowedExchange, ExchangeResult
from service.grants.token_exchange.subject_tokens import Actor, SubjectTokens
from service.grants.token_exchange.transaction_token import TransactionTokens
from service.model.authorization import Authorization
from service.model.registry import LiveRegistry
from service.model.token_exchange import ExchangeCase, ExchangeRule
from service.protocol.errors import InvalidRequest, OAuthError
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.permitted import check_actors

_BY_RULE = {**BY_RULE, id_jag.REQUESTED_TYPE: id_jag.grant_id_jag}


class TokenExchangeGrant(msgspec.Struct, frozen=True, kw_only=True):
    """Exchanges a token by the first rule that fits; other types of tokens may have conditions of their own."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_GRANT
    takes_authorization_details: ClassVar[bool] = False
    registry: LiveRegistry
    subject_tokens: SubjectTokens
    transaction_tokens: TransactionTokens
    emit: Emit

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Return the grant of the requested type of token."""
        asked = read_request(request, self.registry.current)
        if asked.requested_type == "txn_token":  # which needs no rule of `token_exchange`
            return await self.transaction_tokens.exchange(asked)
        if asked.requested_type not in _BY_RULE:
            raise InvalidRequest("requested_token_type is not one that this server issues")
        return await self._exchange_by_rule(asked)

    async def _exchange_by_rule(self, asked: ExchangeRequest) -> ExchangeResult:
        """Let the first rule that fits decide, and record its decision."""
        rule: ExchangeRule | None = None
        try:
            rule = find_rule(self.registry.current.token_exchange, self._case_of(asked))
            allowed = await self._allow(asked, rule)
            result = _BY_RULE[asked.requested_type](allowed)
        except OAuthError as refused:
            self._record(asked, rule, cause=refused.description)
            raise
        self._record(asked, rule, allowed=allowed)
        return result

    def _case_of(self, asked: ExchangeRequest) -> ExchangeCase:
        return ExchangeCase(
            client_id=asked.client_id,
            subject_token_type=asked.subject.type,
            subject_issuer=self.subject_tokens.find_issuer(asked.subject),
            requested_token_type=asked.requested_type,
            has_actor=asked.actor is not None,
        )

    async def _allow(self, asked: ExchangeRequest, rule: ExchangeRule) -> AllowedExchange:
        if asked.requested_type == id_jag.REQUESTED_TYPE:
            return await id_jag.allow_id_jag(asked, rule, self.subject_tokens)
        registry = self.registry.current
        scope, resources = find_access(asked, rule, registry)
        subject = await self.subject_tokens.verify_subject(asked, rule)
        if asked.actor is not None:
            actor = await self.subject_tokens.verify_actor(asked.actor)
        else:
            caller = asked.client_id
            names = {"sub": caller, "client_id": caller, "iss": self.subject_tokens.issuer}
            actor = Actor(claims=names)
        act = build_act(rule, subject, actor)
        active = self.subject_tokens.active_tokens
        await check_actors(active.clients, active.users, subject.authorization, act)
        return AllowedExchange(
            asked=asked, subject=subject, scope=scope, resources=resources, act=act
        )

    def _record(
        self,
        asked: ExchangeRequest,
        rule: ExchangeRule | None,
        *,
        allowed: AllowedExchange | None = None,
        cause: str | None = None,
    ) -> None:
        act = allowed.act if allowed else None
        origin: Authorization | None = allowed.subject.authorization if allowed else None
        self.emit(
            TokenExchangeJudged(
                client_id=asked.client_id,
                rule=rule.position if rule else None,
                allowed=allowed is not None,
                requested_token_type=asked.requested_type,
                subject=origin.subject if origin else None,
                actor=str(act["sub"]) if act else None,
                scope=allowed.scope if allowed else frozenset(),
                audience=allowed.resources if allowed else (),
                cause=cause,
            )
        )
