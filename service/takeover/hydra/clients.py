"""Makes clients of those of Hydra (client.Client there, and the defaults of its configuration)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from service.keys.algorithms import PRIVATE_MEMBERS
from service.model.password_hash import UnusableHash, parse_hash
from service.model.polling import DEVICE_CODE
from service.model.secret import hash_by_sha256
from service.protocol.authorization_request import parse_response_type
from service.protocol.errors import UnsupportedResponseType
from service.protocol.uris import crosses_public_network
from service.takeover.found import YEAR, Found
from service.takeover.hydra.known_settings import CLIENT
from service.takeover.node import Misplaced
from service.takeover.record import Record

NANOSECONDS = 10**9
_NEW_SECRET = "give the client another secret"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
GRANT_TYPES = frozenset(
    {
        *("authorization_code", "client_credentials", "implicit", "refresh_token", JWT_BEARER),
        DEVICE_CODE,
    }
)
OFFLINE = frozenset({"offline", "offline_access"})
SECRET_METHODS = frozenset({"client_secret_basic", "client_secret_post"})
_HASH = re.compile(r"\$(2[abxyz]?|argon2id?|pbkdf2-sha[0-9]{1,3})\$")
_ACCESS_LIFETIMES: Mapping[str, str] = {
    "authorization_code": "authorization_code_grant_access_token_lifespan",
    "client_credentials": "client_credentials_grant_access_token_lifespan",
    "implicit": "implicit_grant_access_token_lifespan",
    DEVICE_CODE: "device_authorization_grant_access_token_lifespan",
    JWT_BEARER: "jwt_bearer_grant_access_token_lifespan",
    "refresh_token": "refresh_token_grant_access_token_lifespan",
}
_IDENTITY_LIFETIMES: Mapping[str, str] = {
    "authorization_code": "authorization_code_grant_id_token_lifespan",
    "implicit": "implicit_grant_id_token_lifespan",
    DEVICE_CODE: "device_authorization_grant_id_token_lifespan",
    "refresh_token": "refresh_token_grant_id_token_lifespan",
}
_REFRESH_LIFETIMES: Mapping[str, str] = {
    "authorization_code": "authorization_code_grant_refresh_token_lifespan",
    DEVICE_CODE: "device_authorization_grant_refresh_token_lifespan",
    "refresh_token": "refresh_token_grant_refresh_token_lifespan",
}
_HOUR, _REFRESH = 3600, 30 * 86400
"""Hydra's own lifetimes, where neither client nor configuration has others."""
_COPIED = (
    *("client_name", "client_uri", "logo_uri", "policy_uri", "tos_uri", "jwks_uri"),
    *("frontchannel_logout_uri", "backchannel_logout_uri", "sector_identifier_uri"),
    *("request_object_signing_alg",),
)
_LISTS = (
    "redirect_uris",
    "post_logout_redirect_uris",
    "allowed_cors_origins",
    "request_uris",
    "contacts",
)


def client_id_of(record: Record) -> str:
    """Return the id, which rows call id."""
    client_id = record.text("client_id") or (record.text("id") if is_row(record) else None)
    if client_id is None:
        raise Misplaced(record.below("client_id"), "is missing")
    return client_id


def is_row(record: Record) -> bool:
    """Return whether it is a row of the database, not what the API answers."""
    return "client_id" not in record and "id" in record


def scopes_of(record: Record) -> tuple[str, ...]:
    """Return the scope values, without patterns and those for refresh tokens."""
    scope = (record.text("scope") or "").split()
    return tuple(dict.fromkeys(one for one in scope if "*" not in one and one not in OFFLINE))


def read_client(record: Record, found: Found, *, scopes: Sequence[str]) -> None:
    """Add a client, with the scope values that exist here."""
    method = record.text("token_endpoint_auth_method") or "client_secret_basic"
    grant_types = _grant_types(record, found)
    redirect_uris = record.texts("redirect_uris")
    entry: dict[str, object] = {
        "client_id": client_id_of(record),
        **{key: record.text(key) for key in _COPIED},
        **{key: list(record.texts(key)) or None for key in _LISTS},
        "require_client_secret": method != "none",
        "token_endpoint_auth_method": method,
        "token_endpoint_auth_signing_alg": _assertion_algorithm(record, method),
        "client_secrets": _secrets(record, method),
        "jwks": _public_keys(record),
        "allowed_grant_types": sorted(grant_types),
        "allowed_response_types": _response_types(record, grant_types, found),
        "allowed_scopes": list(scopes),
        "allow_offline_access": not OFFLINE.isdisjoint((record.text("scope") or "").split()),
        "allow_insecure_redirect_uris": True
        if any(map(crosses_public_network, redirect_uris))
        else None,
        "require_pkce": False,
        "require_consent": not record.flag("skip_consent", default=False),
        "access_token_type": "jwt"
        if record.text("access_token_strategy") == "jwt"
        else "reference",
        "subject_type": _subject_type(record),
        "userinfo_signed_response_alg": _unless_none(record.text("userinfo_signed_response_alg")),
        **_logout(record),
        **_lifetimes(record, grant_types, found),
        "properties": _properties(record),
    }
    CLIENT.report(record, found.report)
    _report_patterns(record, found)
    found.add("clients", record.place, entry)


def _grant_types(record: Record, found: Found) -> frozenset[str]:
    listed = frozenset(record.texts("grant_types") or ("authorization_code",))
    for name in sorted(listed - GRANT_TYPES):
        shown = "this one" if name != "password" else "password"
        found.report.leave_out(
            record.below("grant_types"),
            f"Hydra has no grant of this name ({shown})",
            "add it to allowed_grant_types if an application needs it",
        )
    if JWT_BEARER in listed:
        found.report.change(
            record.below("grant_types"),
            "the issuers whose assertions count stand in trusted_issuers; Hydra keeps them outside of clients",
        )
    return listed & GRANT_TYPES


def _response_types(record: Record, grant_types: frozenset[str], found: Found) -> list[str] | None:
    """Return the response types that the grants allow; others never worked at Hydra either."""
    names = list[str]()
    for name in record.texts("response_types") or ("code",):
        try:
            known = parse_response_type(name).name
        except UnsupportedResponseType:
            reason, remedy = "this response type is unknown", "leave it out"
            found.report.leave_out(record.below("response_types"), reason, remedy)
            continue
        words = known.split()
        needed = {"authorization_code"} if "code" in words else set[str]()
        needed |= {"implicit"} if {"token", "id_token"} & set(words) else set()
        if needed <= grant_types:
            names.append(known)
    return names if {"authorization_code", "implicit"} & grant_types else None


def _secrets(record: Record, method: str) -> list[dict[str, object]] | None:
    """Return the secret: rows have its hash, and what is written for `hydra import` has the secret itself."""
    stored = record.text("client_secret")
    if method not in SECRET_METHODS:
        return None
    if stored is None and is_row(record):
        raise Misplaced(record.below("client_secret"), "is missing", _NEW_SECRET)
    if stored is None:
        reason = "the admin API does not say the hash of its secret"
        raise Misplaced(record.below("client_secret"), reason, "import the rows of hydra_client")
    if not is_row(record) and not _HASH.match(stored):
        return [{"sha256": hash_by_sha256(stored)}]
    if stored.startswith(("$pbkdf2-sha224$", "$pbkdf2-sha384$")):
        reason = "the hash function of its secret is SHA-3, which is not supported"
        raise Misplaced(record.below("client_secret"), reason, _NEW_SECRET)
    try:
        parse_hash(stored)
    except UnusableHash as error:
        reason = f"the hash of its secret {error}"
        raise Misplaced(record.below("client_secret"), reason, _NEW_SECRET) from None
    return [{"hash": stored}]


def _assertion_algorithm(record: Record, method: str) -> str | None:
    if method != "private_key_jwt":
        return None
    return record.text("token_endpoint_auth_signing_alg") or "RS256"


def _public_keys(record: Record) -> dict[str, object] | None:
    keys = [
        {name: value for name, value in each.members().items() if name not in PRIVATE_MEMBERS}
        for each in record.record("jwks").records("keys")
        if each.text("kty") != "oct"
    ]
    return {"keys": cast("object", keys)} if keys else None


def _subject_type(record: Record) -> str | None:
    if record.text("subject_type") == "pairwise":
        reason = "pairwise subjects are computed in another way here, so that its users would become others"
        raise Misplaced(record.below("subject_type"), reason)
    return None


def _unless_none(algorithm: str | None) -> str | None:
    return None if algorithm == "none" else algorithm


def _logout(record: Record) -> dict[str, object]:
    """Return whether the logout messages name the session; Hydra's default is that they do not."""
    return {
        f"{channel}_logout_session_required": record.flag(
            f"{channel}_logout_session_required", default=False
        )
        for channel in ("frontchannel", "backchannel")
        if record.text(f"{channel}_logout_uri") is not None
    }


def _lifetimes(record: Record, grant_types: frozenset[str], found: Found) -> dict[str, object]:
    """Return the lifetimes: one for each kind of token, where Hydra has one for each grant, too."""
    entry: dict[str, object] = {
        "access_token_lifetime": _shortest(record, grant_types, _ACCESS_LIFETIMES, _HOUR, found),
        "identity_token_lifetime": _shortest(
            record, grant_types, _IDENTITY_LIFETIMES, _HOUR, found
        ),
    }
    if "refresh_token" in grant_types:
        sliding = _shortest(record, grant_types, _REFRESH_LIFETIMES, _REFRESH, found)
        entry |= {
            "refresh_token_expiration": "sliding",
            "sliding_refresh_token_lifetime": sliding,
            "absolute_refresh_token_lifetime": max(YEAR, sliding),
        }
    return entry


def _shortest(
    record: Record,
    grant_types: frozenset[str],
    keys: Mapping[str, str],
    default: int,
    found: Found,
) -> int:
    used = {
        key: _lifetime(record, key) or default
        for grant, key in keys.items()
        if grant in grant_types
    }
    if len(set(used.values())) > 1:
        longest = max(used, key=lambda key: used[key])
        reason = "lifetimes differ by grant there; the shortest counts for all grants here"
        found.report.change(record.below(longest), reason)
    return min(used.values(), default=default)


def _lifetime(record: Record, key: str) -> int | None:
    value = record.get(key)
    if value is None or value == "":
        return None
    written = str(value)
    seconds = int(written) // NANOSECONDS if written.isdecimal() else record.duration(key)
    if not seconds:
        raise Misplaced(record.below(key), 'is no duration such as "1h30m0s", and no nanoseconds')
    return seconds


def _properties(record: Record) -> dict[str, object] | None:
    properties = dict(record.record("metadata").members())
    owner = record.text("owner")
    return {**({"owner": owner} if owner else {}), **properties} or None


def _report_patterns(record: Record, found: Found) -> None:
    if any("*" in value for value in (record.text("scope") or "").split()):
        reason = "scope values with * are patterns of Hydra; here each value is listed"
        remedy = "list what the client asks for in allowed_scopes"
        found.report.leave_out(record.below("scope"), reason, remedy)
