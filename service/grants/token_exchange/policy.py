"""Applies a rule to an exchange: scope, targets, and who acts (RFC 8693 §2.1, §4.1, §4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from service.grants.token_exchange.parameters import ExchangeRequest
from service.model.registry import Registry
from service.model.token_exchange import ExchangeCase, ExchangeRule
from service.protocol.authorization_details import is_same
from service.protocol.errors import InvalidRequest, InvalidScope, InvalidTarget, RefusedValue
from service.protocol.scope import OFFLINE_ACCESS
from service.tokens.permitted import find_actors
from service.tokens.requested_access import check_allowed, check_understood

if TYPE_CHECKING:
    from service.grants.token_exchange.subject_tokens import Actor, Subject


def find_rule(rules: Iterable[ExchangeRule], case: ExchangeCase) -> ExchangeRule:
    """Return the first rule that fits; InvalidRequest if none does."""
    for rule in rules:
        if rule.find_mismatch(case) is None:
            return rule
    raise InvalidRequest("no rule of token_exchange allows this exchange")


def find_access(
    asked: ExchangeRequest, rule: ExchangeRule, registry: Registry
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the scope of the new token and its API resources, which understand all API scopes in it (RFC 8707 §2.2)."""
    scope = _find_scope(asked, rule, registry)
    resources = _find_targets(asked, rule, scope, registry)
    return registry.cut_scope(scope, resources), resources


def _find_scope(asked: ExchangeRequest, rule: ExchangeRule, registry: Registry) -> frozenset[str]:
    """Return the scope that is asked for, or by default what rule and client allow; InvalidScope for anything more."""
    request = asked.token_request
    may_be_offline = asked.requested_type == "refresh_token"
    for value in sorted(request.scope - rule.scopes):
        if value == OFFLINE_ACCESS and may_be_offline:
            continue
        message = "scope holds a value that the rule of token_exchange does not allow"
        raise InvalidScope(message, refused=RefusedValue("scope", value))
    scope = request.scope or _default_scope(asked, rule, registry)
    if may_be_offline:
        scope |= {OFFLINE_ACCESS}
    elif OFFLINE_ACCESS in scope:
        raise InvalidScope("offline_access is for requested_token_type refresh_token")
    check_allowed(scope, request.client, registry)
    if not scope - {OFFLINE_ACCESS} and asked.requested_type != "id_token":
        raise InvalidScope("scope is missing, and the client is allowed none of the rule")
    return scope


def _default_scope(
    asked: ExchangeRequest, rule: ExchangeRule, registry: Registry
) -> frozenset[str]:
    client = asked.token_request.client
    allowed = rule.scopes & client.allowed_scopes - {OFFLINE_ACCESS}
    return frozenset([value for value in allowed if registry.scope(value) is not None])


def _find_targets(
    asked: ExchangeRequest, rule: ExchangeRule, scope: frozenset[str], registry: Registry
) -> tuple[str, ...]:
    """Return the API resources that are asked for, or by default those of the rule that the scope is for.

    InvalidTarget if the rule does not name one, or if it names none that understands the scope (RFC 8707 §2).
    """
    for name in asked.targets:
        is_allowed = registry.identifies_any((name,), rule.audiences)
        if asked.requested_type == "id_token" or not is_allowed:
            message = "audience or resource is not one that the rule of token_exchange allows"
            raise InvalidTarget(message, refused=RefusedValue("audience", name))
    if asked.targets:
        check_understood(registry, asked.targets, scope, ())
        return asked.targets
    if asked.requested_type == "id_token" or scope.isdisjoint(registry.api_scopes):
        return ()
    apis = registry.api_resources
    understanding = [name for name in rule.audiences if name in apis and apis[name].scopes & scope]
    if not understanding:
        raise InvalidTarget("no audience of the rule has any of the requested scope")
    return tuple(understanding)


def build_act(rule: ExchangeRule, subject: Subject, actor: Actor) -> Mapping[str, object] | None:
    """Return who acts, with those before it nested inside; None for impersonation.

    InvalidRequest if `may_act` of the subject token names somebody else, or if too many have acted.
    """
    _check_may_act(subject.claims.get("may_act"), actor)
    if rule.actor == "none":
        return None
    act: dict[str, object] = {"sub": actor.claims["sub"]}
    if actor.idp is not None:
        act["idp"] = actor.idp
    before = subject.claims.get("act")
    if before is not None:
        act["act"] = before
    if len([*find_actors(act, None)]) > rule.max_depth:
        raise InvalidRequest(f"more than {rule.max_depth} actors would be nested in act")
    return act


def _check_may_act(may_act: object, actor: Actor) -> None:
    """Raise InvalidRequest if the subject token names the parties that may act, and this is not one of them (RFC 8693 §4.4)."""
    if may_act is None:
        return
    if isinstance(may_act, Mapping) and may_act:
        named = cast("Mapping[str, object]", may_act)
        if all(name in actor.claims and is_same(actor.claims[name], named[name]) for name in named):
            return
    raise InvalidRequest("may_act of subject_token does not name the actor")
