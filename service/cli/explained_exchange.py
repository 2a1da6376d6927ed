"""Explains which rule decides a token exchange, and what it allows (RFC 8693)."""

from __future__ import annotations

from service.cli.table import Rows
from service.clock import clock
from service.grants.token_exchange.parameters import ExchangeRequest, read_request
from service.grants.token_exchange.policy import find_access
from service.keys.jose import JwtRefused, unverified_claims
from service.model.client import Client
from service.model.registry import Registry
from service.model.token_exchange import SELF, ExchangeCase, ExchangeRule
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.protocol.scope import format_scope, parse_scope
from service.protocol.token_types import GRANT_TYPE
from service.tokens.granting import TokenRequest
from service.wiring.features import Features


async def explain_exchange(features: Features, sent: Params) -> Rows:
    """Return how each rule judges the request; its tokens are not looked at, and may be left out."""
    client = await features.clients.find(sent.get("client_id") or "")
    if client is None or not client.enabled:
        return [("kind", "token exchange"), ("client", "unknown or disabled")]
    rows = [("kind", "token exchange"), ("client", client.client_id)]
    if GRANT_TYPE not in client.allowed_grant_types:
        mend = f"add {GRANT_TYPE} to allowed_grant_types of the client {client.client_id}"
        return [*rows, ("error", "unauthorized_client"), ("mend", mend)]
    try:
        return [*rows, *_judge(features, _read(sent, client, features.shared.registry.current))]
    except OAuthError as error:
        return [*rows, ("error", error.code), ("reason", error.description)]


def _read(sent: Params, client: Client, registry: Registry) -> ExchangeRequest:
    """Read the request as the token endpoint does."""
    given = {name: ("-",) for name in ("subject_token",) if sent.get(name) is None}
    params = Params({**sent.values, **given})
    asked = sent.get("scope")
    return read_request(
        TokenRequest(
            client=client,
            grant_type=GRANT_TYPE,
            params=params,
            scope=parse_scope(asked) if asked else frozenset(),
            resources=(),
            authorization_details=(),
            now=clock(),
            cnf=None,
        ),
        registry,
    )


def _judge(features: Features, asked: ExchangeRequest) -> Rows:
    registry = features.shared.registry.current
    if asked.requested_type == "txn_token":
        return [("state", "a trust domain decides, see trust_domains; no rule is asked")]
    case = ExchangeCase(
        client_id=asked.client_id,
        subject_token_type=asked.subject.type,
        subject_issuer=_find_issuer(features, asked),
        requested_token_type=asked.requested_type,
        has_actor=asked.actor is not None,
    )
    rows: Rows = []
    for rule in registry.token_exchange:
        mismatch = rule.find_mismatch(case)
        if mismatch is None:
            return [
                *rows,
                (f"rule {rule.position}", "fits, and decides"),
                *_apply(features, asked, rule),
            ]
        rows.append((f"rule {rule.position}", f"does not fit: {mismatch}"))
    return [*rows, ("error", "invalid_request"), ("reason", "no rule fits"), ("mend", "add a rule")]


def _apply(features: Features, asked: ExchangeRequest, rule: ExchangeRule) -> Rows:
    registry = features.shared.registry.current
    if asked.requested_type == "id_jag":
        return [("state", "targets of this rule decide, which are other authorization servers")]
    try:
        scope, targets = find_access(asked, rule, registry)
    except OAuthError as error:
        refused = error.refused
        rows = [("error", error.code), ("reason", error.description)]
        if refused.parameter is not None:
            rows += [("parameter", refused.parameter), ("sent", refused.shown or "nothing")]
        return [*rows, ("mend", f"change the rule at {rule.position}, or the request")]
    return [
        ("scope", format_scope(scope)),
        ("audience", " ".join(targets) or "this service"),
        ("actor", "nobody: impersonation" if rule.actor == "none" else "nested in act"),
        ("state", "allowed, if the tokens of the request are active and for this client"),
    ]


def _find_issuer(features: Features, asked: ExchangeRequest) -> str | None:
    """Return the issuer's name; without a token it is this service."""
    if asked.subject.type != "jwt" or asked.subject.text == "-":
        return SELF
    try:
        iss = unverified_claims(asked.subject.text).get("iss")
    except JwtRefused:
        return None
    trusted = features.shared.registry.current.find_trusted_issuer(iss, id_jag=False)
    if iss == features.shared.issuer:
        return SELF
    return trusted.name if trusted else None
