"""`make mutants` changes what functions do, one thing at a time, and nothing that no test can notice."""

from __future__ import annotations

import pytest

from scripts.mutations import find_mutants, take_sample

SOURCE = '''
def find(limit: int = 3, *, name: str | None = None) -> int:
    """Return 1 or more."""
    if limit > 5 and not name:
        raise ValueError("above 5")
    log.info("found", extra=1)
    return limit + 1
'''


def changes(source: str) -> set[tuple[str, str]]:
    return {(mutant.before, mutant.after) for mutant in find_mutants("file.py", source)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("limit > 5 and (not name)", "False"),
        ("limit > 5 and (not name)", "limit > 5"),
        ("limit > 5 and (not name)", "not name"),
        ("limit > 5 [Gt]", "limit >= 5 [GtE]"),
        ("not name", "name"),
        ("limit + 1 [Add]", "limit - 1 [Sub]"),
        ("1", "2"),
    ],
)
def test_a_condition_an_operator_and_a_number_are_changed(before: str, after: str) -> None:
    assert (before, after) in changes(SOURCE)


def test_annotations_defaults_texts_and_the_log_stay() -> None:
    kept = {"3", "None", "str | None", "'above 5'", "log.info('found', extra=1)"}
    assert kept.isdisjoint(before for before, _ in changes(SOURCE))


def test_the_changed_function_does_the_change_alone() -> None:
    source = "def find(values):\n    return [one for one in values if one]\n"
    (mutant,) = find_mutants("file.py", source)

    def find(values: list[int]) -> list[int]:
        return values

    find.__code__ = mutant.code
    assert find([0, 1]) == [0, 1]
    assert (mutant.line, mutant.function, mutant.kind) == (2, "find", "filter")


def test_a_sample_has_each_kind_of_change_and_is_the_same_again() -> None:
    mutants = find_mutants("file.py", SOURCE)
    kinds = {mutant.kind for mutant in mutants}
    sample = take_sample(mutants, len(kinds), seed=1)
    assert {mutant.kind for mutant in sample} == kinds
    assert sample == take_sample(mutants, len(kinds), seed=1)
