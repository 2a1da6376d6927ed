"""A token request can leave granted details out, and never says more (RFC 9396 §6, §6.1)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.protocol.authorization_details import Detail, is_part, narrow_details
from service.protocol.errors import InvalidAuthorizationDetails
from tests.driving.service import claims_in
from tests.rich_requests.details import ACCOUNTS, PAYMENT, Asking, encode

pytestmark = pytest.mark.rfc("9396#6", "9396#6.1")

OFFLINE = "openid api1 offline_access"

NARROWER: dict[str, list[dict[str, Any]]] = {
    "one object of two": [PAYMENT],
    "the other object": [ACCOUNTS],
    "in another order": [ACCOUNTS, PAYMENT],
    "an element of actions": [PAYMENT | {"actions": ["status"]}],
    "in another order of elements": [PAYMENT | {"actions": ["status", "initiate"]}],
    "elements of both": [PAYMENT | {"actions": ["status"]}, ACCOUNTS | {"actions": ["read"]}],
}


@pytest.mark.parametrize("asked", NARROWER.values(), ids=NARROWER.keys())
async def test_a_code_is_redeemed_for_less(asking: Asking, asked: list[Detail]) -> None:
    code = await asking.code(PAYMENT, ACCOUNTS)
    tokens = await asking.app.redeem(code, authorization_details=encode(*asked))
    assert tokens["authorization_details"] == asked
    assert claims_in(tokens["access_token"])["authorization_details"] == asked


async def test_a_narrow_refresh_narrows_one_access_token_only(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT, ACCOUNTS, scope=OFFLINE)
    once = await asking.app.refresh(tokens["refresh_token"], authorization_details=encode(ACCOUNTS))
    assert once["authorization_details"] == [ACCOUNTS]
    assert "payments" not in claims_in(once["access_token"])["aud"]
    again = await asking.app.refresh(once["refresh_token"])
    assert again["authorization_details"] == [PAYMENT, ACCOUNTS]


@pytest.mark.parametrize("other", [7, {"at": "work"}], ids=["a number", "an object"])
async def test_a_list_of_more_than_words_is_asked_for_as_it_was_granted(
    asking: Asking, other: object
) -> None:
    granted = ACCOUNTS | {"locations": ["https://bank.example", other]}
    code = await asking.code(granted)
    less = ACCOUNTS | {"locations": ["https://bank.example"]}
    answer = await asking.app.redeem(code, authorization_details=encode(less))
    assert answer.refusal == (400, "invalid_authorization_details")
    tokens = await asking.app.redeem(code, authorization_details=encode(granted))
    assert tokens["authorization_details"] == [granted]


async def test_one_of_many_narrowing_redemptions_wins(asking: Asking) -> None:
    code = await asking.code(PAYMENT, ACCOUNTS)
    several = [encode(PAYMENT), encode(ACCOUNTS)] * 5
    answers = await asyncio.gather(
        *(asking.app.redeem(code, authorization_details=each) for each in several)
    )
    assert [answer.status for answer in answers].count(200) == 1


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(-1, 1), st.text("ab"))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy"), inner, max_size=3),
    max_leaves=5,
)
WORDS = st.lists(st.sampled_from(["read", "write", "pay"]), max_size=3)
DETAILS = st.fixed_dictionaries(
    {"type": st.sampled_from(["a", "b"])},
    optional={"actions": WORDS, "locations": WORDS | SCALARS, "amount": VALUES},
)


def allowed_by(detail: Detail) -> list[tuple[str, ...]]:
    """The permissions of an object, one by one: each action at each location."""
    lists = [detail.get(name) for name in ("actions", "locations")]
    pairs = [each if isinstance(each, list) and each else [repr(each)] for each in lists]
    rest = repr(
        {name: detail[name] for name in sorted(detail) if name not in ("actions", "locations")}
    )
    return [(rest, str(action), str(place)) for action in pairs[0] for place in pairs[1]]


@given(granted=st.lists(DETAILS, max_size=4), asked=st.lists(DETAILS, min_size=1, max_size=4))
def test_whatever_is_asked_for_is_granted_by_as_many_objects(
    granted: list[Detail], asked: list[Detail]
) -> None:
    try:
        narrowed = narrow_details(tuple(granted), tuple(asked))
    except InvalidAuthorizationDetails:
        return
    assert list(narrowed) == asked
    assert len(asked) <= len(granted)
    everything = {one for detail in granted for one in allowed_by(detail)}
    assert {one for detail in asked for one in allowed_by(detail)} <= everything


@given(granted=st.lists(DETAILS, min_size=1, max_size=5), choices=st.data())
def test_whatever_is_left_out_is_still_granted(
    granted: list[Detail], choices: st.DataObject
) -> None:
    kept = choices.draw(st.permutations(granted))[: choices.draw(st.integers(1, len(granted)))]
    narrower: list[Detail] = []
    for detail in kept:
        words = detail.get("actions")
        part = dict(detail)
        if isinstance(words, list) and words:
            part["actions"] = choices.draw(
                st.lists(st.sampled_from(words), min_size=1, unique=True)
            )
        narrower.append(part)
    assert list(narrow_details(tuple(granted), tuple(narrower))) == narrower


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (0, False),
        ("1", 1),
        (None, False),
        ([1], [True]),
        ({"a": 1}, {"a": True}),
        ([], {}),
    ],
)
def test_values_of_another_type_are_not_the_same(one: object, other: object) -> None:
    assert not is_part({"type": "a", "amount": one}, {"type": "a", "amount": other})
