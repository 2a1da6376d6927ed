"""A body names a user in exactly one way, or is refused (RFC 9493 §3)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.protocol.errors import InvalidRequest
from service.protocol.json_input import JsonRefused, parse_unambiguous_json
from service.protocol.subject_identifiers import (
    EmailAddress,
    IssuerAndSubject,
    OpaqueId,
    SubjectIdentifier,
    read_sub_id,
)
from service.protocol.typed_text import INVISIBLE

pytestmark = pytest.mark.rfc("9493#3")

TEXT = st.text(min_size=1, max_size=255).filter(lambda text: not INVISIBLE.search(text))
PROPER = st.one_of(
    st.builds(IssuerAndSubject, iss=TEXT, sub=TEXT),
    st.builds(EmailAddress, email=TEXT),
    st.builds(OpaqueId, id=TEXT),
)
WORDS = st.sampled_from(
    ["sub_id", "format", "iss_sub", "email", "opaque", "iss", "sub", "id", "phone_number", "x"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=300),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=4),
    max_leaves=8,
)


def members_of(identifier: SubjectIdentifier) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(identifier)
    return members


@given(PROPER)
def test_a_proper_identifier_is_read_as_it_is(identifier: SubjectIdentifier) -> None:
    assert read_sub_id({"sub_id": members_of(identifier)}) == identifier


@given(PROPER, WORDS.filter(lambda word: word != "sub_id"), VALUES)
def test_an_identifier_with_another_member_is_refused(
    identifier: SubjectIdentifier, name: str, value: object
) -> None:
    members = members_of(identifier)
    if name not in members:
        with pytest.raises(InvalidRequest):
            read_sub_id({"sub_id": members | {name: value}})
    with pytest.raises(InvalidRequest):
        read_sub_id({"sub_id": members, name: value})


@pytest.mark.parametrize("text", ["a\u200b", "a\x00", "\u202ea"])
@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"format": "iss_sub", "iss": "https://id.example", "sub": "a"}, "iss"),
        ({"format": "iss_sub", "iss": "https://id.example", "sub": "a"}, "sub"),
        ({"format": "email", "email": "a"}, "email"),
        ({"format": "opaque", "id": "a"}, "id"),
    ],
)
def test_an_identifier_with_an_invisible_character_is_refused(
    members: dict[str, str], name: str, text: str
) -> None:
    assert members_of(read_sub_id({"sub_id": members})) == members
    with pytest.raises(InvalidRequest):
        read_sub_id({"sub_id": members | {name: text}})


@pytest.mark.parametrize(
    "sub_id",
    [{"format": "<sent>"}, {"format": "opaque", "id": "a", "<sent>": 1}, {"<sent>": 1}, ["<sent>"]],
    ids=str,
)
def test_a_refusal_repeats_nothing_of_what_was_sent(sub_id: object) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read_sub_id({"sub_id": sub_id})
    assert "sent" not in refused.value.description


@given(VALUES)
def test_any_value_is_read_or_refused_with_a_short_reason(value: object) -> None:
    for body in (value, {"sub_id": value}):
        assert _read(body) in (None, body)


def _read(body: object) -> object:
    """The body again, if an identifier is read from it; None if it is refused."""
    try:
        return {"sub_id": members_of(read_sub_id(body))}
    except InvalidRequest as refused:
        return None if 0 < len(refused.description) <= 200 else refused


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with pytest.raises((JsonRefused, InvalidRequest)):
        read_sub_id(parse_unambiguous_json(body))
