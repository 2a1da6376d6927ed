"""README.md: its requests, pasted into a shell, give what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documentation.conftest import Shell
from tests.documentation.reading import REPOSITORY, Block, blocks, headings, says
from tests.documentation.signing_in import code_at
from tests.driving.browser import Browser

pytestmark = pytest.mark.needs("curl")

README = REPOSITORY / "README.md"
ORDER = [
    "Run",
    "I want to …",
    "First token",
    "Sign in",
    "Delegation",
    "Configuration",
    "Links",
]


DELEGATION = REPOSITORY / "docs/delegation.md"


def section(name: str, page: Path = README) -> list[Block]:
    return [block for block in blocks(page) if block.section == name]


def test_the_sections_stand_in_their_order() -> None:
    assert headings(README) == ORDER


def test_it_says_what_it_is_in_three_lines() -> None:
    _, says, *_ = README.read_text().split("\n\n")
    assert len(says.splitlines()) == 3


def test_its_pictures_are_there_and_small() -> None:
    pictures = re.findall(r'<img src="([^"]+)" alt="[^"]+"', README.read_text())
    assert len(pictures) == 2
    assert max((REPOSITORY / picture).stat().st_size for picture in pictures) < 100_000


def test_every_answer_ends_its_line() -> None:
    printing = [
        line
        for block in blocks(README)
        if block.language == "sh"
        for line in block.text.splitlines()
        if re.search(r"http://localhost:8080/\S+(; echo)?$", line)
    ]
    assert len(printing) > 3
    assert all(line.endswith("; echo") for line in printing)


@pytest.mark.parametrize(
    ("page", "name"),
    [(README, "First token"), (DELEGATION, "Delegation in three requests")],
    ids=["README", "delegation"],
)
def test_requests_give_what_the_page_says(page: Path, name: str, shell: Shell) -> None:
    commands = [block.text for block in section(name, page) if block.language == "sh"]
    answers = [block.text for block in section(name, page) if block.language == "json"]
    printed = shell(commands)
    assert len(commands) == len(answers) > 0
    assert [one for one in zip(answers, printed, strict=True) if not says(*one)] == []


async def test_signing_in_gives_what_the_page_says(
    shell: Shell, demonstration_browser: Browser
) -> None:
    link, command, answer = section("Sign in")
    code = await code_at(demonstration_browser, link.text)
    (printed,) = shell([command.text.replace("CODE", code)])
    assert says(answer.text, printed), printed


def test_every_make_target_that_it_names_is_there() -> None:
    named = set(re.findall(r"\bmake ([\w-]+)", README.read_text()))
    assert named <= set(
        re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    )


def test_the_list_of_pages_leads_to_each_page() -> None:
    listed = (REPOSITORY / "docs/README.md").read_text()
    pages = {page.name for page in (REPOSITORY / "docs").glob("*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page}" not in listed} == set()
