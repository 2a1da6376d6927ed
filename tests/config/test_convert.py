"""A value of the file becomes a struct, or everything in it that does not fit is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.config.convert import convert
from service.config.schema.file import ConfigurationFile
from service.model import marks, types
from service.model.client_entry import ClientEntry

WORDS = st.sampled_from([*ClientEntry.__struct_fields__, "https://a.example", "10s", "\ud800"])
TEXTS = WORDS | st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=8,
)


First = Literal["a"]
Second = Literal["b"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A struct below another one."""

    name: types.ShortName
    lifetime: types.Lifetime = 60


class Whole(marks.Confidential, frozen=True, kw_only=True):
    """A struct with a key of each kind."""

    part: Part
    parts: tuple[Part, ...] = ()
    kinds: frozenset[Literal["one", "two"]] = frozenset()
    links: dict[types.ShortName, types.WebUrl] = msgspec.field(default_factory=dict)
    password: Annotated[str | None, marks.SECRET] = None
    either: Annotated[First | Second | None, "a mark of somebody else"] = None
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None


def misfits_of(value: object, annotation: object = Whole) -> list[marks.Misfit]:
    with pytest.raises(marks.Unfit) as refused:
        convert(value, annotation)
    return [*refused.value.misfits]


def places(misfits: Iterable[marks.Misfit]) -> list[str]:
    return [".".join(map(str, misfit.location)) for misfit in misfits]


def test_all_keys_are_converted() -> None:
    written = {
        "part": {"name": "a", "lifetime": "2m"},
        "parts": [{"name": "b"}],
        "kinds": ["one", "two"],
        "links": {"help": "https://a.example"},
        "either": "b",
        "limit": 1,
    }
    assert convert(written, Whole) == Whole(
        part=Part(name="a", lifetime=120),
        parts=(Part(name="b"),),
        kinds=frozenset({"one", "two"}),
        links={"help": "https://a.example"},
        either="b",
        limit=1,
    )


def test_every_misfit_is_named_in_the_order_of_the_keys() -> None:
    written = {
        "limit": 0,
        "other": 1,
        "parts": [{"name": "b"}, {"lifetime": 0, "nam": "c"}, 5],
        "links": {"a b": "x"},
        "kinds": ["three", "one"],
        "either": "c",
    }
    assert places(misfits_of(written)) == [
        *("part", "parts.1.name", "parts.1.lifetime", "parts.1.nam", "parts.2"),
        *("kinds.0", "links.a b", "links.a b", "either", "limit", "other"),
    ]


def test_word_of_a_union_of_words_is_one_of_all() -> None:
    (misfit,) = misfits_of({"part": {"name": "a"}, "either": "c"})
    assert misfit.message == "expected a or b"


def test_secret_is_neither_in_messages_nor_printed() -> None:
    (misfit,) = misfits_of({"part": {"name": "a"}, "password": ["hidden"]})
    assert misfit.is_secret
    made = convert({"part": {"name": "a"}, "password": "hidden"}, Whole)
    assert "hidden" not in f"{made} {misfit.message}"
    assert "name='a'" in str(made)


def test_struct_that_would_show_its_secret_is_refused() -> None:
    class Telltale(msgspec.Struct, frozen=True):
        password: Annotated[str, marks.SECRET]

    with pytest.raises(TypeError, match="would show them"):
        convert({"password": "a"}, Telltale)


def attempt(value: object, annotation: Any) -> marks.Unfit | None:
    """Return the refusal; anything else than a struct or a refusal fails the test."""
    try:
        made = convert(value, annotation)
    except marks.Unfit as error:
        return error
    assert isinstance(made, annotation)
    return None


@pytest.mark.parametrize("annotation", [ConfigurationFile, ClientEntry, Whole])
@given(value=VALUES)
def test_any_value_becomes_a_struct_or_misfits(annotation: Any, value: object) -> None:
    refused = attempt(value, annotation)
    assert refused is None or all(misfit.message for misfit in refused.misfits)


@given(entry=st.dictionaries(st.sampled_from(ClientEntry.__struct_fields__), VALUES))
def test_any_client_becomes_an_entry_or_misfits_at_its_keys(entry: dict[str, object]) -> None:
    refused = attempt({"client_id": "a", **entry}, ClientEntry)
    wrong = refused.misfits if refused else ()
    assert {misfit.location[0] for misfit in wrong} <= {"client_id", *entry}
