"""Explains why an authorization request is refused, by the checks of the service itself."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import click

from service.authorize.checks import (
    Check,
    access_token_is_allowed_in_browser,
    checks_on,
    code_challenge_is_sent_when_required,
    find_accepted_values,
)
from service.authorize.parameters import AUTHORIZE
from service.cli.table import Rows
from service.protocol import errors, paths
from service.protocol.errors import OAuthError, RefusedValue
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.wiring.features import Features

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


def needs_keys(url: str) -> bool:
    """Return whether signing keys have to verify a parameter."""
    return not _NEED_KEYS.isdisjoint(_parameters_of(url))


def _parameters_of(url: str) -> Params:
    try:
        parts = urlsplit(url)
        return Params.parse("&".join(filter(None, (parts.query, parts.fragment))))
    except (ValueError, errors.InvalidRequest) as error:
        raise click.ClickException(f"the URL cannot be read: {error}") from error


async def explain_url(features: Features, url: str) -> Rows:
    """Explain an authorization request, or the answer to one at the client's redirect URI."""
    sent = _parameters_of(url)
    if sent.get("grant_type") == TOKEN_EXCHANGE:
        from service.cli.explained_exchange import explain_exchange  # noqa: PLC0415 - with the grant's own policy

        return await explain_exchange(features, sent)
    if sent.get("error") or not sent.get("client_id"):
        return _explain_response(features, url, sent)
    rows = [("kind", "authorization request"), ("client", await _client(features, sent))]
    expected = features.shared.issuer.rstrip("/") + paths.AUTHORIZE
    if url.partition("?")[0] != expected:
        rows.append(("warning", f"the authorization endpoint is {expected}"))
    return [*rows, *await _explain_checks(features, sent)]


async def _explain_checks(features: Features, sent: Params) -> Rows:
    """Explain the first check that refuses the request, in the order of the authorize endpoint."""
    check, shown = "client_id and redirect_uri", "on an error page, not to the client"
    registry = features.shared.registry.current
    try:
        arrival = await features.arriving.open(sent, address="127.0.0.1")
        check, shown = "request object", "to the client"
        if arrival.refusal is not None:
            raise arrival.refusal
        check = "parameters"
        request = await features.arriving.reader.read_parameters(arrival)
        for each in checks_on(AUTHORIZE):
            check = _name_of(each)
            each(request, registry)
    except errors.TemporarilyUnavailable:
        raise
    except OAuthError as error:
        rows = [("failed check", check), ("error", error.code), ("reason", error.description)]
        mends = _general_mend(check, error)
        return [*rows, ("shown", shown), *await explain_value(features, error.refused), *mends]
    return [("state", "accepted: no check refuses it; what follows depends on the user")]


async def explain_value(features: Features, refused: RefusedValue) -> Rows:
    """Return the refused value, the registered ones, and the nearest way to mend it."""
    if not refused.parameter:
        return []
    accepted = await find_accepted_values(refused, features.clients)
    rows = [("parameter", refused.parameter), ("sent", refused.shown or "nothing")]
    rows += [("registered", value) for value in accepted]
    mends = " or ".join(_mends(features, refused, accepted))
    return [*rows, ("mend", mends)] if mends else rows


def _mends(features: Features, refused: RefusedValue, accepted: tuple[str, ...]) -> Iterator[str]:
    parameter, value, client_id = refused.parameter or "", refused.shown, refused.client_id
    if accepted and parameter == "authorization_details":
        yield f"send the type {accepted[0]} in authorization_details"
    elif accepted:
        yield f"send {parameter}={accepted[0]}"
    if not value:
        return
    if parameter == "client_id":
        disabled = value in features.shared.registry.current.clients
        yield "set enabled: true for this client" if disabled else f"register the client {value}"
    elif value == OFFLINE_ACCESS:
        yield f"set allow_offline_access: true for the client {client_id}"
    elif parameter == "scope" and features.shared.registry.current.scope(value) is None:
        yield f"define {value} in api_scopes, and add it to allowed_scopes of the client {client_id}"
    elif client_id is not None and parameter in _REGISTERED_IN:
        yield f"add {value} to {_REGISTERED_IN[parameter]} of the client {client_id}"


def _general_mend(check: str, error: OAuthError) -> Rows:
    """Return how to mend what is not about a value that was sent."""
    mend, reason = _MENDS.get(check), error.description
    if error.refused.parameter is None and reason.endswith(" is missing"):
        mend = mend or f"send {reason.removesuffix(' is missing')}"
    return [("mend", mend)] if mend else []


async def _client(features: Features, sent: Params) -> str:
    client = await features.clients.find(sent.get("client_id") or "")
    if client is None:
        return "unknown"
    name = f"{client.client_id} ({client.display_name})"
    return name if client.enabled else f"{name}, disabled"


def _explain_response(features: Features, url: str, sent: Params) -> Rows:
    error, base = sent.get("error"), url.partition("?")[0].partition("#")[0]
    clients = [
        client.client_id
        for client in features.shared.registry.current.clients.values()
        if any(uri.partition("?")[0] == base for uri in client.redirect_uris)
    ]
    rows = [("kind", "authorization response"), ("client", " or ".join(clients) or "unknown")]
    if sent.get("iss") not in (None, features.shared.issuer):
        rows.append(("warning", f"it is from another server: iss is not {features.shared.issuer}"))
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
    raise click.ClickException("the URL is neither an authorization request nor the answer to one")
