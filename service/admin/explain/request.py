"""Explains why an authorization request is refused, by the checks of the service itself, and which rule decides a token exchange (RFC 8693)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from service.admin.explain.parts import CannotExplain, Parts, Rows
from service.authorize.checks import (
    Check,
    access_token_is_allowed_in_browser,
    checks_on,
    code_challenge_is_sent_when_required,
    find_accepted_values,
)
from service.authorize.parameters import AUTHORIZE
from service.clock import clock
from service.grants.token_exchange.parameters import ExchangeRequest, read_request
from service.grants.token_exchange.policy import find_access
from service.keys.jose import JwtRefused, unverified_claims
from service.model.client import Client
from service.model.registry import Registry
from service.model.token_exchange import SELF, ExchangeCase, ExchangeRule
from service.protocol import errors, paths
from service.protocol.errors import OAuthError, RefusedValue
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS, format_scope, parse_scope
from service.protocol.token_types import GRANT_TYPE
from service.tokens.granting import TokenRequest

_NEED_KEYS = frozenset({"id_token_hint", "request", "request_uri"})
"""Parameters that only the signing keys, which are in the store, can verify."""

_REGISTERED_IN = {
    "redirect_uri": "redirect_uris",
    "request_uri": "request_uris",
    "response_type": "allowed_response_types",
    "grant_type": "allowed_grant_types",
    "scope": "allowed_scopes",
    "authorization_details": "authorization_details_types",
}
"""The key of a client's registration that lists the values of a parameter."""


def _name_of(check: Check) -> str:
    return check.__name__.replace("_", " ")


_MENDS = {
    _name_of(code_challenge_is_sent_when_required): (
        "send code_challenge with code_challenge_method=S256 (RFC 7636); for a client that cannot, "
        "set require_pkce: false or allow_plain_text_pkce: true"
    ),
    _name_of(access_token_is_allowed_in_browser): (
        "send response_type=code, or set allow_access_tokens_via_browser: true"
    ),
}
"""How to mend what a check refuses, where no single value was refused."""


def has_parameters_to_verify(url: str) -> bool:
    """Return whether signing keys have to verify a parameter."""
    return not _NEED_KEYS.isdisjoint(_parameters_of(url))


def _parameters_of(url: str) -> Params:
    try:
        parts = urlsplit(url)
        return Params.parse("&".join(filter(None, (parts.query, parts.fragment))))
    except (ValueError, errors.InvalidRequest) as error:
        raise CannotExplain(f"the URL cannot be read: {error}") from error


async def explain_url(parts: Parts, url: str) -> Rows:
    """Explain an authorization request, or the answer to one at the client's redirect URI."""
    sent = _parameters_of(url)
    if sent.get("grant_type") == GRANT_TYPE:
        return await _explain_exchange(parts, sent)
    if sent.get("error") or not sent.get("client_id"):
        return _explain_response(parts, url, sent)
    rows = [("kind", "authorization request"), ("client", await _client(parts, sent))]
    base, known = parts.shared.issuer.rstrip("/"), parts.shared.aliases
    endpoints = [base + path for path in known.paths_of(paths.AUTHORIZE)]
    if url.partition("?")[0] not in endpoints:
        rows.append(("warning", f"the authorization endpoint is {endpoints[0]}"))
    return [*rows, *await _explain_checks(parts, sent)]


async def _explain_checks(parts: Parts, sent: Params) -> Rows:
    """Explain the first check that refuses the request, in the order of the authorize endpoint."""
    check, shown = "client_id and redirect_uri", "on an error page, not to the client"
    registry = parts.shared.registry.current
    try:
        arrival = await parts.arriving.open(sent, address="127.0.0.1")
        check, shown = "request object", "to the client"
        if arrival.refusal is not None:
            raise arrival.refusal
        check = "parameters"
        request = await parts.arriving.reader.read_parameters(arrival)
        for each in checks_on(AUTHORIZE):
            check = _name_of(each)
            each(request, registry)
    except errors.TemporarilyUnavailable:
        raise
    except OAuthError as error:
        rows = [("failed check", check), ("error", error.code), ("reason", error.description)]
        mends = _general_mend(check, error)
        return [*rows, ("shown", shown), *await explain_value(parts, error.refused), *mends]
    return [("state", "accepted: no check refuses it; what follows depends on the user")]


async def explain_value(parts: Parts, refused: RefusedValue) -> Rows:
    """Return the refused value, the registered ones, and the nearest way to mend it."""
    if not refused.parameter:
        return []
    accepted = await find_accepted_values(refused, parts.clients)
    rows = [("parameter", refused.parameter), ("sent", refused.shown or "nothing")]
    rows += [("registered", value) for value in accepted]
    mends = " or ".join(_mends(parts, refused, accepted))
    return [*rows, ("mend", mends)] if mends else rows


def _mends(parts: Parts, refused: RefusedValue, accepted: tuple[str, ...]) -> Iterator[str]:
    parameter, value, client_id = refused.parameter or "", refused.shown, refused.client_id
    if accepted and parameter == "authorization_details":
        yield f"send the type {accepted[0]} in authorization_details"
    elif accepted:
        yield f"send {parameter}={accepted[0]}"
    if not value:
        return
    if parameter == "client_id":
        disabled = value in parts.shared.registry.current.clients
        yield "set enabled: true for this client" if disabled else f"register the client {value}"
    elif value == OFFLINE_ACCESS:
        yield f"set allow_offline_access: true for the client {client_id}"
    elif parameter == "scope" and parts.shared.registry.current.scope(value) is None:
        yield f"define {value} in api_scopes, and add it to allowed_scopes of the client {client_id}"
    elif client_id is not None and parameter in _REGISTERED_IN:
        yield f"add {value} to {_REGISTERED_IN[parameter]} of the client {client_id}"


def _general_mend(check: str, error: OAuthError) -> Rows:
    """Return how to mend what is not about a value that was sent."""
    mend, reason = _MENDS.get(check), error.description
    if error.refused.parameter is None and reason.endswith(" is missing"):
        mend = mend or f"send {reason.removesuffix(' is missing')}"
    return [("mend", mend)] if mend else []


async def _client(parts: Parts, sent: Params) -> str:
    client = await parts.clients.find(sent.get("client_id") or "")
    if client is None:
        return "unknown"
    name = f"{client.client_id} ({client.display_name})"
    return name if client.enabled else f"{name}, disabled"


def _explain_response(parts: Parts, url: str, sent: Params) -> Rows:
    error, base = sent.get("error"), url.partition("?")[0].partition("#")[0]
    clients = [
        client.client_id
        for client in parts.shared.registry.current.clients.values()
        if any(uri.partition("?")[0] == base for uri in client.redirect_uris)
    ]
    rows = [("kind", "authorization response"), ("client", " or ".join(clients) or "unknown")]
    if sent.get("iss") not in (None, parts.shared.issuer):
        rows.append(("warning", f"it is from another server: iss is not {parts.shared.issuer}"))
    if error is not None:
        kinds = (kind for kind in OAuthError.__subclasses__() if kind.code == error)
        meaning = next((kind.__doc__ or "" for kind in kinds), "no error of this service")
        return [
            *rows,
            ("error", errors.hide_credentials(error)),
            ("reason", errors.hide_credentials(sent.get("error_description") or "not given")),
            ("meaning", meaning),
            ("next", "explain the authorization request, or find authorization_refused in the log"),
        ]
    if any(map(sent.get, ("code", "access_token", "id_token"))):
        return [*rows, ("state", "granted: the URL holds what the client asked for")]
    raise CannotExplain("the URL is neither an authorization request nor the answer to one")


async def _explain_exchange(parts: Parts, sent: Params) -> Rows:
    """Return how each rule judges the request; its tokens are not looked at, and may be left out."""
    client = await parts.clients.find(sent.get("client_id") or "")
    if client is None or not client.enabled:
        return [("kind", "token exchange"), ("client", "unknown or disabled")]
    rows = [("kind", "token exchange"), ("client", client.client_id)]
    if GRANT_TYPE not in client.allowed_grant_types:
        mend = f"add {GRANT_TYPE} to allowed_grant_types of the client {client.client_id}"
        return [*rows, ("error", "unauthorized_client"), ("mend", mend)]
    try:
        return [
            *rows,
            *_judge_exchange(parts, _read_exchange(sent, client, parts.shared.registry.current)),
        ]
    except OAuthError as error:
        return [*rows, ("error", error.code), ("reason", error.description)]


def _read_exchange(sent: Params, client: Client, registry: Registry) -> ExchangeRequest:
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


def _judge_exchange(parts: Parts, asked: ExchangeRequest) -> Rows:
    registry = parts.shared.registry.current
    if asked.requested_type == "txn_token":
        return [("state", "a trust domain decides, see trust_domains; no rule is asked")]
    case = ExchangeCase(
        client_id=asked.client_id,
        subject_token_type=asked.subject.type,
        subject_issuer=_find_issuer(parts, asked),
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
                *_apply_rule(parts, asked, rule),
            ]
        rows.append((f"rule {rule.position}", f"does not fit: {mismatch}"))
    return [*rows, ("error", "invalid_request"), ("reason", "no rule fits"), ("mend", "add a rule")]


def _apply_rule(parts: Parts, asked: ExchangeRequest, rule: ExchangeRule) -> Rows:
    registry = parts.shared.registry.current
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


def _find_issuer(parts: Parts, asked: ExchangeRequest) -> str | None:
    """Return the issuer's name; without a token it is this service."""
    if asked.subject.type != "jwt" or asked.subject.text == "-":
        return SELF
    try:
        iss = unverified_claims(asked.subject.text).get("iss")
    except JwtRefused:
        return None
    trusted = parts.shared.registry.current.find_trusted_issuer(iss, id_jag=False)
    if iss == parts.shared.issuer:
        return SELF
    return trusted.name if trusted else None
