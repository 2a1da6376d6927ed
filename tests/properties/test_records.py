"""Every record comes out of the store as it went in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.model.authorization import Spent
from service.store.records import Records
from service.store.verbs import Command
from tests.store.table import STORES, find_kinds

INTEGERS = st.integers(min_value=-(2**63), max_value=2**63 - 1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | INTEGERS
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=6,
)
KINDS: Mapping[str, Records[Any]] = {
    name: kind for name, kind in find_kinds() if isinstance(kind, Records)
}
ONCE = (STORES.codes, STORES.refresh_tokens, STORES.pending_sign_ins)


SIMPLE: Mapping[Any, st.SearchStrategy[Any]] = {
    int: INTEGERS,
    float: st.floats(allow_nan=False, allow_infinity=False),
    object: JSON,
}
"""As far as JSON goes."""


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as deep as it goes."""
    if is_dataclass(kind) or isinstance(kind, type(msgspec.Struct)):
        hints = get_type_hints(kind)
        return st.builds(
            cast("Callable[..., Any]", kind),
            **{name: values_of(hint) for name, hint in hints.items()},
        )
    if get_origin(kind) in {Union, UnionType}:
        return st.one_of(*(values_of(one) for one in get_args(kind)))
    if kind in SIMPLE:
        return SIMPLE[kind]
    if get_origin(kind) in {dict, Mapping}:
        return st.dictionaries(*(values_of(one) for one in get_args(kind)), max_size=4)
    if get_origin(kind) is tuple and get_args(kind)[1:] == (...,):
        return st.lists(values_of(get_args(kind)[0]), max_size=3).map(tuple)
    return st.from_type(kind)


def value_in(command: Command) -> bytes:
    """Return the value that a SET writes."""
    _, _, value, *_ = command
    assert isinstance(value, bytes)
    return value


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_record_survives_the_store(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    record = data.draw(values_of(kind.encoding.type))
    assert kind.decode(value_in(kind.put(record, "selector", "digest", ttl=1))) == record


@given(values_of(Spent))
def test_a_marker_is_never_taken_for_a_record(marker: Spent) -> None:
    for kind in ONCE:
        assert kind.decode(value_in(kind.swap(marker, "selector", "digest", ttl=1))) == marker


@given(st.binary())
def test_foreign_bytes_are_an_error_and_not_a_record(value: bytes) -> None:
    for kind in (STORES.authorizations, STORES.codes, STORES.refresh_tokens, STORES.sessions):
        with pytest.raises(ValueError):  # noqa: PT011 - any that names no record
            kind.decode(value)
