"""What can be said of a text that somebody took for a token of ours? Never the token itself."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import cast

from service.cli.table import written
from service.keys.jose import (
    JwtRefused,
    VerifiedClaims,
    looks_like_jwt,
    require_claims,
    unverified_header,
    verify,
)
from service.model.authorization import Authorization
from service.model.handle import Handle, HandleKind, kind_of, parse_handle
from service.model.one_time import RefreshToken, Spent
from service.parts import Parts
from service.protocol.scope import format_scope
from service.tokens.active import ACCESS_TOKEN_TYPES, Inactive, is_bound, selector_of
from service.tokens.id_token import ID_TOKEN_TYPE

Facts = dict[str, str]
"""What is printed, by its name, in this order."""

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "aud": (str, list),
    "exp": int,
    "iat": int,
    "sub": str,
}
"""What every token has, and a signed userinfo answer, for one, has not."""

LONGEST_SHOWN = 100
"""Characters shown of what nobody has verified."""

_NAMES: Mapping[HandleKind, str] = {
    "authorization_code": "authorization code",
    "access_token": "reference access token",
    "refresh_token": "refresh token",
    "session": "session cookie",
    "registration_access_token": "registration access token",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Looks a token up as the service does, and says what it finds on the way."""

    parts: Parts

    async def of(self, token: str) -> Facts:
        """Everything that is known of it; the entry `state` comes last and answers the question."""
        if looks_like_jwt(token):
            return await self._jwt(token)
        kind = kind_of(token)
        if kind is None:
            return {"kind": "none that this service makes", "state": "inactive: it is no token"}
        handle = parse_handle(token, kind)
        if handle is None:
            wrong = "inactive: its checksum is wrong: a typo, or a part of it is missing"
            return {"kind": _NAMES[kind], "state": wrong}
        return {"kind": _NAMES[kind]} | await self._handle(handle)

    async def _handle(self, handle: Handle) -> Facts:
        match handle.kind:
            case "session":
                return await self._session(handle)
            case "access_token":
                return await self._reference(handle)
            case "refresh_token":
                return await self._refresh_token(handle)
            case "authorization_code":
                return await self._code(handle)
            case "registration_access_token":
                return await self._registration(handle)

    async def _jwt(self, token: str) -> Facts:
        try:
            claims = verify(
                token, self.parts.keys.ring.find, typ={*ACCESS_TOKEN_TYPES, ID_TOKEN_TYPE}
            )
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused as refused:
            return {"kind": "JWT", **_unverified(token), "state": f"inactive: {refused}"}
        if unverified_header(token).get("typ") == ID_TOKEN_TYPE:
            state = "inactive: an identity token is for its client to read and opens nothing"
            return {"kind": "identity token (JWT)"} | await self._claims(claims, state)
        state = await _state(self.parts.tokens.active_tokens.check(token))
        return {"kind": "access token (JWT)"} | await self._claims(claims, state)

    async def _reference(self, handle: Handle) -> Facts:
        state = await _state(self.parts.tokens.active_tokens.check(handle.text))
        (claims,) = await self.parts.shared.stores.kv.read(
            self.parts.shared.stores.access_tokens.read(handle.selector, handle.digest)
        )
        if claims is not None:
            return await self._claims(VerifiedClaims(claims), state)
        return await self._granted(handle.selector) | {"state": state}

    async def _refresh_token(self, handle: Handle) -> Facts:
        state = await _state(self.parts.tokens.active_tokens.check_refresh_token(handle.text))
        (record,) = await self.parts.shared.stores.kv.read(
            self.parts.shared.stores.refresh_tokens.read(handle.selector, handle.digest)
        )
        facts = await self._granted(handle.selector)
        if isinstance(record, RefreshToken):
            facts["expires"] = f"at the latest {self._expiry(record.ends_at)}"
        return facts | _use(record) | {"state": state}

    async def _code(self, handle: Handle) -> Facts:
        (record,) = await self.parts.shared.stores.kv.read(
            self.parts.shared.stores.codes.read(handle.selector, handle.digest)
        )
        state = "waits to be redeemed"
        if record is None:
            state = "inactive: its record is gone: it expired, or never was"
        elif isinstance(record, Spent):
            state = "inactive: it was used"
        elif await self.parts.records.authorizations.by_id(handle.selector) is None:
            state = "inactive: its authorization has ended"
        return await self._granted(handle.selector) | _use(record) | {"state": state}

    async def _session(self, handle: Handle) -> Facts:
        session = await self.parts.records.sessions.find(handle.text)
        if session is None:
            return {"state": "inactive: the session ended, or a later sign-in replaced its cookie"}
        return {
            "session": session.id,
            "subject": session.subject,
            "issued": written(session.started_at),
            "expires": f"at the latest {self._expiry(session.ends_at)}",
            "state": "active",
        }

    async def _registration(self, handle: Handle) -> Facts:
        """Whose registration it manages (RFC 7592)."""
        stores = self.parts.shared.stores
        (record,) = await stores.kv.read(stores.registered_clients.read(handle.selector))
        if record is None or record.access_token_digest != handle.digest:
            return {"state": "inactive: its client was deleted or has expired"}
        ends = record.expires_at
        return {
            "client": record.client_id,
            "issued": written(record.issued_at),
            "expires": "when the client is deleted" if ends is None else self._expiry(ends),
            "state": "active",
        }

    async def _claims(self, claims: VerifiedClaims, state: str) -> Facts:
        """What the token says of itself, and what has become of the grant it came from."""
        client_id, jti = claims.get("client_id", claims["aud"]), str(claims.get("jti", ""))
        subject = str(claims["sub"])
        facts = {
            "client": await self._client(str(client_id)),
            "subject": subject,
            "audience": _listed(claims["aud"]),
            "issued": written(cast("int", claims["iat"])),
            "expires": self._expiry(cast("int", claims["exp"])),
        }
        if "scope" in claims:
            facts["scope"] = str(claims["scope"])
        if "sid" in claims:
            facts["session"] = await self._session_of(str(claims["sid"]))
        if is_bound(jti):
            granted = await self._granted(selector_of(jti))
            facts |= {"subject": granted.get("subject", subject), "grant": granted["grant"]}
        return facts | {"state": state}

    async def _granted(self, authorization_id: str) -> Facts:
        """What is known of a token by the grant it came from, while that lives."""
        authorization = await self.parts.records.authorizations.by_id(authorization_id)
        if authorization is None:
            return {"grant": f"{authorization_id} (ended)"}
        known = {
            "client": await self._client(authorization.client_id),
            "subject": await self._subject(authorization),
            "scope": format_scope(authorization.scope),
            "granted": written(authorization.created_at),
            "grant": authorization_id,
        }
        if authorization.session_id is not None:
            known["session"] = await self._session_of(authorization.session_id)
        return known

    async def _client(self, client_id: str) -> str:
        client = await self.parts.clients.directory.find(client_id)
        return _marked(client_id, "disabled or unknown", when=client is None or not client.enabled)

    async def _subject(self, authorization: Authorization) -> str:
        claims = await self.parts.sign_in.subjects.claims_of(authorization)
        return _marked(str(authorization.subject), "disabled or unknown", when=claims is None)

    async def _session_of(self, sid: str) -> str:
        return _marked(sid, "ended", when=await self.parts.records.sessions.by_id(sid) is None)

    def _expiry(self, at: int) -> str:
        return _marked(written(at), "expired", when=at <= self.parts.shared.now())


def _marked(text: str, mark: str, *, when: bool) -> str:
    return f"{text} ({mark})" if when else text


async def _state(check: Awaitable[object]) -> str:
    try:
        await check
    except Inactive as inactive:
        return f"inactive: {inactive}"
    return "active"


def _use(record: object) -> Facts:
    """When it was used, where it was and the marker is still there."""
    return {"used": written(record.at)} if isinstance(record, Spent) else {}


def _unverified(token: str) -> Facts:
    """What the header says, for whoever wonders where the JWT comes from."""
    try:
        header = unverified_header(token)
    except JwtRefused:
        return {}
    names = ("typ", "alg", "kid")
    return {f"{name} (unverified)": str(header.get(name))[:LONGEST_SHOWN] for name in names}


def _listed(audience: object) -> str:
    return audience if isinstance(audience, str) else " ".join(cast("list[str]", audience))
