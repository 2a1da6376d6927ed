"""Conditions on users: any of them, all claims in one, any value of a claim; and JSON's types are not Python's."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from service.model.user import is_any_met

NAMES = st.sampled_from(["groups", "sub", "admin"])
SCALARS = st.one_of(st.booleans(), st.integers(0, 2), st.sampled_from(["", "0", "1", "true", "a"]))
VALUES = st.lists(SCALARS, min_size=1, max_size=3)
CONDITIONS = st.lists(st.dictionaries(NAMES, VALUES, min_size=1), max_size=3)
CLAIMS = st.dictionaries(
    NAMES, st.one_of(SCALARS, st.none(), st.lists(SCALARS, max_size=3), st.just({"a": "a"}))
)


def written(value: Any) -> str:
    return json.dumps(value)


def model(conditions: Any, claims: Any) -> bool:
    """The same by JSON texts, in which true is not 1 and 1 is not "1"."""
    return any(
        all(
            {written(one) for one in listed}
            & {
                written(one)
                for one in (claims[name] if isinstance(claims[name], list) else [claims[name]])
            }
            for name, listed in condition.items()
            if name in claims or not listed
        )
        and condition.keys() <= claims.keys()
        for condition in conditions
    )


@given(CONDITIONS, CLAIMS)
def test_a_condition_holds_where_its_model_does(conditions: Any, claims: Any) -> None:
    assert is_any_met(conditions, claims) == model(conditions, claims)


@given(CONDITIONS, CLAIMS, st.dictionaries(NAMES, VALUES, min_size=1), NAMES, SCALARS)
def test_more_conditions_and_more_values_exclude_no_user(
    conditions: Any, claims: Any, further: Any, name: str, value: Any
) -> None:
    if not is_any_met(conditions, claims):
        return
    held = claims.get(name)
    before = held if isinstance(held, list) else [held] if name in claims else []
    assert is_any_met([*conditions, further], claims)
    assert is_any_met(conditions, {**claims, name: [*before, value]})


@given(CONDITIONS)
def test_user_without_claims_meets_no_condition(conditions: Any) -> None:
    assert not is_any_met(conditions, {})
