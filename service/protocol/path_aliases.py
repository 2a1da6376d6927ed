"""The paths of other servers at which the endpoints of this one answer, too, so that clients need no new URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Literal

import msgspec

from service.protocol import paths

Server = Literal["keycloak", "identityserver", "hydra", "dex"]

_OPENID_CONNECT = "/protocol/openid-connect"
LOGIN_STATUS = f"{_OPENID_CONNECT}/login-status-iframe.html"
THIRD_PARTY_COOKIES = (
    f"{_OPENID_CONNECT}/3p-cookies/step1.html",
    f"{_OPENID_CONNECT}/3p-cookies/step2.html",
)
"""Pages for keycloak-js, which no other client knows."""

ALIASES: Mapping[Server, Mapping[str, str]] = {
    "keycloak": {
        f"{_OPENID_CONNECT}/auth": paths.AUTHORIZE,
        f"{_OPENID_CONNECT}/token": paths.TOKEN,
        f"{_OPENID_CONNECT}/token/introspect": paths.INTROSPECTION,
        f"{_OPENID_CONNECT}/userinfo": paths.USERINFO,
        f"{_OPENID_CONNECT}/certs": paths.JWKS,
        f"{_OPENID_CONNECT}/logout": paths.END_SESSION,
        f"{_OPENID_CONNECT}/revoke": paths.REVOCATION,
        f"{_OPENID_CONNECT}/ext/par/request": paths.PUSHED_REQUEST,
        f"{_OPENID_CONNECT}/auth/device": paths.DEVICE_AUTHORIZATION,
        f"{_OPENID_CONNECT}/ext/ciba/auth": paths.BACKCHANNEL_AUTHENTICATION,
        "/clients-registrations/openid-connect": paths.REGISTER,
        "/clients-registrations/openid-connect/{name}": paths.REGISTER + "/{name}",
        "/broker/{name}/endpoint": paths.OWN_CALLBACK,
    },
    "identityserver": {
        "/.well-known/openid-configuration/jwks": paths.JWKS,
        "/connect/deviceauthorization": paths.DEVICE_AUTHORIZATION,
    },
    "hydra": {
        "/oauth2/auth": paths.AUTHORIZE,
        "/oauth2/token": paths.TOKEN,
        "/oauth2/revoke": paths.REVOCATION,
        "/oauth2/sessions/logout": paths.END_SESSION,
        "/userinfo": paths.USERINFO,
    },
    "dex": {
        "/auth": paths.AUTHORIZE,
        "/token": paths.TOKEN,
        "/keys": paths.JWKS,
        "/userinfo": paths.USERINFO,
        "/token/introspect": paths.INTROSPECTION,
        "/device/code": paths.DEVICE_AUTHORIZATION,
        "/callback": paths.CALLBACK,
    },
}
"""By server: the path there, and the endpoint here. Paths with `{name}` are those of one provider or client."""


class PathAliases(msgspec.Struct, frozen=True):
    """The aliases that are configured."""

    exact: Mapping[str, str] = {}
    """The own path, by the alias."""
    patterns: tuple[tuple[re.Pattern[str], str], ...] = ()
    listed: tuple[str, ...] = ()
    callback: str | None = None
    """The redirect URI that the server before has at identity providers, as a path, in which `{name}` is the provider's name."""

    @classmethod
    def of(cls, servers: Iterable[Server]) -> PathAliases:
        listed = {alias: own for server in servers for alias, own in ALIASES[server].items()}
        callbacks = {paths.CALLBACK, paths.OWN_CALLBACK}
        return cls(
            {
                alias: own
                for alias, own in listed.items()
                if paths.OWN_NAME not in alias and alias != own
            },
            tuple(
                (
                    re.compile(
                        re.escape(alias).replace(re.escape(paths.OWN_NAME), "(?P<name>[^/]+)")
                    ),
                    own,
                )
                for alias, own in listed.items()
                if paths.OWN_NAME in alias
            ),
            tuple(listed),
            next((alias for alias, own in listed.items() if own in callbacks), None),
        )

    def find_own_path(self, path: str) -> str:
        """Return the path of the endpoint that an alias leads to, or else the path."""
        own = self.exact.get(path)
        if own is None:
            for pattern, own_pattern in self.patterns:
                if found := pattern.fullmatch(path):
                    return own_pattern.replace(paths.OWN_NAME, found["name"])
        return own or path

    def paths_of(self, own: str) -> tuple[str, ...]:
        """Return the path of an endpoint with its aliases."""
        return (own, *[alias for alias, other in self.exact.items() if other == own])


NO_ALIASES = PathAliases()


def find_conflicts(servers: Iterable[Server]) -> Iterator[tuple[Server, Server, str]]:
    """Yield two servers with a path at which they answer differently; each has one callback of identity providers."""
    for one, other in combinations(servers, 2):
        for alias in ALIASES[one].keys() & ALIASES[other].keys():
            if ALIASES[one][alias] != ALIASES[other][alias]:
                yield one, other, alias
        callbacks = [PathAliases.of((each,)).callback for each in (one, other)]
        if None not in callbacks:
            yield one, other, str(callbacks[1])
