"""Reads the rows of PersistedGrants, in which IdentityServer4 and Duende IdentityServer keep refresh tokens."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar, cast

import msgspec

from service.model.authorization import Confirmation, read_confirmation
from service.model.user import MAX_SUB
from service.protocol.errors import InvalidScope
from service.protocol.json_input import parse_json
from service.protocol.octets import base64url
from service.protocol.scope import parse_scope

_WITH_SUBJECT = 5
"""The version of the model from which on a refresh token has its user, and an access token for each resource."""

_HEX_KEY, _BASE64_KEY = re.compile("[0-9A-F]{64}"), re.compile("[A-Za-z0-9+/]{43}=")
_LONGEST_SESSION = 100
_BOUND = {1, 2}
"""The kinds of proof that bind a token: a client certificate, and DPoP."""


class PersistedGrant(msgspec.Struct, frozen=True, kw_only=True):
    """A refresh token that could be used at the other server until `expires_at`."""

    digest: str
    """The SHA-256 of the handle and its kind, base64url."""
    client_id: str
    subject: str
    scope: frozenset[str]
    resources: tuple[str, ...]
    session_id: str | None
    idp: str | None
    amr: tuple[str, ...]
    acr: str | None
    auth_time: int | None
    cnf: Confirmation | None
    created_at: int
    expires_at: int


class NotTaken(Exception):
    """The row is not a refresh token that can be used here; the message has no value of it."""


class Ended(NotTaken):
    """The row is not a refresh token, or one that could not be used at the other server, either."""


class _Container(msgspec.Struct, frozen=True, rename="pascal"):
    """The envelope of Duende around the content."""

    persistent_grant_data_container_version: int = 0
    data_protected: bool = False
    payload: str = ""


class _Claim(msgspec.Struct, frozen=True, rename="pascal"):
    type: str
    value: str


class _AccessToken(msgspec.Struct, frozen=True, rename="pascal"):
    client_id: str | None = None
    claims: tuple[_Claim, ...] = ()
    confirmation: str | None = None


class _Principal(msgspec.Struct, frozen=True, rename="pascal"):
    claims: tuple[_Claim, ...] = ()


class _RefreshToken(msgspec.Struct, frozen=True, rename="pascal"):
    creation_time: str
    lifetime: int
    version: int = 0
    consumed_time: str | None = None
    access_token: _AccessToken | None = None
    access_tokens: dict[str, _AccessToken] = {}
    subject: _Principal | None = None
    client_id: str | None = None
    session_id: str | None = None
    authorized_scopes: tuple[str, ...] | None = None
    authorized_resource_indicators: tuple[str, ...] | None = None
    proof_type: int | None = None


Model = TypeVar("Model", _Container, _RefreshToken)


def read_grant(row: object, *, now: int) -> PersistedGrant:
    """Return the refresh token of a row, whose columns are named as in the database; raise NotTaken or Ended."""
    if not isinstance(row, dict):
        raise NotTaken("is no row of a table")
    named = cast("dict[str, object]", row).items()
    columns = {name.lower().replace("_", ""): value for name, value in named}
    if columns.get("type") is None:
        raise NotTaken("has no Type, so that it is no row of PersistedGrants")
    if columns["type"] != "refresh_token":
        raise Ended("is no refresh token")
    if columns.get("consumedtime") is not None:
        raise Ended("was used")
    token = _open(columns.get("data"))
    if token.consumed_time is not None:
        raise Ended("was used")
    created_at, expiration = _read_time(token.creation_time), columns.get("expiration")
    ends_at = created_at + token.lifetime
    expires_at = ends_at if expiration is None else _read_time(expiration)
    if expires_at <= now:
        raise Ended("has expired")
    return _describe(columns, token, created_at=created_at, expires_at=expires_at)


def _open(data: object) -> _RefreshToken:
    """Return the content of the column Data."""
    container = _parse(data, _Container)
    if container.data_protected:
        raise NotTaken("is encrypted by the data protection keys of that server")
    if container.persistent_grant_data_container_version == 0:
        return _parse(data, _RefreshToken)
    if container.persistent_grant_data_container_version == 1:
        return _parse(container.payload, _RefreshToken)
    raise NotTaken("has Data of a version that is unknown here")


def _parse(text: object, model: type[Model]) -> Model:
    try:
        return msgspec.convert(parse_json(text if isinstance(text, str) else ""), model)
    except ValueError:
        raise NotTaken("has Data of an unknown form") from None


def _describe(
    columns: Mapping[str, object], token: _RefreshToken, *, created_at: int, expires_at: int
) -> PersistedGrant:
    access = _find_access_token(token)
    is_new = token.version >= _WITH_SUBJECT
    claims = (token.subject or _Principal()).claims if is_new else access.claims
    client_id = token.client_id if is_new else access.client_id
    subject = _first(claims, "sub")
    if client_id is None or subject is None or not 0 < len(subject) <= MAX_SUB:
        raise NotTaken("names no client, or no user")
    if (columns.get("clientid"), columns.get("subjectid")) != (client_id, subject):
        raise NotTaken("has another client or user in its columns than in Data")
    scopes = token.authorized_scopes if is_new else _all(claims, "scope")
    session_id = token.session_id if is_new else _first(claims, "sid")
    auth_time = _first(claims, "auth_time") or ""
    return PersistedGrant(
        digest=_read_key(columns.get("key")),
        client_id=client_id,
        subject=subject,
        scope=_read_scope(scopes or ()),
        resources=token.authorized_resource_indicators or (),
        session_id=session_id if _is_session_id(session_id) else None,
        idp=_first(claims, "idp"),
        amr=_all(claims, "amr"),
        acr=_first(claims, "acr"),
        auth_time=int(auth_time) if re.fullmatch("[0-9]{1,12}", auth_time) else None,
        cnf=_read_confirmation(access, token),
        created_at=created_at,
        expires_at=expires_at,
    )


def _find_access_token(token: _RefreshToken) -> _AccessToken:
    """Return the access token without a resource, or else the first one: all are bound to the same key."""
    tokens = token.access_tokens
    found = token.access_token or tokens.get("") or next(iter(tokens.values()), None)
    return found or _AccessToken()


def _read_key(key: object) -> str:
    """Return the hash, which the column has in base64, or in hex for handles that end in -1."""
    if isinstance(key, str) and _HEX_KEY.fullmatch(key):
        return base64url(bytes.fromhex(key))
    if isinstance(key, str) and _BASE64_KEY.fullmatch(key):
        return base64url(b64decode(key))
    raise NotTaken("has a key that is no SHA-256 hash")


def _read_scope(scopes: Sequence[str]) -> frozenset[str]:
    try:
        return parse_scope(" ".join(scopes))
    except InvalidScope:
        raise NotTaken("has no scope, or one that is malformed") from None


def _read_confirmation(access: _AccessToken, token: _RefreshToken) -> Confirmation | None:
    if access.confirmation is None:
        if token.proof_type in _BOUND:
            raise NotTaken("is bound to a key that it does not name")
        return None
    try:
        return read_confirmation(parse_json(access.confirmation))
    except ValueError:
        raise NotTaken("is bound to a key in a way that is unknown here") from None


def _read_time(value: object) -> int:
    """Return a time of the database in seconds; without a time zone it is UTC."""
    try:
        at = datetime.fromisoformat(str(value))
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise NotTaken("has a time that cannot be read") from None


def _is_session_id(session_id: str | None) -> bool:
    is_short = session_id is not None and 0 < len(session_id) <= _LONGEST_SESSION
    return is_short and str(session_id).isascii() and str(session_id).isprintable()


def _all(claims: Sequence[_Claim], kind: str) -> tuple[str, ...]:
    return tuple(claim.value for claim in claims if claim.type == kind)


def _first(claims: Sequence[_Claim], kind: str) -> str | None:
    return next(iter(_all(claims, kind)), None)
