"""What the claims parameter insists on: so far, how the person has to sign in (OIDC Core §5.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from service.protocol.errors import InvalidRequest


def essential_acr(claims: str | None) -> tuple[str, ...] | None:
    """The values of which `acr` has to have one, none for any; None without essential (OIDC Core §5.5.1.1)."""
    acr = _member(_member(_parsed(claims), "id_token"), "acr")
    if acr.get("essential") is not True:
        return None
    values = acr.get("values", [acr["value"]] if "value" in acr else [])
    if not isinstance(values, list):
        raise InvalidRequest("claims asks for an acr whose values are no array")
    listed = cast("list[object]", values)
    if not all(isinstance(value, str) for value in listed):
        raise InvalidRequest("claims asks for an acr that is not a string")
    return tuple(str(value) for value in listed)


def _parsed(claims: str | None) -> Mapping[str, object]:
    if claims is None:
        return {}
    try:
        parsed: object = json.loads(claims)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("claims is not JSON") from error
    return _object(parsed)


def _member(members: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A member that is an object; null means that nothing special is wanted of it."""
    value = members.get(name)
    return {} if value is None else _object(value)


def _object(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest("claims holds something else where an object is due")
    return cast("dict[str, object]", value)
