"""Values of config.yaml: plain words, durations, and references to variables and files."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

SECRET = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="


@pytest.mark.parametrize(
    ("written", "seconds"), [("90", 90), ("90s", 90), ("15m", 900), ("8h", 28800), ("30d", 2592000)]
)
def test_a_duration_is_seconds_or_has_a_unit(
    read: Callable[..., Any], written: Any, seconds: Any
) -> None:
    assert read(f"limits: {{lockout: {written}}}").limits.lockout == seconds


@pytest.mark.parametrize("written", ["-1", "1.5", "15 m", "1w", "P1D", "true", "''", "1h30m"])
def test_another_duration_is_a_problem(problems: Callable[..., Any], written: Any) -> None:
    found = problems(f"limits: {{lockout: {written}}}")["limits.lockout"]
    assert found.message.startswith("expected whole seconds or a duration")


@pytest.mark.parametrize(("written", "meant"), [("never", "never"), ("90", 90), ("15m", 900)])
def test_a_duration_may_be_never(read: Callable[..., Any], written: str, meant: object) -> None:
    assert read(f"store: {{unready_after: {written}}}").store.unready_after == meant


@pytest.mark.parametrize("written", ["Never", "-1", "null", "1w"])
def test_what_is_neither_a_duration_nor_never_is_one_problem(
    problems: Callable[..., Any], written: str
) -> None:
    found = problems(f"store: {{unready_after: {written}}}")
    assert found.keys() == {"store.unready_after"}
    assert found["store.unready_after"].message.startswith("expected never, whole seconds, or")


def test_a_time_out_may_be_milliseconds(read: Callable[..., Any]) -> None:
    assert read("store: {timeout: 250ms}").store.timeout == 0.25


@pytest.mark.parametrize("word", ["no", "on", "22:30", "1_000", "0x10"])
def test_a_word_stays_a_word(read: Callable[..., Any], word: str) -> None:
    assert read(f"ui: {{title: {word}}}").ui.title == word


def test_yes_is_no_boolean(problems: Callable[..., Any]) -> None:
    found = problems("registration: {enabled: yes}")["registration.enabled"]
    assert found.message == "expected true or false"


def test_a_number_is_no_text(problems: Callable[..., Any]) -> None:
    found = problems("ui: {title: 5}")["ui.title"]
    assert (found.message, found.hint) == (LOCAL, "put it into quotes")


@pytest.mark.parametrize(
    "digest", [SECRET, SECRET.rstrip("="), "2d711642b726b04401627ca9fbac32f5" * 2]
)
def test_a_hash_is_base64_or_hex(read: Callable[..., Any], digest: Any) -> None:
    text = f"api_resources: [{{name: api, secrets: [{{sha256: '{digest}'}}]}}]"
    (secret,) = read(text).registry.api_resources["api"].secrets
    assert len(secret.sha256) == 32


@pytest.mark.parametrize("digest", ["secret", "00", SECRET[:-6] + "=", "ü" * 44])
def test_a_hash_of_another_length_is_a_problem(problems: Callable[..., Any], digest: Any) -> None:
    found = problems(f"api_resources: [{{name: api, secrets: [{{sha256: '{digest}'}}]}}]")
    assert "SHA-256" in found["api_resources[api].secrets[0].sha256"].message


def test_a_variable_is_replaced(read: Callable[..., Any]) -> None:
    assert read("ui: {title: 'Hello ${NAME}!'}", NAME="you").ui.title == "Hello you!"


def test_what_is_put_in_is_not_looked_at_again(read: Callable[..., Any]) -> None:
    assert read("ui: {title: 'a ${NAME}'}", NAME="${OTHER}").ui.title == "a ${OTHER}"


@pytest.mark.parametrize("environ", [{}, {"NAME": ""}])
def test_a_default_stands_for_what_is_unset_or_empty(
    read: Callable[..., Any], environ: Any
) -> None:
    assert read("ui: {title: '${NAME:-Hello}'}", **environ).ui.title == "Hello"


def test_an_unset_variable_is_a_problem(problems: Callable[..., Any]) -> None:
    found = problems("ui:\n  title: ${NAME}")["ui.title"]
    assert (found.line, found.column) == (3, 10)
    assert found.message == "the environment variable NAME is not set"


def test_a_comment_needs_no_variable(read: Callable[..., Any]) -> None:
    assert read("# ${NAME}\nui: {title: x} # ${NAME}").ui.title == "x"


def test_two_dollars_make_a_plain_one(read: Callable[..., Any]) -> None:
    assert read("ui: {title: '$${NAME}'}").ui.title == "${NAME}"


@pytest.mark.parametrize("text", ["${", "${NAME", "${}", "${1}", "${a b}"])
def test_a_broken_reference_is_a_problem(problems: Callable[..., Any], text: str) -> None:
    assert "write $${" in problems(f"ui: {{title: '{text}'}}")["ui.title"].hint


def test_a_file_is_read_without_its_last_newline(read: Callable[..., Any], file: Path) -> None:
    (file.parent / "title.txt").write_text("Hello\n\n")
    assert read("ui: {title: '${file:title.txt}'}").ui.title == "Hello\n"


@pytest.mark.parametrize("path", ["missing.txt", ".", "a\\0b"])
def test_a_file_that_cannot_be_read_is_a_problem(problems: Callable[..., Any], path: Any) -> None:
    found = problems(f'ui: {{title: "${{file:{path}}}"}}')["ui.title"]
    assert "cannot be read" in found.message


def test_a_variable_is_a_number_where_a_number_is_wanted(read: Callable[..., Any]) -> None:
    assert read("server:\n  port: ${PORT}", PORT="9090").server.port == 9090


@pytest.mark.parametrize(
    "written", ["{port: '${PORT}'}", '{port: "${PORT}"}', "\n  port: '${PORT}'"]
)
def test_a_quoted_variable_is_a_number_where_a_number_is_wanted(
    read: Callable[..., Any], written: str
) -> None:
    assert read(f"server: {written}", PORT="9090").server.port == 9090


def test_a_quoted_variable_stays_text_where_anything_is_possible(read: Callable[..., Any]) -> None:
    client = "{client_id: web, require_client_secret: false, redirect_uris: ['https://w/cb'], claims: {number: '${N}', plain: '5'}}"
    found = read(f"clients: [{client}]", N="5").registry.clients["web"]
    assert found.claims == {"number": "5", "plain": "5"}


def test_a_path_and_a_default_may_have_variables(read: Callable[..., Any], file: Path) -> None:
    (file.parent / "title.txt").write_text("Hello")
    for title in ("${file:${DIR}/title.txt}", "${UNSET:-${TITLE}}"):
        found = read(f"ui: {{title: '{title}'}}", DIR=str(file.parent), TITLE="Hello")
        assert found.ui.title == "Hello"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfHello\r\n", b"Hello\r\n", b"\xef\xbb\xbfHello"])
def test_a_file_is_read_as_editors_of_windows_write_it(
    read: Callable[..., Any], file: Path, content: bytes
) -> None:
    (file.parent / "title.txt").write_bytes(content)
    assert read("ui: {title: '${file:title.txt}'}").ui.title == "Hello"


def test_keys_for_anchors_mean_nothing(read: Callable[..., Any]) -> None:
    text = (
        "x-usual: &usual {allowed_scopes: [openid], client_name: '${UNSET}'}\n"
        "x-other: '${UNSET}'\n"
        "clients:\n- {<<: *usual, client_id: web, client_name: Web, require_client_secret: false, redirect_uris: ['https://w/cb']}\n"
    )
    assert read(text).registry.clients["web"].allowed_scopes == {"openid"}


def test_a_variable_is_text_where_text_is_wanted(read: Callable[..., Any]) -> None:
    text = "users:\n  list:\n  - username: alice\n    sub: ${SUB}"
    assert read(text, SUB="818727").registry.users[0].sub == "818727"


@pytest.mark.parametrize(
    ("variable", "value", "setting"),
    [
        ("SERVICE_PORT", "9090", "server.port"),
        ("SERVICE_STORE_URL", "memory://x", "store.url"),
    ],
)
def test_the_environment_beats_the_file(
    read: Callable[..., Any], variable: str, value: Any, setting: Any
) -> None:
    configuration = read("server: {host: '::1', port: 1}", **{variable: value})
    assert str(attrgetter(setting)(configuration)) == value


@pytest.mark.parametrize(
    ("written", "hosts"),
    [
        ("'::'", ("::",)),
        ("'::1, localhost'", ("::1", "localhost")),
        ("['::1', 127.0.0.1]", ("::1", "127.0.0.1")),
        ("'${HOSTS}'", ("127.0.0.2", "::1")),
    ],
)
def test_hosts_are_one_or_several(
    read: Callable[..., Any], written: str, hosts: tuple[str, ...]
) -> None:
    configuration = read(f"server: {{host: {written}}}", HOSTS="127.0.0.2,::1")
    assert configuration.server.host == hosts


def test_port_0_is_listened_on_and_in_no_url(read: Callable[..., Any]) -> None:
    found = read("ui: {links: {help: 'http://localhost:${SERVICE_PORT:-8080}/'}}", SERVICE_PORT="0")
    assert (found.server.port, found.ui.links["help"]) == (0, "http://localhost:8080/")


def test_a_wrong_setting_in_the_environment_is_a_problem(problems: Callable[..., Any]) -> None:
    assert "server.port" in problems(SERVICE_PORT="eighty")


def test_a_relative_path_begins_at_the_files_folder(read: Callable[..., Any], file: Path) -> None:
    (file.parent / "pages").mkdir()
    assert read("ui: {templates: pages}").ui.templates == file.parent / "pages"


@pytest.mark.parametrize(
    ("title", "message"),
    [
        ("{}", "expected text, or texts by language such as {en: Orders, de: Bestellungen}"),
        ("{'not a tag': x}", "expected text, or texts by language"),
        ("{en: 5}", "expected text"),
        ("{en: ''}", "must not be empty"),
        ("[en]", "expected text"),
        ("5", "expected text"),
        (f"{{en: {'x' * 1001}}}", "must have at most 1000 characters"),
    ],
)
def test_texts_by_language_are_checked(
    problems: Callable[..., Any], title: str, message: str
) -> None:
    assert problems(f"ui: {{title: {title}}}")["ui.title"].message.startswith(message)


HOSTS = "expected text, or a list of texts"
LOGO = "expected a path, or an http or https URL"
SCHEMA = "expected a path, or a JSON Schema as keys and values"
LOCAL = "expected text, or texts by language such as {en: Orders, de: Bestellungen}"


@pytest.mark.parametrize(
    ("entry", "path", "message"),
    [
        ("server: {host: true}", "server.host", HOSTS),
        ("server: {host: 5}", "server.host", HOSTS),
        ("server: {host: {a: b}}", "server.host", HOSTS),
        ("tenants: [{name: acme, logo: true}]", "tenants[acme].logo", LOGO),
        ("tenants: [{name: acme, logo: [a]}]", "tenants[acme].logo", LOGO),
        ("ui: {title: [a]}", "ui.title", LOCAL),
        ("ui: {title: true}", "ui.title", LOCAL),
        (
            "authorization_details_types: [{type: pay, schema: true}]",
            "authorization_details_types[pay].schema",
            SCHEMA,
        ),
        (
            "authorization_details_types: [{type: pay, schema: [a]}]",
            "authorization_details_types[pay].schema",
            SCHEMA,
        ),
    ],
)
def test_value_of_a_key_with_several_forms_is_answered_with_all_of_them(
    problems: Callable[..., Any], entry: str, path: str, message: str
) -> None:
    assert problems(entry)[path].message == message
