"""The caller of an API as its access token describes it, and what an API may demand of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import time

from oauth_resource_server.refusals import InsufficientScope, InsufficientUserAuthentication


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A client, and the user it acts for where there is one."""

    subject: str
    """`sub`: the user, or the client itself."""
    client_id: str | None
    scope: frozenset[str]
    claims: Mapping[str, object]
    """All claims of the access token, or the whole introspection response; verified, not to be changed."""
    token: str = field(repr=False)
    expires_at: float | None
    """Unix time; None where an introspection response names none."""

    @classmethod
    def from_claims(cls, token: str, claims: Mapping[str, object]) -> Caller:
        """Describe the caller by verified claims."""
        scope, client_id = claims.get("scope"), claims.get("client_id", claims.get("azp"))
        expires = claims.get("exp")
        return cls(
            subject=str(claims.get("sub", client_id)),
            client_id=client_id if isinstance(client_id, str) else None,
            scope=frozenset(scope.split(" ") if isinstance(scope, str) else ()) - {""},
            claims=claims,
            token=token,
            expires_at=expires if isinstance(expires, int | float) else None,
        )

    @property
    def acr(self) -> str | None:
        """The authentication context class of the user's authentication (RFC 9470 §6)."""
        acr = self.claims.get("acr")
        return acr if isinstance(acr, str) else None

    @property
    def auth_time(self) -> float | None:
        """The Unix time of the user's authentication (RFC 9470 §6)."""
        at = self.claims.get("auth_time")
        return at if isinstance(at, int | float) and not isinstance(at, bool) else None

    def has_scope(self, *scope: str) -> bool:
        """Whether the token holds all these scope values."""
        return self.scope.issuperset(scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """The requirements of an endpoint."""

    scope: tuple[str, ...] = ()
    """All of them."""
    acr: tuple[str, ...] = ()
    """One of them, in order of preference."""
    max_age: int | None = None
    """Seconds since the user's authentication."""

    def check(self, caller: Caller) -> None:
        """Raise InsufficientScope (RFC 6750 §3.1) or InsufficientUserAuthentication (RFC 9470 §3)."""
        if not caller.has_scope(*self.scope):
            raise InsufficientScope("the access token does not hold the scope that is needed")
        wanted: dict[str, str] = {}
        if self.acr and caller.acr not in self.acr:
            wanted["acr_values"] = " ".join(self.acr)
        if self.max_age is not None and _is_older(caller.auth_time, self.max_age):
            wanted["max_age"] = str(self.max_age)
        if wanted:
            raise InsufficientUserAuthentication(
                "the user has to authenticate again, or more strongly", **wanted
            )


def _is_older(auth_time: float | None, max_age: int) -> bool:
    return auth_time is None or time() - auth_time > max_age
