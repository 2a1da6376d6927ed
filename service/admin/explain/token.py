"""Explains what a token is and why it is inactive, without showing the token; and the JWT of another issuer (RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from service.admin.explain.parts import Parts
from service.clock import clock, format_time
from service.identity.assertions import ASSERTION_TYPES, ForeignAssertion
from service.keys import jose
from service.keys.jose import JwtRefused, VerifiedClaims, unverified_claims
from service.model.authorization import RefreshToken, Spent
from service.model.credentials import RequestCredentials
from service.model.handle import (
    Handle,
    HandleKind,
    digest,
    kind_of,
    parse_handle,
    parse_refresh_token,
)
from service.protocol.authorization_details import PARAMETER, Detail, types_of
from service.protocol.scope import format_scope
from service.protocol.token_types import ID_JAG_TYP, TRANSACTION_TOKEN_TYP
from service.tokens.active import ACCESS_TOKEN_TYPES, Inactive, is_bound, selector_of
from service.tokens.id_token import ID_TOKEN_TYPE
from service.tokens.permitted import find_actors

Facts = dict[str, str]
"""The lines that are printed, by their name; `state` comes last, and says whether the token is active."""

LONGEST_SHOWN = 100
"""Characters shown of unverified text."""


async def explain_token(parts: Parts, token: str) -> Facts:
    """Return all that is known of a token, code or cookie."""
    if jose.looks_like_jwt(token):
        return await _explain_jwt(parts, token)
    kind = kind_of(token)
    if kind is None:
        return await _explain_loaded(parts, token)
    name, explain = _KINDS[kind]
    handle = parse_handle(token, kind)
    if handle is None:
        wrong = "inactive: its checksum is wrong: a typo, or a part of it is missing"
        return {"kind": name, "state": wrong}
    return {"kind": name} | await explain(parts, handle)


async def _explain_loaded(parts: Parts, token: str) -> Facts:
    """Explain a text of no form of this service: a refresh token of another server, if `grants load` has left a record of it."""
    handle = parse_refresh_token(token)
    records = parts.shared.stores.refresh_tokens
    if handle is not None:
        reading = records.read(handle.selector, handle.digest)
        if await parts.shared.stores.kv.read(reading) != (None,):
            facts = await _explain_refresh_token(parts, handle)
            return {"kind": "refresh token of another server"} | facts
    operator = await _explain_console_cookie(parts, token)
    if operator is not None:
        return operator
    return {"kind": "none that this service makes", "state": "inactive: it is no token"}


async def _explain_console_cookie(parts: Parts, text: str) -> Facts | None:
    """Explain the cookie of the admin console; None for another text, or if its session has ended, which leaves no trace."""
    stores = parts.shared.stores
    (person,) = await stores.kv.read(stores.console_sessions.read(digest(text)))
    if person is None:
        return None
    facts = {
        "kind": "cookie of the admin console",
        "subject": str(person.subject),
        "session": await _describe_session(parts, person.session_id or ""),
        "signed in": format_time(person.auth_time or person.created_at),
    }
    alive = await parts.shared.sessions.find_by_id(person.session_id or "") is not None
    state = "active, while admin.readers or admin.writers include the user"
    return facts | {"state": state if alive else "inactive: the user's session has ended"}


async def _explain_jwt(parts: Parts, token: str) -> Facts:
    types = {*ACCESS_TOKEN_TYPES, ID_TOKEN_TYPE.lower(), ID_JAG_TYP, TRANSACTION_TOKEN_TYP}
    try:
        claims = jose.verify(token, parts.ring.find, typ=types)
        # other JWTs of the service, such as signed userinfo answers, lack some of these
        jose.require_claims(claims, {"aud": (str, list), "exp": int, "iat": int, "sub": str})
    except JwtRefused as refused:
        foreign = await _explain_foreign(parts, token)
        return foreign or {"kind": "JWT", **_list_header(token), "state": f"inactive: {refused}"}
    typ = jose.type_of(jose.unverified_header(token))
    if typ == ID_JAG_TYP:
        return _explain_issued_id_jag(claims)
    if typ == TRANSACTION_TOKEN_TYP:
        is_over = cast("int", claims["exp"]) <= clock()
        state = "inactive: it has expired" if is_over else "valid in its trust domain, which is aud"
        return {"kind": "transaction token (JWT)"} | await _explain_claims(parts, claims, state)
    if typ == ID_TOKEN_TYPE.lower() and claims.get("typ") != "Bearer":
        kind = "ID token (JWT)"
        state = "inactive: an ID token is for its client to read, and gives access to nothing"
    else:
        kind = "access token (JWT)"
        state = await _state(parts.active_tokens.check(token))
    return {"kind": kind} | await _explain_claims(parts, claims, state)


def _explain_issued_id_jag(claims: VerifiedClaims) -> Facts:
    """Return what an ID-JAG of this service says; whether it was used only its audience knows."""
    return {
        "kind": "ID-JAG (JWT)",
        "audience": str(claims["aud"]),
        "client": f"{claims.get('client_id')} (its client_id there)",
        "subject": str(claims["sub"]),
        "scope": str(claims.get("scope", "")),
        "issued": format_time(int(str(claims["iat"]))),
        "expires": format_time(int(str(claims["exp"]))),
        "state": "inactive: an ID-JAG is a grant at its audience, and gives access to nothing here",
    }


async def _explain_foreign(parts: Parts, token: str) -> Facts | None:
    """Explain a JWT that somebody else has issued; None if it is of no issuer of the configuration."""
    return await _explain_workload(parts, token) or await _explain_assertion(parts, token)


async def _explain_assertion(parts: Parts, token: str) -> Facts | None:
    """Return what the bearer grant would say of it, without using it up; None if no trusted issuer has its `iss`."""
    try:
        iss = unverified_claims(token).get("iss")
    except JwtRefused:
        return None
    issuers = parts.shared.registry.current.trusted_issuers.values()
    names = [issuer.name for issuer in issuers if issuer.issuer == iss]
    if not names:
        return None
    facts = {"kind": "assertion (JWT) of a trusted issuer", "issuer": " or ".join(names)}
    try:
        found = await parts.assertions.check(token, typ=ASSERTION_TYPES | {ID_JAG_TYP})
        first = await parts.assertions.is_unused(found)
    except JwtRefused as refused:
        return facts | {"state": f"refused: {refused}"}
    state = "holds" if first else "refused: it has been used before"
    return facts | _describe_assertion(found) | {"state": state}


async def _explain_workload(parts: Parts, token: str) -> Facts | None:
    """Return which client or API a workload with this token is; None if it is of no issuer of `workload_issuers`."""
    request = RequestCredentials.of_assertion(token, endpoint="", now=clock())
    workloads = parts.client_authentication.workloads
    presented = workloads.find(request)
    if presented is None:
        return None
    sub = str(presented.unverified_claims.get("sub") or "none")
    facts = {"kind": "token of a workload (JWT)", "issuer": presented.issuer.name, "subject": sub}
    try:
        await workloads.verify(presented, request.now)
    except JwtRefused as refused:
        return facts | {"state": f"refused: {refused}"}
    if presented.workload is None:
        return facts | {"state": "refused: no rule fits"}
    rule, name = presented.workload
    party = {"client": name} if rule.api_resource is None else {"api_resource": name}
    template = {} if rule.template is None else {"template": rule.template}
    return facts | party | template | {"state": "holds"}


def _describe_assertion(found: ForeignAssertion) -> Facts:
    clients = " ".join(sorted(found.issuer.clients)) or "every one with the grant type"
    return {
        "issuer": found.issuer.name,
        "subject": found.subject,
        "clients": clients,
        "expires": format_time(found.expires_at),
    }


async def _explain_reference(parts: Parts, handle: Handle) -> Facts:
    state = await _state(parts.active_tokens.check(handle.text))
    stores = parts.shared.stores
    (claims,) = await stores.kv.read(stores.access_tokens.read(handle.selector, handle.digest))
    if claims is not None:
        return await _explain_claims(parts, VerifiedClaims(claims), state)
    return await _explain_grant(parts, handle.selector) | {"state": state}


async def _explain_refresh_token(parts: Parts, handle: Handle) -> Facts:
    state = await _state(parts.active_tokens.check_refresh_token(handle.text))
    stores = parts.shared.stores
    (record,) = await stores.kv.read(stores.refresh_tokens.read(handle.selector, handle.digest))
    facts = await _explain_use(parts, handle, record)
    if isinstance(record, RefreshToken):
        facts["expires"] = f"at the latest {_expiry(record.ends_at)}"
    return facts | {"state": state}


async def _explain_code(parts: Parts, handle: Handle) -> Facts:
    stores = parts.shared.stores
    (record,) = await stores.kv.read(stores.codes.read(handle.selector, handle.digest))
    state = "waits to be redeemed"
    if record is None:
        state = "inactive: its record is gone: it expired, or never was"
    elif isinstance(record, Spent):
        state = "inactive: it was used"
    elif await parts.shared.authorizations.find(handle.selector) is None:
        state = "inactive: its authorization has ended"
    return await _explain_use(parts, handle, record) | {"state": state}


async def _explain_use(parts: Parts, handle: Handle, record: object) -> Facts:
    """Return what is known of the grant, and when the token was used, while the marker exists."""
    used = {"used": format_time(record.at)} if isinstance(record, Spent) else {}
    return await _explain_grant(parts, handle.selector) | used


async def _explain_polled(parts: Parts, handle: Handle) -> Facts:
    """Explain what a client polls with (RFC 8628 §3.4)."""
    stores = parts.shared.stores
    request, decision = await stores.kv.read(
        stores.polled_requests.read(handle.selector, handle.digest),
        stores.decisions.read(handle.selector, handle.digest),
    )
    if request is None:
        return {"state": "inactive: its record is gone: it expired, or never was"}
    facts = {
        "client": await _describe_client(parts, request.client_id),
        "scope": format_scope(request.scope),
        "expires": _expiry(request.expires_at),
    }
    if decision is None:
        lapsed = request.expires_at <= clock()
        return facts | {"state": "inactive: it has expired" if lapsed else "waits for the user"}
    if decision.authorization_id is None:
        return facts | {"state": "inactive: the user refused"}
    (approval,) = await stores.kv.read(stores.approvals.read(decision.authorization_id))
    state = "waits to be polled with" if approval is True else "inactive: it was used"
    return facts | await _explain_grant(parts, decision.authorization_id) | {"state": state}


async def _explain_session(parts: Parts, handle: Handle) -> Facts:
    session = await parts.shared.sessions.find(handle.text)
    if session is None:
        return {"state": "inactive: the session ended, or a later sign-in replaced its cookie"}
    return {
        "session": session.id,
        "subject": session.subject,
        "issued": format_time(session.started_at),
        "expires": f"at the latest {_expiry(session.ends_at)}",
        "state": "active",
    }


async def _explain_registration(parts: Parts, handle: Handle) -> Facts:
    """Explain the token that manages a client's registration (RFC 7592)."""
    stores = parts.shared.stores
    (record,) = await stores.kv.read(stores.registered_clients.read(handle.selector))
    if record is None or record.access_token_digest != handle.digest:
        return {"state": "inactive: its client was deleted or has expired"}
    ends = record.expires_at
    return {
        "client": record.client_id,
        "issued": format_time(record.issued_at),
        "expires": "when the client is deleted" if ends is None else _expiry(ends),
        "state": "active",
    }


async def _explain_claims(parts: Parts, claims: VerifiedClaims, state: str) -> Facts:
    jti, audience = str(claims.get("jti", "")), claims["aud"]
    resources = [audience] if isinstance(audience, str) else cast("list[str]", audience)
    facts = {
        "client": await _describe_client(parts, str(claims.get("client_id", audience))),
        "subject": str(claims["sub"]),
        "audience": " ".join(resources),
        "issued": format_time(cast("int", claims["iat"])),
        "expires": _expiry(cast("int", claims["exp"])),
    }
    if "scope" in claims:
        facts["scope"] = str(claims["scope"])
    if PARAMETER in claims:
        facts["details"] = " ".join(types_of(cast("list[Detail]", claims[PARAMETER])))
    if "act" in claims:
        actors = [str(actor.get("sub")) for actor in find_actors(claims["act"], None)]
        facts["acting"] = ", before it ".join(actors)
    if "txn" in claims:
        facts["transaction"] = f"{claims['txn']}, asked for by {claims.get('req_wl')}"
    if "sid" in claims:
        facts["session"] = await _describe_session(parts, str(claims["sid"]))
    if is_bound(jti):
        grant = await _explain_grant(parts, selector_of(jti))
        facts |= {name: grant[name] for name in ("subject", "grant") if name in grant}
    return facts | {"state": state}


async def _explain_grant(parts: Parts, authorization_id: str) -> Facts:
    """Return what the record of a token's authorization holds, while it exists."""
    authorization = await parts.shared.authorizations.find(authorization_id)
    if authorization is None:
        return {"grant": f"{authorization_id} (ended)"}
    claims = await parts.subjects.find_claims(authorization)
    subject = str(authorization.subject)
    facts = {
        "client": await _describe_client(parts, authorization.client_id),
        "subject": subject if claims is not None else f"{subject} (disabled or unknown)",
        "scope": format_scope(authorization.scope),
        "granted": format_time(authorization.created_at),
        "grant": authorization_id,
    }
    if authorization.authorization_details:
        facts["details"] = " ".join(types_of(authorization.authorization_details))
    if authorization.session_id is not None:
        facts["session"] = await _describe_session(parts, authorization.session_id)
    return facts


async def _describe_client(parts: Parts, client_id: str) -> str:
    client = await parts.clients.find(client_id)
    enabled = client is not None and client.enabled
    return client_id if enabled else f"{client_id} (disabled or unknown)"


async def _describe_session(parts: Parts, sid: str) -> str:
    session = await parts.shared.sessions.find_by_id(sid)
    return sid if session is not None else f"{sid} (ended)"


def _expiry(at: int) -> str:
    return f"{format_time(at)} (expired)" if at <= clock() else format_time(at)


async def _state(check: Awaitable[object]) -> str:
    try:
        await check
    except Inactive as inactive:
        return f"inactive: {inactive}"
    return "active"


def _list_header(token: str) -> Facts:
    """Return the header, which may show where the JWT comes from."""
    try:
        header = jose.unverified_header(token)
    except JwtRefused:
        return {}
    names = [name for name in ("typ", "alg", "kid") if header.get(name) is not None]
    return {f"{name} (unverified)": str(header[name])[:LONGEST_SHOWN] for name in names}


_KINDS: Mapping[HandleKind, tuple[str, Callable[[Parts, Handle], Awaitable[Facts]]]] = {
    "authorization_code": ("authorization code", _explain_code),
    "access_token": ("reference access token", _explain_reference),
    "refresh_token": ("refresh token", _explain_refresh_token),
    "session": ("session cookie", _explain_session),
    "registration_access_token": ("registration access token", _explain_registration),
    "device_code": ("device code", _explain_polled),
    "auth_req_id": ("auth_req_id", _explain_polled),
}
