"""The check of wording, which `make lint` runs on the whole repository, finds its patterns."""

from __future__ import annotations

import pytest

from scripts.plain_words import find_in_attributes, find_in_python, find_in_text


@pytest.mark.parametrize(
    "text",
    [
        "It answers scripts of other origins.",
        "The store is away.",
        "A code is used up.",
    ],
)
def test_wording_with_a_common_term_is_found(text: str) -> None:
    assert [line for line, _ in find_in_text(text)] == [1]


def test_docstring_that_begins_with_a_question_word_is_found() -> None:
    source = '"""Statement."""\n\ndef find():\n    """What it finds."""\n'
    assert [line for line, _ in find_in_python(source)] == [3]


def test_docstring_of_an_attribute_that_begins_with_a_question_word_is_found() -> None:
    source = 'class Kept:\n    name: str\n    """What it is called."""\n    size: int\n    """Bytes."""\n'
    assert [line for line, _ in find_in_attributes(source)] == [3]


def test_name_of_a_test_with_a_word_to_avoid_is_found() -> None:
    assert [line for line, _ in find_in_python("def test_a_stranger_waits(): ...")] == [1]
