"""Long JSON arrays are read as a stream, and whatever is wrong in them has a line (RFC 8259)."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.protocol.json_input import JsonRefused
from service.protocol.json_rows import CHUNK, JsonRows

pytestmark = pytest.mark.rfc("8259#2")


def read(text: str, *, longest: int = 100_000) -> list[object]:
    rows = JsonRows(io.StringIO(text), longest=longest)
    found = [dict(row) for row in rows.read_rows()]
    rows.end()
    return [*found]


def exhaust(rows: JsonRows) -> None:
    for _ in rows.read_rows():
        pass
    rows.end()


@given(
    st.lists(st.dictionaries(st.text(), st.integers(-(2**60), 2**60) | st.text() | st.none())),
    st.sampled_from([None, 1]),
)
def test_rows_are_those_of_the_whole_document(rows: list[object], indent: int | None) -> None:
    assert read(json.dumps(rows, indent=indent)) == rows


@pytest.mark.parametrize("length", [CHUNK - 20, CHUNK - 8, CHUNK, CHUNK + 8, 3 * CHUNK])
def test_rows_across_the_end_of_a_chunk_are_read(length: int) -> None:
    rows: list[object] = [{"a": "x" * length, "b": True}, {"c": 12, "d": "\u00e9\u2028"}]
    assert read(json.dumps(rows), longest=300_000) == rows


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, r"\[ is missing"),
        ("{}", 1, r"\[ is missing"),
        ('[\n{"a": 1}\n{"b": 2}]', 3, ", is missing"),
        ('[{"a": 1},\n{"b": }\n]' + " " * CHUNK, 2, "is not JSON"),
        ('[\n\n{"a": "b', 3, "is not JSON"),
        ('[{"a": tr', 1, "is not JSON"),
        ('[{"a": 1},]', 1, "is not JSON"),
        ('[{"a": 1, "a": 2}]', 1, "more than once"),
        ("[{},\n3]", 2, "not an object"),
        ('[{"a": NaN}]', 1, "is not JSON"),
        ('[{"a": ' + "[" * 60_000 + "]" * 60_000 + "}]", 1, "nested too deeply"),
        ('[{"a": ' + "9" * 5_000 + "}]", 1, "too long"),
        ('[{"a": "\\ud800"}]', 1, "half a character"),
        ("[{}]\n[{}]", 2, "behind its end"),
        ('[\n{"a": "' + "x" * 200_000 + '"}]', 2, "more than 100000 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_line(text: str, line: int, message: str) -> None:
    rows = JsonRows(io.StringIO(text), longest=100_000)
    with pytest.raises(JsonRefused, match=message):
        exhaust(rows)
    assert rows.line == line


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    file = io.TextIOWrapper(io.BytesIO(b'[{"a": "\xff"}]'), encoding="utf-8")
    with pytest.raises(JsonRefused, match="UTF-8"):
        list(JsonRows(file, longest=10).read_rows())


def test_members_before_the_array_are_read_first() -> None:
    rows = JsonRows(io.StringIO('{"version": 1, "rows": [{"a": 1}, {}]}'), longest=100)
    assert rows.read_members("rows") == {"version": 1}
    assert list(rows.read_rows()) == [{"a": 1}, {}]
    rows.end(closing="}")


@pytest.mark.parametrize(
    "text", ['{"version": 1}', "{}", '{"version": 1, "version": 1, "rows": []}', '{"a": 1 "rows"']
)
def test_document_without_the_array_is_refused(text: str) -> None:
    with pytest.raises(JsonRefused):
        JsonRows(io.StringIO(text), longest=100).read_members("rows")


class Endless(io.TextIOBase):
    """A million rows that are made as they are read."""

    def __init__(self) -> None:
        self.left = 100_000

    def read(self, size: int | None = -1, /) -> str:
        if self.left == 0:
            return ""
        count = min(self.left, 1_000)
        begins = "[" if self.left == 100_000 else ","
        self.left -= count
        return begins + ",".join(['{"a": "b"}'] * count) + ("]" if self.left == 0 else "")


def test_long_array_takes_the_memory_of_a_short_one() -> None:
    file: TextIO = Endless()  # type: ignore[assignment]
    tracemalloc.start()
    count = sum(1 for _ in JsonRows(file, longest=1_000).read_rows())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 100_000
    assert peak < 1_000_000
