"""Takes over the lifetimes of the realm's tokens and sessions."""

from __future__ import annotations

from collections.abc import Mapping

from service.takeover.found import LONGEST_CODE
from service.takeover.node import Node

_OFFLINE_IDLE = 30 * 86400
_TEN_YEARS = 3650 * 86400
"""Where offline sessions have no end."""


_AS_THE_SESSION = -1


def lifetimes(
    realm: Node, attributes: Node, *, offline: bool, is_implicit: bool
) -> Mapping[str, object]:
    """Return the lifetimes of a client; what the client does not say says the realm."""
    token = attributes.number("access.token.lifespan") or realm.number("accessTokenLifespan")
    if is_implicit:
        token = realm.number("accessTokenLifespanForImplicitFlow")
    if token == _AS_THE_SESSION:
        token = realm.number("ssoSessionMaxLifespan")
    kind = "client.offline.session" if offline else "client.session"
    idle = attributes.number(f"{kind}.idle.timeout") or _idle(realm, offline=offline)
    longest = attributes.number(f"{kind}.max.lifespan") or _longest(realm, offline=offline)
    return {
        "access_token_lifetime": _positive(token),
        "identity_token_lifetime": _positive(token),
        "authorization_code_lifetime": _positive(
            min(realm.number("accessCodeLifespan") or 0, LONGEST_CODE)
        ),
        "device_code_lifetime": _positive(
            attributes.number("oauth2.device.code.lifespan")
            or realm.number("oauth2DeviceCodeLifespan")
        ),
        "pushed_authorization_lifetime": _positive(
            realm.below("attributes").number("parRequestUriLifespan")
        ),
        "refresh_token_usage": "one_time" if realm.flag("revokeRefreshToken") else "reuse",
        "refresh_token_expiration": "sliding" if _positive(idle) else None,
        "sliding_refresh_token_lifetime": _positive(idle),
        "absolute_refresh_token_lifetime": _positive(max(idle or 0, longest or 0)),
    }


def _idle(realm: Node, *, offline: bool) -> int | None:
    if offline:
        own = realm.number("clientOfflineSessionIdleTimeout")
        return own or realm.number("offlineSessionIdleTimeout") or _OFFLINE_IDLE
    return realm.number("clientSessionIdleTimeout") or realm.number("ssoSessionIdleTimeout")


def _longest(realm: Node, *, offline: bool) -> int | None:
    if offline:
        if not realm.flag("offlineSessionMaxLifespanEnabled"):
            return _TEN_YEARS
        own = realm.number("clientOfflineSessionMaxLifespan")
        return own or realm.number("offlineSessionMaxLifespan") or _TEN_YEARS
    return realm.number("clientSessionMaxLifespan") or realm.number("ssoSessionMaxLifespan")


def _positive(seconds: int | None) -> int | None:
    return seconds if seconds and seconds > 0 else None


def session_lifetimes(realm: Node) -> Mapping[str, int]:
    """Return the section `session`."""
    found = {
        "lifetime": _positive(realm.number("ssoSessionIdleTimeout")),
        "max_lifetime": _positive(realm.number("ssoSessionMaxLifespan")),
    }
    return {name: seconds for name, seconds in found.items() if seconds}
