"""A problem says what to write instead, and never repeats a secret."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.config.reading.source import KNOWN
from service.start.load import inspect

SECRET = "hunter2"


@pytest.fixture
def syntax_problem(file: Path) -> Any:
    def syntax_problem(text: str) -> Any:
        file.write_text(text)
        (problem,) = inspect(file, {})
        return problem

    return syntax_problem


@pytest.mark.parametrize(
    ("text", "place", "excerpt"),
    [
        (f"ui:\n\ttitle: {SECRET}\n", (2, 1), "→title: …\n^"),
        (f"ui:\n  title: a\n\t{SECRET}: b\n", (3, 1), f"→{SECRET}: …\n^"),
        (f"ui:\n  \t- {SECRET}\n", (2, 3), "  →- …\n  ^"),
    ],
    ids=["first", "after spaces", "item"],
)
def test_a_tab_is_shown_with_a_caret(
    syntax_problem: Callable[..., Any], text: str, place: Any, excerpt: Any
) -> None:
    found = syntax_problem(text)
    assert (found.line, found.column) == place
    assert (found.message, found.excerpt) == ("a tab cannot indent a line", excerpt)
    assert "spaces" in found.hint


@pytest.mark.parametrize(
    ("text", "place", "excerpt"),
    [
        (f"ui:\n  title: a\n   logo: {SECRET}\n", (3, 4), "   logo: …\n   ^"),
        (f"ui:\n  title: a\n logo: {SECRET}\n", (3, 2), " logo: …\n ^"),
        (f"clients:\n  - a: 1\n - {SECRET}\n", (3, 2), " - …\n ^"),
        (f"  ui:\nlogo: {SECRET}\n", (2, 1), "logo: …\n^"),
    ],
    ids=["deeper", "between", "item", "before the first"],
)
def test_a_wrong_indent_is_shown_with_a_caret(
    syntax_problem: Callable[..., Any], text: str, place: Any, excerpt: Any
) -> None:
    found = syntax_problem(text)
    assert (found.line, found.column) == place
    assert found.message == "the indent of this line fits no line above it"
    assert found.excerpt == excerpt


def test_the_excerpt_stands_below_the_problem(syntax_problem: Callable[..., Any]) -> None:
    shown = syntax_problem("ui:\n\ttitle: a\n").describe()
    assert shown.splitlines()[1:] == ["    →title: …", "    ^"]


@pytest.mark.parametrize("text", ["ui: {}\na: b: c\n", "a: @b\n", "a: %b\n"])
def test_a_text_that_needs_quotes_is_explained(
    syntax_problem: Callable[..., Any], text: str
) -> None:
    assert syntax_problem(text).hint.endswith("needs quotes")


BEGUN_EARLIER = {
    "list": ("a: [x, y\nb: z\n", (1, 4), "this [ is not closed", "before line 2"),
    "mapping": ("a: {x: y\nb: z\n", (1, 4), "this { is not closed", "before line 2"),
    "value": ("a:\n  b: c\n  d:Nightly job\n  e: f\n", (3, 4), "a space is missing", "key: value"),
    "last": ("a: b\nc:d\n", (2, 2), "a space is missing", "key: value"),
    "first": ("issuer:https://a\nb: c\n", (1, 7), "a space is missing", "key: value"),
    "item": ("a:\n  - b:c\n    d: e\n", (2, 6), "a space is missing", "key: value"),
    "no-colon": (
        "a: b\nnothing here\nc: d\n",
        (2, 1),
        "could not find expected ':'",
        "a colon and",
    ),
    "star": ("a: [*]\n", (1, 5), "a text cannot begin with *", 'write "*" in quotes'),
    "ampersand": ("a: [&]\n", (1, 5), "a text cannot begin with &", 'write "&" in quotes'),
    "no-break space": (
        "issuer:\u00a0http://a.example\nserver:\n  port: 1\n",
        (1, 8),
        "no-break space (U+00A0) stands where YAML needs a space",
        "write a plain space",
    ),
    "no-break space in a list": (
        "clients:\n- client_id:\u00a0a\n  client_name: A\n",
        (2, 13),
        "no-break space (U+00A0) stands where YAML needs a space",
        "write a plain space",
    ),
    "conflict": ("a: b\n<<<<<<< HEAD\nc: d\n=======\n", (2, 1), "a conflict of git", "keep one"),
    "colour": ("ui:\n  accent: #336699\n", (2, 10), "the value is empty", '"#336699"'),
}


@pytest.mark.parametrize(
    ("text", "path", "sign"),
    [
        ("server:\n  host:\u00a0localhost\n", "server", "no-break space (U+00A0)"),
        ("server:\n  host: localhost\n  \u00a0port: 1\n", "server", "no-break space (U+00A0)"),
        ("server:\n  \u2013 host: localhost\n", "server.\u2013 host", "en dash (U+2013)"),
        ("ui:\n  locales:\n    \u2014 en\n", "ui.locales", "em dash (U+2014)"),
    ],
    ids=["after a colon", "indent", "before a key", "before an item"],
)
def test_a_character_that_only_looks_right_is_named(
    problems: Callable[..., Any], text: str, path: str, sign: str
) -> None:
    messages = [found.message for at, found in problems(text).items() if at.startswith(path)]
    assert any(sign in message for message in messages), problems(text)


def test_text_with_such_characters_is_no_problem(problems: Callable[..., Any]) -> None:
    assert problems("ui: {title: 'Caf\u00e9\u00a0\u2013 Sign in'}") == {}
    assert problems("ui:\n  title: \u2013 Sign\u00a0in \u2013\n") == {}


def test_an_entry_that_has_its_name_by_a_merge_is_told_so(problems: Callable[..., Any]) -> None:
    text = (
        "clients:\n- &web {client_id: web, redirect_uris: ['https://w/cb']}\n"
        "- <<: *web\n  client_name: Other\n"
    )
    found = problems(text)["clients[web]"]
    assert found.line == 4
    assert "has no client_id of its own: << brings that of" in found.message


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"), BEGUN_EARLIER.values(), ids=list(BEGUN_EARLIER)
)
def test_a_problem_has_the_line_that_it_begins_in(
    syntax_problem: Callable[..., Any], text: str, place: Any, message: str, hint: str
) -> None:
    found = syntax_problem(text)
    assert (found.line, found.column) == place
    assert found.message.startswith(message)
    assert hint in found.hint


@pytest.mark.parametrize(
    "text",
    ["ui: {title: 'a: #336699'}\n", "ui:\n  title: |\n    a: #336699\n", "ui: {} # a: #336699\n"],
    ids=["quotes", "block", "comment"],
)
def test_a_colour_that_is_no_value_is_no_problem(problems: Callable[..., Any], text: str) -> None:
    assert problems(text) == {}


@pytest.mark.parametrize(
    ("text", "hint"),
    [("clients:\n", "write []"), ("server:\n", "write {}")],
    ids=["list", "section"],
)
def test_a_key_without_a_value_is_explained(
    problems: Callable[..., Any], text: str, hint: str
) -> None:
    (found,) = problems(text).values()
    assert found.hint == f"it is empty: remove the key, or {hint}"


@pytest.mark.parametrize("secrets", [f"[{SECRET}]", f"\n  - {SECRET}", SECRET])
@pytest.mark.parametrize(
    ("section", "key"),
    [("clients:\n- client_id", "client_secrets"), ("api_resources:\n- name", "secrets")],
    ids=["client", "API"],
)
def test_a_plain_secret_in_a_list_is_explained(
    problems: Callable[..., Any], section: Any, key: Any, secrets: Any
) -> None:
    found = problems(f"{section}: web\n  {key}: {secrets}\n")
    (problem,) = (each for path, each in found.items() if f"web].{key}" in path)
    assert "write `- sha256: …`" in problem.hint
    assert SECRET not in str(found)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("api1 api2", "write [api1, api2]"),
        ("api1, api2", "write [api1, api2]"),
        ("api1", "write [api1]"),
        ("'{a}'", "write a list: [one, two]"),
    ],
)
def test_words_in_place_of_a_list_are_explained(
    problems: Callable[..., Any], written: Any, hint: str
) -> None:
    found = problems(f"clients:\n- client_id: web\n  allowed_scopes: {written}\n")
    assert found["clients[web].allowed_scopes"].hint == hint


def test_what_may_be_a_secret_is_not_shown_as_a_list(problems: Callable[..., Any]) -> None:
    found = problems(f"registration: {{initial_access_token_sha256: {SECRET}}}")
    assert found["registration.initial_access_token_sha256"].hint == "write a list: [one, two]"
    assert SECRET not in str(found)


@pytest.mark.parametrize(
    ("word", "hint"),
    [("yes", "write true"), ("On", "write true"), ("no", "write false"), ("maybe", None)],
)
def test_a_word_in_place_of_a_bool_is_explained(
    problems: Callable[..., Any], word: str, hint: str
) -> None:
    found = problems(f"registration: {{enabled: {word}}}")["registration.enabled"]
    assert (found.message, found.hint) == ("expected true or false", hint)


@pytest.mark.parametrize("key", ["logging", "log_level"])
def test_the_level_of_the_log_is_no_key(problems: Callable[..., Any], key: Any) -> None:
    assert "SERVICE_LOG_LEVEL" in problems(f"{key}: {{level: debug}}")[key].hint


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("extension_grants: [{handler: 'no_such.module:Grant'}]", "extension_grants[no_such.module:Grant].handler"),
        ("users: {source: 'no_such.module:Users'}", "users.source"),
    ],
    ids=["handler", "users"],
)  # fmt: skip
def test_a_module_that_is_not_found_names_pythonpath(
    problems: Callable[..., Any], text: str, path: Any
) -> None:
    assert "PYTHONPATH" in problems(text)[path].hint


def test_an_unknown_variable_of_the_service_is_a_warning(problems: Callable[..., Any]) -> None:
    found = problems(SERVICE_PROT="1", SERVICE_CONFIG="x", SERVICE_LOG_LEVEL="info", OTHER="1")[""]
    assert str(found).startswith("SERVICE_PROT: warning: this environment variable is unknown")
    assert found.hint == "did you mean SERVICE_PORT?"


def test_every_variable_that_the_service_reads_is_known() -> None:
    sources = (path.read_text(encoding="utf-8") for path in Path("service").rglob("*.py"))
    assert {
        name for text in sources for name in re.findall(r"(?<!HTTPStatus\.)SERVICE_[A-Z_]+", text)
    } == {*KNOWN}


def test_a_variable_that_the_file_refers_to_is_known(problems: Callable[..., Any]) -> None:
    text = "ui: {title: '${SERVICE_TITLE}', default_locale: '${SERVICE_LOCALE:-en}'}"
    assert problems(text, SERVICE_TITLE="a", SERVICE_LOCALE="en") == {}
