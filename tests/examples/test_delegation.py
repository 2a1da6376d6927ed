"""examples/delegation: a front end, API 1 and API 2 as processes; API 2 accepts only the exchanged token."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.documentation.reading import REPOSITORY, blocks

EXAMPLE = REPOSITORY / "examples" / "delegation"


@pytest.fixture(scope="module")
def story() -> str:
    """The output of run.py, once for all tests."""
    told = subprocess.run(
        [sys.executable, EXAMPLE / "run.py"], capture_output=True, text=True, timeout=90, check=True
    )
    return told.stdout


def test_the_story_is_the_one_of_its_page(story: str) -> None:
    (shown,) = (block.text for block in blocks(EXAMPLE / "README.md") if block.language == "text")
    assert story == shown


@pytest.mark.parametrize(
    "line",
    [
        "API 2: with the token for API 1: 401",
        'API 1: with the same token: 200 {"user": "818727"',
        "API 1: with the revoked token: 401",
    ],
    ids=["the original is refused", "the exchanged one is accepted", "it dies with its source"],
)
def test_the_story_has_its_turns(story: str, line: str) -> None:
    assert line in story
