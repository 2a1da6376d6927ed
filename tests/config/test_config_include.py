"""Several files and folders make up one registry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.config.problem import ConfigError
from service.start.load import load

API = "api_resources: [{name: api}]\n"
INCLUDE = "include: [clients.d]\n"


@pytest.fixture
def put(file: Path) -> Any:
    """Writes a further file into the folder of the main one."""

    def put(name: str, text: str) -> Any:
        path = file.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put


def a_client(name: str, **more: Any) -> Any:
    keys = {"client_id": name, "require_client_secret": "false", **more}
    return "{" + ", ".join(f"{key}: {value}" for key, value in keys.items()) + "}"


def clients(*names: Any, **more: Any) -> Any:
    return f"clients: [{', '.join(a_client(name, **more) for name in names)}]\n"


def test_a_folder_of_files_and_the_main_file_are_one_registry(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/b.yaml", clients("second"))
    put("clients.d/a.yml", clients("first", allowed_scopes="[api]"))
    registry = read(INCLUDE + API + clients("main")).registry
    assert list(registry.clients) == ["main", "first", "second"]


def test_what_is_no_yaml_file_of_the_folder_is_left_alone(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/a.yaml", clients("first"))
    put("clients.d/README.md", "*")
    put("clients.d/.hidden.yaml", "*")
    put("clients.d/below/c.yaml", "*")
    assert list(read(INCLUDE).registry.clients) == ["first"]


@pytest.mark.parametrize(
    "name", ["teams/*/clients.yaml", "teams/[ab]/*.yaml", "teams/a/clients.yaml"]
)
def test_a_pattern_or_a_file(read: Callable[..., Any], put: Callable[..., Any], name: str) -> None:
    put("teams/a/clients.yaml", clients("a"))
    put("teams/.b/clients.yaml", clients("b"))
    assert list(read(f"include: ['{name}']").registry.clients) == ["a"]


def test_a_file_that_is_named_twice_is_read_once(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/a.yaml", clients("first"))
    assert list(read("include: [clients.d/a.yaml, clients.d]").registry.clients) == ["first"]


def test_the_main_file_does_not_include_itself(read: Callable[..., Any]) -> None:
    assert list(read("include: ['*.yaml']\n" + clients("main")).registry.clients) == ["main"]


def test_every_list_of_the_registry_can_be_included(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    user = "users: {list: [{sub: '1', username: alice}]}\n"
    put(
        "more/all.yaml",
        API + user + "tenants: [{name: acme}]\nidentity_resources: [{name: staff}]\n",
    )
    registry = read("include: [more]\nusers: {list: [{sub: '2', username: bob}]}").registry
    assert [user.username for user in registry.users] == ["bob", "alice"]
    assert {*registry.tenants} == {"acme"}
    assert "staff" in registry.identity_resources


def test_references_are_replaced_and_begin_at_the_included_file(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/hash", "0" * 64)
    put(
        "clients.d/a.yaml",
        "clients: [{client_id: '${NAME}', client_secrets: [{sha256: '${file:hash}'}]}]",
    )
    client = read(INCLUDE, NAME="from-environment").registry.clients["from-environment"]
    assert client.client_secrets[0].sha256 == bytes(32)


def test_a_value_that_looks_like_a_number_can_be_text(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/a.yaml", "clients:\n- client_id: ${ID}\n  require_client_secret: false")
    assert "123" in read(INCLUDE + clients("main"), ID="123").registry.clients


def test_a_problem_names_the_file_that_it_is_in(
    problems: Callable[..., Any], put: Callable[..., Any]
) -> None:
    path = put("clients.d/a.yaml", "clients:\n  - client_id: web\n    acces_token_type: jwt\n")
    found = problems(INCLUDE + clients("main"))["clients[web].acces_token_type"]
    assert (found.file, found.line, found.column) == (str(path), 3, 5)
    assert found.hint == "did you mean access_token_type?"


def test_a_rule_names_the_file_too(problems: Callable[..., Any], put: Callable[..., Any]) -> None:
    put("clients.d/a.yaml", clients("other"))
    path = put("clients.d/b.yaml", "clients:\n- " + a_client("web", allowed_scopes="[apo]"))
    found = problems(INCLUDE + API)["clients[web].allowed_scopes[apo]"]
    assert (found.file, found.line, found.hint) == (str(path), 2, "did you mean api?")


def test_an_unset_variable_is_found_in_its_file_only_once(
    problems: Callable[..., Any], put: Callable[..., Any]
) -> None:
    path = put("clients.d/a.yaml", clients("'${NOWHERE}'"))
    found = problems(INCLUDE + clients("main"))
    assert [each.file for each in found.values() if each.severity == "error"] == [str(path)]
    assert "NOWHERE" in found["clients[0].client_id"].message


def test_a_name_in_two_files_is_reported_with_both_places(
    problems: Callable[..., Any], put: Callable[..., Any], file: Path
) -> None:
    path = put("clients.d/a.yaml", "clients:\n  - " + a_client("web"))
    found = problems(INCLUDE + clients("web"))["clients[web].client_id"]
    assert (found.file, found.line) == (str(path), 2)
    assert found.message == f"web is registered twice, first at {file}:3:23"


MISPLACED = {
    "server: {port: 1}": ("server", "belongs into the main file only"),
    "include: [more]": ("include", "an included file includes no other"),
    "users: {source: file}": ("users.source", "belongs into the main file only"),
    "clents: []": ("clents", "unknown key"),
    "clients: {web: {}}": ("clients", "expected a list"),
    "users: []": ("users", "expected keys and values"),
    "users: {list: {}}": ("users.list", "expected a list"),
    "- clients": ("", "expected keys and values"),
}


@pytest.mark.parametrize("text", MISPLACED)
def test_what_does_not_belong_into_an_included_file(
    problems: Callable[..., Any], put: Callable[..., Any], text: str
) -> None:
    path = put("clients.d/a.yaml", text)
    place, message = MISPLACED[text]
    found = problems(INCLUDE)[place]
    assert (found.file, found.message) == (str(path), message)


def test_an_unknown_section_comes_with_the_nearest_right_one(
    problems: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/a.yaml", "clents: []")
    assert problems(INCLUDE)["clents"].hint == "did you mean clients?"


def test_a_file_that_is_not_there(problems: Callable[..., Any]) -> None:
    found = problems("include: [nowhere.yaml]")["include[0]"]
    assert (found.severity, found.line) == ("error", 2)
    assert found.message == "there is no file or folder nowhere.yaml"


@pytest.mark.parametrize("name", ["clients.d", "clients.d/*.yaml"])
def test_nothing_in_a_folder_is_worth_a_warning(
    problems: Callable[..., Any], file: Path, name: str
) -> None:
    (file.parent / "clients.d").mkdir()
    assert problems(f"include: ['{name}']")["include[0]"].severity == "warning"


@pytest.mark.parametrize("name", ["clients.d", "clients.d/*.yaml"])
def test_a_link_that_leads_nowhere_is_worth_a_warning(
    problems: Callable[..., Any], put: Callable[..., Any], name: str
) -> None:
    put("clients.d/a.yaml", clients("a"))
    link = put("clients.d/b.yaml", "")
    link.unlink()
    link.symlink_to("gone")
    found = problems(f"include: ['{name}']")["include[0]"]
    assert (found.severity, found.message) == ("warning", f"{link} leads to no file")


def test_a_pattern_begins_at_a_folder_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "[staging]"
    folder.mkdir()
    (folder / "more.yaml").write_text(clients("a"))
    main = folder / "config.yaml"
    main.write_text(f"issuer: https://auth.example.com\ninclude: ['m*.yaml']\n{API}")
    assert list(load(main, {}).registry.clients) == ["a"]


def test_all_files_that_are_no_yaml_are_told_at_once(
    put: Callable[..., Any], read: Callable[..., Any]
) -> None:
    paths = [put(f"clients.d/{name}.yaml", "clients: [") for name in "ab"]
    with pytest.raises(ConfigError) as error:
        read(INCLUDE)
    assert [each.file for each in error.value.problems] == list(map(str, paths))


def test_a_main_file_without_a_proper_list_is_told(
    problems: Callable[..., Any], put: Callable[..., Any]
) -> None:
    put("clients.d/a.yaml", clients("first"))
    assert problems(INCLUDE + "clients: web")["clients"].message == "expected a list"


def test_the_generation_is_that_of_the_content_wherever_it_stands(
    read: Callable[..., Any], put: Callable[..., Any]
) -> None:
    together = read(API + clients("one", "two")).registry.generation
    put("clients.d/a.yaml", clients("two"))
    assert read(INCLUDE + API + clients("one")).registry.generation == together
    put("clients.d/a.yaml", clients("three"))
    assert read(INCLUDE + API + clients("one")).registry.generation != together


def test_every_file_and_folder_that_was_read_is_remembered(
    read: Callable[..., Any], put: Callable[..., Any], file: Path
) -> None:
    put("clients.d/a.yaml", "clients: [{client_id: a, client_secrets: [{sha256: '${file:hash}'}]}]")
    put("clients.d/hash", "0" * 64)
    seen = {path.relative_to(file.parent).as_posix() for path in read(INCLUDE).files.now()}
    assert seen == {"config.yaml", "clients.d", "clients.d/a.yaml", "clients.d/hash"}


def test_what_a_refused_file_was_read_from_is_remembered_too(file: Path) -> None:
    file.write_text("issuer: https://auth.example.com\ninclude: [later.yaml]")
    with pytest.raises(ConfigError) as error:
        load(file, {})
    assert file.parent / "later.yaml" in error.value.files.now()
