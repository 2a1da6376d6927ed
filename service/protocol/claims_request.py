"""The claims parameter: claims that a client requests one by one (OIDC Core §5.5)."""

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
    """The part of it that an authorization keeps: names for each place, and languages."""

    id_token: tuple[str, ...] = ()
    userinfo: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()
    """The languages preferred for claims, the best one first (OIDC Core §5.2)."""

    @property
    def names(self) -> frozenset[str]:
        """The requested names, whatever their language."""
        return frozenset(name.partition("#")[0] for name in (*self.id_token, *self.userinfo))

    def cut_to(self, names: Collection[str]) -> ClaimsRequest:

        def cut(asked: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in asked if name.partition("#")[0] in names)

        return replace(self, id_token=cut(self.id_token), userinfo=cut(self.userinfo))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRequest:
    """One requested claim; null requests it without more (OIDC Core §5.5.1)."""

    essential: bool = False
    values: tuple[object, ...] = ()
    """The acceptable values, the best one first; empty for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsParameter:
    """The claims requested in the ID token and at userinfo."""

    id_token: Mapping[str, ClaimRequest] = field(default_factory=dict[str, ClaimRequest])
    userinfo: Mapping[str, ClaimRequest] = field(default_factory=dict[str, ClaimRequest])

    @property
    def acr(self) -> ClaimRequest | None:
        return self.id_token.get("acr")

    @property
    def acr_values(self) -> tuple[str, ...]:
        """The acceptable authentication contexts, the best one first; empty for any."""
        return _read_strings(self.acr, "claims.id_token.acr")

    @property
    def subjects(self) -> tuple[frozenset[str], ...]:
        """Sets of subjects; the user has to be in each of them (OIDC Core §3.1.2.2)."""
        asked = (
            _read_strings(self.id_token.get("sub"), "claims.id_token.sub"),
            _read_strings(self.userinfo.get("sub"), "claims.userinfo.sub"),
        )
        return tuple(frozenset(values) for values in asked if values)


def parse_claims(text: str | None) -> ClaimsParameter:
    """Read a claims parameter; unknown members mean nothing (OIDC Core §5.5)."""
    if text is None:
        return ClaimsParameter()
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("claims is not JSON") from error
    members = _read_object(parsed, "claims")
    asked = ClaimsParameter(
        id_token=_read_requests(members.get("id_token"), "claims.id_token"),
        userinfo=_read_requests(members.get("userinfo"), "claims.userinfo"),
    )
    _ = asked.acr_values, asked.subjects  # they must be strings
    return asked


def _read_requests(value: object, path: str) -> dict[str, ClaimRequest]:
    if value is None:
        return {}
    return {
        # The caller chose the name.
        name: _read_request(
            one, f"{path}.{name if _ORDINARY_NAME.fullmatch(name) else '(a claim)'}"
        )
        for name, one in _read_object(value, path).items()
    }


def _read_request(value: object, path: str) -> ClaimRequest:
    if value is None:
        return ClaimRequest()
    members = _read_object(value, path, or_null=True)
    essential, values = members.get("essential", False), members.get("values", [])
    if not isinstance(essential, bool):
        raise InvalidRequest(f"{path}.essential is neither true nor false")
    if not isinstance(values, list):
        raise InvalidRequest(f"{path}.values is not an array")
    one = [members["value"]] if "value" in members else []
    return ClaimRequest(essential=essential, values=(*one, *cast("list[object]", values)))


def _read_object(value: object, path: str, *, or_null: bool = False) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{path} is not an object{' or null' if or_null else ''}")
    return cast("dict[str, object]", value)


def _read_strings(request: ClaimRequest | None, path: str) -> tuple[str, ...]:
    values = () if request is None else request.values
    if not all(isinstance(value, str) for value in values):
        raise InvalidRequest(f"{path} is asked for with a value that is not a string")
    return cast("tuple[str, ...]", values)
