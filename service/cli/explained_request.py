"""Explains why an authorization request is refused, by the checks of the service itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from service.authorize.checks import (
    AUTHORIZE,
    Check,
    access_token_is_allowed_in_browser,
    checks_on,
    code_challenge_is_sent_when_required,
)
from service.endpoints.authorize import PATH
from service.parts import Parts
from service.protocol.errors import (
    OAuthError,
    RefusedValue,
    TemporarilyUnavailable,
    hide_credentials,
)
from service.protocol.params import Params
from service.protocol.scope import OFFLINE_ACCESS

Rows = list[tuple[str, str]]
"""What is printed: a name and a value in each line."""

NEEDS_KEYS = frozenset({"id_token_hint", "request", "request_uri"})
"""Parameters that only the signing keys, which are in the store, can verify."""

_REGISTERED_IN = {
    "redirect_uri": "redirect_uris",
    "request_uri": "request_uris",
    "response_type": "allowed_response_types",
    "grant_type": "allowed_grant_types",
    "scope": "allowed_scopes",
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


class NotExplained(Exception):
    """The URL is neither an authorization request nor the answer to one."""


class Refusal(NamedTuple):
    """The first check that an authorization request fails."""

    check: str
    error: OAuthError
    shown_at: str


def parameters_of(url: str) -> Params:
    """Return the parameters in the query and the fragment of a URL."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise NotExplained(f"the URL cannot be read: {error}") from error
    return Params.parse("&".join(filter(None, (parts.query, parts.fragment))))


async def explain_url(parts: Parts, url: str) -> Rows:
    """Explain an authorization request, or the answer to one at the client's redirect URI."""
    sent = parameters_of(url)
    if sent.get("error") or not sent.get("client_id"):
        return _explain_response(parts, url, sent)
    rows = [("kind", "authorization request"), ("client", await _client(parts, sent))]
    expected = parts.shared.issuer.rstrip("/") + PATH
    if url.partition("?")[0] != expected:
        rows.append(("warning", f"the authorization endpoint is {expected}"))
    refusal = await first_refusal(parts, sent)
    if refusal is None:
        return [*rows, ("state", "accepted: no check refuses it; what follows depends on the user")]
    rows += [
        ("failed check", refusal.check),
        ("error", refusal.error.code),
        ("reason", refusal.error.description),
        ("shown", refusal.shown_at),
    ]
    return [*rows, *await explain_value(parts, refusal.error.refused), *_general_mend(refusal)]


async def first_refusal(parts: Parts, sent: Params) -> Refusal | None:
    """Return the first check that refuses the request, in the order of the authorize endpoint."""
    check, shown_at = "client_id and redirect_uri", "on an error page, not to the client"
    registry = parts.shared.registry.current
    try:
        arrival = await parts.flow.arrive(sent, address="127.0.0.1")
        check, shown_at = "request object", "to the client"
        if arrival.refusal is not None:
            raise arrival.refusal
        check = "parameters"
        request = await parts.flow.reader.read_parameters(arrival)
        for each in checks_on(AUTHORIZE):
            check = _name_of(each)
            each(request, registry)
    except TemporarilyUnavailable:
        raise
    except OAuthError as error:
        return Refusal(check, error, shown_at)
    return None


async def explain_value(parts: Parts, refused: RefusedValue) -> Rows:
    """Return the refused value, the registered ones, and the nearest way to mend it."""
    if refused.parameter is None:
        return []
    accepted = await parts.accepted_values.find(refused)
    rows = [("parameter", refused.parameter), ("sent", refused.shown or "nothing")]
    rows += [("registered", value) for value in accepted]
    mends = " or ".join(_mends(parts, refused, accepted))
    return [*rows, ("mend", mends)] if mends else rows


def _mends(parts: Parts, refused: RefusedValue, accepted: tuple[str, ...]) -> Iterator[str]:
    parameter, value, client_id = refused.parameter or "", refused.shown, refused.client_id
    if accepted:
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


def _general_mend(refusal: Refusal) -> Rows:
    """Return how to mend what is not about a value that was sent."""
    reason = refusal.error.description
    mend = _MENDS.get(refusal.check)
    if refusal.error.refused.parameter is None and reason.endswith(" is missing"):
        mend = mend or f"send {reason.removesuffix(' is missing')}"
    return [("mend", mend)] if mend else []


async def _client(parts: Parts, sent: Params) -> str:
    client = await parts.clients.directory.find(sent.get("client_id") or "")
    if client is None:
        return "unknown"
    name = f"{client.client_id} ({client.display_name})"
    return name if client.enabled else f"{name}, disabled"


def _explain_response(parts: Parts, url: str, sent: Params) -> Rows:
    """Explain what the client got at its redirect URI."""
    error, base = sent.get("error"), url.partition("?")[0].partition("#")[0]
    clients = [
        client.client_id
        for client in parts.shared.registry.current.clients.values()
        if any(uri.partition("?")[0] == base for uri in client.redirect_uris)
    ]
    rows = [("kind", "authorization response"), ("client", " or ".join(clients) or "unknown")]
    if sent.get("iss") not in (None, parts.shared.issuer):
        rows.append(("warning", f"it is from another server: iss is not {parts.shared.issuer}"))
    if error is None:
        if not any(map(sent.get, ("code", "access_token", "id_token"))):
            raise NotExplained("the URL is neither an authorization request nor the answer to one")
        return [*rows, ("state", "granted: the URL holds what the client asked for")]
    return [
        *rows,
        ("error", hide_credentials(error)),
        ("reason", hide_credentials(sent.get("error_description") or "not given")),
        ("meaning", _meaning_of(error)),
        ("next", "explain the authorization request, or find authorization_refused in the log"),
    ]


def _meaning_of(code: str) -> str:
    kinds = (kind for kind in OAuthError.__subclasses__() if kind.code == code)
    return next((kind.__doc__ or "" for kind in kinds), "no error of this service")
