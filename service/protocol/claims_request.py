"""The claims parameter: which claims a client asks for one by one, and how (OIDC Core §5.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from service.protocol.errors import InvalidRequest

_ORDINARY_NAME = re.compile(r"[A-Za-z0-9_.:/#-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsRequest:
    """What an authorization keeps of it: the names that each place tells, and in which language."""

    id_token: tuple[str, ...] = ()
    userinfo: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    """The languages preferred for claims, the best one first (OIDC Core §5.2)."""

    @property
    def names(self) -> frozenset[str]:
        """What is asked for, whatever its language."""
        return frozenset(name.partition("#")[0] for name in (*self.id_token, *self.userinfo))

    def cut_to(self, names: Collection[str]) -> ClaimsRequest:
        """What is left of it where only claims of these names are allowed, in any language."""

        def left(asked: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in asked if name.partition("#")[0] in names)

        return replace(self, id_token=left(self.id_token), userinfo=left(self.userinfo))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """How one claim is asked for; null asks for it without more (OIDC Core §5.5.1)."""

    essential: bool = False
    values: tuple[object, ...] = ()
    """Those that will do, the best one first; none for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsParameter:
    """The claims asked for by name, in the identity token and at userinfo."""

    id_token: Mapping[str, ClaimRequest] = field(default_factory=dict[str, ClaimRequest])
    userinfo: Mapping[str, ClaimRequest] = field(default_factory=dict[str, ClaimRequest])

    @property
    def acr(self) -> ClaimRequest | None:
        """How the person has to sign in (OIDC Core §5.5.1.1)."""
        return self.id_token.get("acr")

    @property
    def acr_values(self) -> tuple[str, ...]:
        """The authentication contexts that will do, the best one first; none for any."""
        return _strings(self.acr, "claims.id_token.acr")

    @property
    def subjects(self) -> tuple[frozenset[str], ...]:
        """Whom the answer may be about: somebody who is in each of these sets (OIDC Core §3.1.2.2)."""
        asked = {
            "id_token": _strings(self.id_token.get("sub"), "claims.id_token.sub"),
            "userinfo": _strings(self.userinfo.get("sub"), "claims.userinfo.sub"),
        }
        return tuple(frozenset(values) for values in asked.values() if values)


def parse_claims(text: str | None) -> ClaimsParameter:
    """Read a claims parameter; members that nobody knows mean nothing (OIDC Core §5.5)."""
    if text is None:
        return ClaimsParameter()
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("claims is not JSON") from error
    members = _object(parsed, "claims")
    asked = ClaimsParameter(
        id_token=_requests(members.get("id_token"), "claims.id_token"),
        userinfo=_requests(members.get("userinfo"), "claims.userinfo"),
    )
    _ = asked.acr_values, asked.subjects  # they must be strings
    return asked


def _requests(value: object, path: str) -> dict[str, ClaimRequest]:
    """The requests of one place; null is as good as nothing."""
    if value is None:
        return {}
    return {
        name: _request(request, f"{path}.{_printable(name)}")
        for name, request in _object(value, path).items()
    }


def _request(value: object, path: str) -> ClaimRequest:
    if value is None:
        return ClaimRequest()
    members = _object(value, path, or_null=True)
    essential = members.get("essential", False)
    if not isinstance(essential, bool):
        raise InvalidRequest(f"{path}.essential is neither true nor false")
    values = members.get("values", [])
    if not isinstance(values, list):
        raise InvalidRequest(f"{path}.values is not an array")
    one = [members["value"]] if "value" in members else []
    return ClaimRequest(essential=essential, values=(*one, *cast("list[object]", values)))


def _object(value: object, path: str, *, or_null: bool = False) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{path} is not an object{' or null' if or_null else ''}")
    return cast("dict[str, object]", value)


def _strings(request: ClaimRequest | None, path: str) -> tuple[str, ...]:
    """The values of a claim that is a string."""
    values = () if request is None else request.values
    strings = tuple(value for value in values if isinstance(value, str))
    if len(strings) != len(values):
        raise InvalidRequest(f"{path} is asked for with a value that is not a string")
    return strings


def _printable(name: str) -> str:
    """A claim's name, if it is an ordinary one: the caller chose it."""
    return name if _ORDINARY_NAME.fullmatch(name) else "(a claim)"
