"""Conditions on claims, by which config.yaml gives users permissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast


def is_any_met(
    conditions: Iterable[Mapping[str, Iterable[object]]], claims: Mapping[str, object]
) -> bool:
    """Return whether one of the conditions holds; a claim that is a list has all the values in it."""
    return any(
        all(_has_value(claims.get(name), accepted) for name, accepted in condition.items())
        for condition in conditions
    )


def _has_value(claim: object, accepted: Iterable[object]) -> bool:
    """Return whether the claim, or one of its values, is accepted; true is not 1."""
    values = cast("list[object]", claim) if isinstance(claim, list) else [claim]
    return any(type(value) is type(one) and value == one for value in values for one in accepted)
