"""Every problem is found at once, each with its line, its path and the nearest right word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.config.problem import ConfigError
from service.start.load import inspect, load


def test_every_problem_is_found_at_once(problems: Callable[..., Any]) -> None:
    found = problems(
        "server: {prot: 1, port: 99999}\n"
        "clients:\n"
        "- client_id: web\n"
        "  redirect_uris: ['javascript:alert(1)', 5]\n"
        "- client_id: web\n"
        "  client_secrets: [{sha256: short}]\n"
        "  redirect_uris: ['javascript:alert(1)']\n"
        "  allowed_scopes: [unknown]\n"
        "ui: {title: '${UNSET}'}\n"
    )
    assert {
        "server.prot",
        "server.port",
        "clients[web].redirect_uris[1]",
        "clients[web].client_id",
        "clients[web].client_secrets[0].sha256",
        "clients[web].redirect_uris[0]",
        "ui.title",
        "clients[web].allowed_scopes[unknown]",
    } <= found.keys()


def test_an_unknown_key_comes_with_the_nearest_one(problems: Callable[..., Any]) -> None:
    found = problems("clients:\n  - client_id: web\n    redirect_uri: x")[
        "clients[web].redirect_uri"
    ]
    assert (found.line, found.column) == (4, 5)
    assert (found.message, found.hint) == ("unknown key", "did you mean redirect_uris?")


def test_a_key_that_is_like_no_other_comes_with_all(problems: Callable[..., Any]) -> None:
    assert "shutdown_grace" in problems("server: {zzz: 1}")["server.zzz"].hint


def test_a_wrong_word_comes_with_the_nearest_one(problems: Callable[..., Any]) -> None:
    found = problems("session: {cookie_same_site: laxx}")["session.cookie_same_site"]
    assert (found.message, found.hint) == ("expected lax or none", "did you mean lax?")


def test_a_missing_key_is_shown_at_its_parent(problems: Callable[..., Any]) -> None:
    found = problems("clients:\n  - client_name: x")["clients[0].client_id"]
    assert (found.line, found.column, found.message) == (3, 5, "is required")


def test_the_issuer_is_required(file: Path) -> None:
    file.write_text("")
    assert [problem.path for problem in inspect(file, {})] == ["issuer"]


def test_a_key_that_stands_twice_is_a_problem(problems: Callable[..., Any]) -> None:
    found = problems("ui: {title: a}\nui: {title: b}")["ui"]
    assert (found.line, found.column) == (3, 1)
    assert found.message == "the key stands twice, in line 2 and in line 3"


def test_a_problem_of_a_shared_part_shows_where_that_stands(problems: Callable[..., Any]) -> None:
    found = problems(
        "clients:\n- &web\n  client_id: web\n  enabled: 5\n- <<: *web\n  client_id: other"
    )
    assert found["clients[web].enabled"].line == found["clients[other].enabled"].line == 5


def test_a_mapping_says_itself_what_it_does_not_merge(read: Callable[..., Any]) -> None:
    text = "clients:\n- &web {client_id: web, require_client_secret: false, client_name: A}\n"
    text += "- <<: *web\n  client_id: other"
    clients = read(text).registry.clients
    assert (clients["web"].client_name, clients["other"].client_name) == ("A", "A")


def test_a_secret_is_never_repeated(problems: Callable[..., Any]) -> None:
    found = problems(
        "pairwise_salt: hunter2\n"
        "signing: {encryption_key: hunter2}\n"
        "api_resources: [{name: api, secrets: [{sha256: hunter2}]}]\n"
        "users: {list: [{sub: '1', username: alice, password: hunter2}]}\n"
    )
    assert len(found) == 4
    assert not any("hunter2" in str(problem) for problem in found.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "did not find expected node content"),
        ("a: *b", "the alias *b has no anchor above it"),
        ("a: &a [*a]", "an alias in this value stands for the value"),
        ("? [a]\n: b", "a key must be a word"),
        ("a: 1\n---\nb: 2", "the file holds more than one document"),
        ("a: " + "[" * 10_000, "nested more than 40 levels deep"),
        ("a: {<<: 5}", "<< takes a mapping, or a list of them"),
        ("a: \x07", "characters that YAML does not allow"),
    ],
    ids=["flow", "alias", "recursion", "key", "documents", "depth", "merge", "control"],
)
def test_what_is_no_yaml_is_a_problem(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load(file, {})
    assert message in str(raised.value)


def test_a_reference_in_brackets_without_quotes_is_explained(file: Path) -> None:
    file.write_text("clients: [{client_id: ${NAME}}]")
    (problem,) = inspect(file, {})
    assert problem.hint == "inside of [ ] and { }, ${…} needs quotes"


def test_aliases_cannot_multiply_without_end(file: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    file.write_text("a0: &a0 x\n" + "\n".join(levels))
    (problem,) = inspect(file, {})
    assert problem.message == "the aliases stand for more than 100000 values"


def test_a_tag_makes_no_object(file: Path) -> None:
    file.write_text("issuer: !!python/object/apply:os.getcwd []\n")
    (problem,) = inspect(file, {})
    assert problem.message == "the tag !!python/object/apply:os.getcwd is unknown"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("signing: {encryption_key: !vault 'c2VjcmV0'}", "signing.encryption_key"),
        ("clients:\n- {client_id: web, client_name: !ENV NAME}", "clients[web].client_name"),
        ("api_resources:\n- !include api.yaml", "api_resources[0]"),
        ("ui: !ui\n  title: a", "ui"),
        ("ui: {!key title: a}", "ui.title"),
    ],
    ids=["quoted", "plain", "item", "mapping", "key"],
)
def test_a_tag_that_is_not_yamls_own_is_a_problem(
    problems: Callable[..., Any], text: str, path: Any
) -> None:
    found = problems(text)[path]
    assert (found.line, found.severity) == (2 + text.count("\n- "), "error")
    assert found.message.endswith(" is unknown")
    assert "${NAME}" in found.hint


def test_the_tags_of_yaml_are_understood(read: Callable[..., Any]) -> None:
    text = "server: {port: !!int 8081}\nui: !!map {title: !!str 5, locales: !!seq [! en]}"
    found = read(text)
    assert (found.server.port, found.ui.title, found.ui.locales) == (8081, "5", ("en",))


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = inspect(tmp_path / "none.yaml", {})
    assert problem.message == "No such file or directory"
    assert problem.hint is not None
    assert str(tmp_path / "none.yaml") in problem.hint


def test_a_file_that_is_no_text_is_a_problem(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")
    (problem,) = inspect(file, {})
    assert problem.message == "the file is not UTF-8 text"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"issuer: x\nui: {title: \xe9}\n", (2, 13)),
        (b"\xef\xbb\xbfissuer: \xff", (1, 9)),
        ("issuer: x\n# é \0\n".encode(), (2, 5)),
        (b"issuer: x\nui: {title: a\x07}\n", (2, 14)),
    ],
    ids=["latin-1", "byte order mark", "nul", "control"],
)
def test_a_character_that_cannot_be_is_shown(file: Path, content: bytes, place: Any) -> None:
    file.write_bytes(content)
    (problem,) = inspect(file, {})
    assert (problem.line, problem.column) == place


@pytest.mark.parametrize(
    "rest",
    ['\n  locales: [en]\n  default_locale: "en"', "\n  locales: [en]", ", y]"],
    ids=["another quote", "none", "flow"],
)
def test_a_quote_that_is_not_closed_is_shown_where_it_opens(file: Path, rest: Any) -> None:
    file.write_text(f'issuer: https://a\nui:\n  title: "x{rest}\n')
    (problem,) = inspect(file, {})
    assert (problem.line, problem.column) == (3, 10)
    assert problem.message.startswith("this quote ")


def test_a_problem_is_one_line_whatever_the_key(problems: Callable[..., Any]) -> None:
    (problem,) = problems('ui: {"a\\nerror\\e[31m": 1}').values()
    assert str(problem).isprintable()


@pytest.mark.parametrize(
    ("variable", "path"),
    [
        ("SERVICE_PORT", "server.port"),
        ("SERVICE_WORKERS", "server.workers"),
        ("SERVICE_STORE_URL", "store.url"),
    ],
)
def test_a_wrong_variable_is_not_blamed_on_the_file(
    problems: Callable[..., Any], variable: str, path: Any
) -> None:
    problem = problems("server: {port: 8080}", **{variable: "abc"})[path]
    assert str(problem).startswith(f"{variable}: error: {path}: expected ")
    assert (problem.line, problem.column) == (0, 0)


def test_a_wrong_value_of_the_file_is_no_variables_fault(
    problems: Callable[..., Any], file: Path
) -> None:
    problem = problems("server: {port: abc}", SERVICE_HOST="::")["server.port"]
    assert (problem.file, problem.line) == (str(file), 2)


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("signing: {algorithms: [RS265]}", "signing.algorithms[0]", "expected RS256"),
        ("ui: {locales: ['']}", "ui.locales[0]", "must not be empty"),
        ("ui: {locales: []}", "ui.locales", "must not be empty"),
        ("server: {host: ''}", "server.host", "must not be empty"),
        ("pairwise_salt: short", "pairwise_salt", "must have at least 16 characters"),
        ("server: {port: 99999}", "server.port", "must be at most 65535"),
        ("limits: {login_failures: 0}", "limits.login_failures", "must be at least 1"),
        ("store: {timeout: 0}", "store.timeout", "must be more than 0"),
        (f"ui: {{title: {'x' * 1001}}}", "ui.title", "must have at most 1000 characters"),
        (
            "users: {list: [{sub: é, username: e}]}",
            "users.list[e].sub",
            "must fit the pattern ^[ -~]",
        ),
        ("tenants: [{name: a b}]", "tenants[a b].name", "must fit the pattern ^[A-Z"),
    ],
    ids=lambda text: text[:30] if ":" in text else None,
)
def test_a_malformed_value_is_one_problem_in_words(
    problems: Callable[..., Any], text: str, path: Any, message: str
) -> None:
    found = problems(text)
    assert list(found) == [path]
    assert found[path].message.startswith(message)


def test_a_misspelt_key_is_one_problem(problems: Callable[..., Any]) -> None:
    found = problems(
        f"api_resources:\n- name: api\n  secrets: [{{sha256: {'0' * 64}}}]\n"
        f"- nam: billing\n  secrets: [{{sha256: {'1' * 64}}}]\n"
        "clients:\n- client_id: web\n  require_client_secret: false\n"
        "  redirect_uris: ['https://a/']\n  allowed_scopes: [billing]\n"
    )
    assert list(found) == ["api_resources[1].nam"]
    assert found["api_resources[1].nam"].hint == "did you mean name?"


_REFERRED_TO = """
api_resources: [{name: api, secrets: [{sha256: 0000000000000000000000000000000000000000000000000000000000000000}]}]
tenants: [{name: acme}]
authentication_contexts: [{acr: high, amr: [pwd, otp]}]
token_exchange: [{clients: [web], scopes: [api], audiences: [api], subject_audience: [api]}]
clients:
- client_id: web
  client_secrets: [{sha256: 0000000000000000000000000000000000000000000000000000000000000000}]
  allowed_grant_types: [authorization_code, 'urn:ietf:params:oauth:grant-type:token-exchange']
  redirect_uris: ['https://a/']
  allowed_scopes: [openid, api]
  tenants: [acme]
  required_acr: high
"""


@pytest.mark.parametrize(
    ("right", "wrong", "path"),
    [
        ("api_resources", "api_resource", "api_resource"),
        ("\ntenants", "\ntenant", "tenant"),
        ("authentication_contexts", "authentication_context", "authentication_context"),
        ("\nclients", "\nclient", "client"),
        ("client_id", "clientId", "clients[0].clientId"),
        ("client_secrets", "client_secret", "clients[web].client_secret"),
        ("allowed_grant_types", "grant_types", "clients[web].grant_types"),
        ("allowed_scopes", "AllowedScopes", "clients[web].AllowedScopes"),
        ("acr: high, amr", "arc: high, amr", "authentication_contexts[0].arc"),
        ("tenants: [{name", "tenants: [{nam", "tenants[0].nam"),
        ("api_resources: [{name", "api_resources: [{nam", "api_resources[0].nam"),
        ("audiences", "audience", "token_exchange[0].audience"),
    ],
    ids=lambda text: text.strip(),
)
def test_nothing_is_said_of_what_a_misspelt_key_means(
    problems: Callable[..., Any], right: str, wrong: str, path: str
) -> None:
    assert problems(_REFERRED_TO) == {}
    found = problems(_REFERRED_TO.replace(right, wrong, 1))
    assert list(found) == [path]
    meant = right.rpartition("{")[2].strip().partition(":")[0]
    assert found[path].hint == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("right", "wrong", "path"),
    [
        ("client_id: web", "client_id: ${UNSET}", "clients[0].client_id"),
        ("{name: api,", "{name: '${UNSET}',", "api_resources[0].name"),
        ("{name: acme}", "{name: '${UNSET}'}", "tenants[0].name"),
        ("{acr: high", "{acr: '${UNSET}'", "authentication_contexts[0].acr"),
        (
            "authorization_code",
            "authorisation_code",
            "[web].allowed_grant_types[authorisation_code]",
        ),
    ],
    ids=lambda text: text,
)
def test_one_mistake_is_one_problem(
    problems: Callable[..., Any], right: str, wrong: str, path: str
) -> None:
    found = problems(_REFERRED_TO.replace(right, wrong, 1))
    assert [each for each in found if not each.endswith(path)] == []
    assert len(found) == 1


@pytest.mark.parametrize(
    ("apis", "path"),
    [
        ("[{name: '${UNSET}', scopes: [api]}]", "api_resources[0].name"),
        ("[{name: [api], scopes: [api]}]", "api_resources[0].name"),
        ("[{scopes: [api]}]", "api_resources[0].name"),
        ("api", "api_resources"),
        ("[api]", "api_resources[0]"),
    ],
)
def test_no_warning_follows_from_an_entry_whose_name_is_not_known(
    problems: Callable[..., Any], apis: str, path: str
) -> None:
    secret = f"client_secrets: [{{sha256: {'0' * 64}}}]"
    client = f"{{client_id: api, allowed_grant_types: [delegation], {secret}}}"
    found = problems(f"api_resources: {apis}\nclients: [{client}]")
    assert list(found) == [path]


def test_what_stands_below_a_misspelt_key_is_judged(problems: Callable[..., Any]) -> None:
    found = problems(_REFERRED_TO.replace("\nclients", "\nclient").replace("https://a/", "x:y"))
    assert sorted(found) == ["client", "client[web].redirect_uris[0]"]
    assert found["client[web].redirect_uris[0]"].line == 11


def test_a_name_that_is_missing_is_never_made_up(problems: Callable[..., Any]) -> None:
    found = problems(
        "api_resources: [{}]\nclients: [{client_id: web, api_resource: zzz, allowed_scopes: [zzz]}]"
    )
    assert "is required" in found["api_resources[0].name"].message
    assert not any("missing-" in str(problem) for problem in found.values())
