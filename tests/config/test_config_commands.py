"""The commands that read a configuration file or make a line of it."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner

from scripts.docs.json_schema import json_schema
from service.cli.program import COMMANDS, program
from service.start.load import builtin_catalogue

GOOD = "issuer: https://auth.example.com\n"
BAD = GOOD + "server:\n  prot: 1\n"


@pytest.fixture
def run() -> Any:
    def run(*arguments: Any, given: Any = None) -> Any:
        return CliRunner().invoke(program, [str(argument) for argument in arguments], input=given)

    return run


def test_check_finds_nothing_wrong_with_the_demonstration(run: Callable[..., Any]) -> None:
    answer = run("check", "config.yaml")
    assert (answer.exit_code, answer.stdout) == (0, "")


def test_check_says_where_and_how(run: Callable[..., Any], file: Path) -> None:
    file.write_text(BAD)
    answer = run("check", file)
    assert answer.exit_code == 1
    assert f"{file}:3:3: error: server.prot: unknown key (did you mean port?)" in answer.stdout
    assert answer.stderr == f"{file}: 1 error, 0 warnings\n"


def test_check_takes_its_file_as_other_commands_do(run: Callable[..., Any], file: Path) -> None:
    file.write_text(BAD)
    assert run("check", "--config", file).stdout == run("check", file).stdout != ""


def test_check_and_diff_look_into_included_files(
    run: Callable[..., Any], file: Path, tmp_path: Path
) -> None:
    included = tmp_path / "more.yaml"
    file.write_text(GOOD + "include: [more.yaml]")
    included.write_text("tenants:\n- nmae: acme\n")
    found = f"{included}:2:3: error: tenants[0].nmae: unknown key (did you mean name?)"
    assert found in run("check", file).stdout
    included.write_text("tenants:\n- name: acme\n")
    (tmp_path / "old.yaml").write_text(GOOD)
    assert run("diff", tmp_path / "old.yaml", file).stdout == "+ tenants[acme]\n"


def test_check_speaks_json(run: Callable[..., Any], file: Path) -> None:
    file.write_text(BAD)
    answer = json.loads(run("check", file, "--format", "json").stdout)
    assert answer["valid"] is False
    (problem,) = answer["problems"]
    assert (problem["line"], problem["path"], problem["severity"]) == (3, "server.prot", "error")


def test_a_warning_is_no_error(run: Callable[..., Any], file: Path) -> None:
    file.write_text(GOOD + "registration: {enabled: true}")
    answer = run("check", file)
    assert (answer.exit_code, "warning" in answer.stdout) == (0, True)


def test_check_against_a_profile_is_stricter(run: Callable[..., Any]) -> None:
    assert run("check", "config.yaml", "--profile", "oauth21").exit_code == 1


def test_an_unknown_profile_is_wrong_usage(run: Callable[..., Any]) -> None:
    assert run("check", "--profile", "none").exit_code == 2


def test_schema_is_that_of_the_code(run: Callable[..., Any]) -> None:
    schema = json.loads(run("schema").stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema == json_schema(builtin_catalogue()), "make docs"


def test_an_editor_knows_an_included_file(run: Callable[..., Any]) -> None:
    schema: dict[str, Any] = json.loads(run("schema", "--included").stdout)
    assert {"clients", "users"} < schema["properties"].keys()
    assert not {"issuer", "include", "server"} & schema["properties"].keys()
    assert [*schema["$defs"]["Users"]["properties"]] == ["list"]
    assert "required" not in schema


def test_hash_secret_prints_the_line(run: Callable[..., Any]) -> None:
    digest = base64.b64encode(hashlib.sha256(b"s3cret").digest()).decode()
    assert run("hash-secret", given="s3cret\n").stdout == f'- sha256: "{digest}"\n'


def test_the_quoted_part_of_a_hashed_secret_opens_the_registration(
    run: Callable[..., Any], problems: Callable[..., Any]
) -> None:
    line = run("hash-secret", given="s3cret\n").stdout.strip()
    listed = "registration:\n  initial_access_token_sha256:\n  %s\n"
    path = "registration.initial_access_token_sha256"
    assert "between the quotes" in problems(listed % line)[f"{path}[0]"].message
    quoted = line.split('"')[1]
    assert problems(listed % f'- "{quoted}"') == {}


def test_hash_password_prints_the_line(run: Callable[..., Any]) -> None:
    line = run("hash-password", given="s3cret\n").stdout
    assert PasswordHasher().verify(line.split('"')[1], "s3cret")


@pytest.mark.parametrize("command", ["hash-secret", "hash-password"])
def test_an_empty_secret_is_wrong_usage(run: Callable[..., Any], command: Any) -> None:
    assert run(command, given="\n").exit_code == 2


@pytest.mark.parametrize("command", ["hash-secret", "hash-password"])
def test_a_secret_of_several_lines_is_wrong_usage(run: Callable[..., Any], command: str) -> None:
    result = run(command, given="s3cret\ns3cret\n")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has several lines" in result.stderr


@pytest.mark.parametrize(
    ("command", "longest"),
    [(("hash-secret",), 256), (("hash-password",), 200), (("new", "user", "carol"), 200)],
)
def test_a_secret_that_the_service_would_refuse_is_not_hashed(
    run: Callable[..., Any], command: Any, longest: int
) -> None:
    assert run(*command, given="x" * longest).exit_code == 0
    long, control = run(*command, given="x" * (longest + 1)), run(*command, given="a\0b")
    assert [(each.exit_code, each.stdout) for each in (long, control)] == [(2, "")] * 2
    assert f"is longer than {longest} characters" in long.stderr
    assert "has a control character" in control.stderr


def test_check_refuses_two_files_of_which_it_would_read_one(
    run: Callable[..., Any], file: Path
) -> None:
    both = run("check", str(file), "--config", str(file))
    assert (both.exit_code, both.stdout) == (2, "")
    assert "give FILE or --config, not both" in both.stderr


@pytest.mark.parametrize("command", [("hash-secret",), ("hash-password",), ("explain", "-")])
def test_what_is_no_text_is_wrong_input(run: Callable[..., Any], command: Any) -> None:
    answer = run(*command, given=b"\xff\xfe\n")
    what = {"hash-password": "password", "explain": "token"}.get(command[0], "secret")
    assert (answer.exit_code, answer.stderr) == (1, f"Error: {what} is not UTF-8 text\n")


@pytest.mark.parametrize(
    ("command", "flag", "path"),
    [
        ("serve", "--store", "store.url"),
        ("explain x", "--store", "store.url"),
    ],
)
def test_a_wrong_flag_is_not_blamed_on_the_file(
    run: Callable[..., Any], file: Path, command: Any, flag: str, path: Any
) -> None:
    file.write_text(GOOD)
    answer = run(*command.split(), flag, "abc", "--config", file)
    assert answer.exit_code == 1
    assert answer.stderr.startswith(f"{flag}: error: {path}: expected ")


@pytest.mark.parametrize(
    "wrong",
    [
        *("serve --workers 0", "serve --workers -1", "serve --workers many", "serve --workers 1.5"),
        *("serve --port 99999", "serve --port -1", "serve --port http", "users list --limit 0"),
    ],
)
def test_number_that_an_option_does_not_take_is_wrong_usage(
    run: Callable[..., Any], file: Path, wrong: str
) -> None:
    file.write_text(GOOD)
    answer = run(*wrong.split(), "--config", file)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert f"Invalid value for '{wrong.split()[-2]}'" in answer.stderr


def test_a_wrong_store_flag_of_check_is_named(run: Callable[..., Any], file: Path) -> None:
    file.write_text(GOOD)
    answer = run("check", file, "--store", "nonsense")
    assert answer.exit_code == 1
    assert answer.stdout.startswith("--store: error: store.url: expected a store URL")


@pytest.mark.parametrize(
    "command", ["schema", "check {file} --format json", "graph --config {file}"]
)
def test_a_full_disk_is_an_error_without_a_traceback(file: Path, command: str) -> None:
    file.write_text(GOOD)
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "service", *command.format(file=file).split()],
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    said = ended.stderr.splitlines()[-1]
    assert (ended.returncode, said) == (1, "Error: cannot write: No space left on device")
    assert "Traceback" not in ended.stderr


def test_a_new_key_is_one_that_the_file_takes(
    run: Callable[..., Any], read: Callable[..., Any]
) -> None:
    raw = run("new-key", "--raw").stdout.strip()
    for line in (run("new-key").stdout, f"encryption_key: {raw}"):
        (key,) = read(f"signing:\n  {line}").signing.encryption_key
        assert len(key) == 32


def test_diff_says_what_changes(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    client = "clients: [{client_id: web, require_client_secret: false, redirect_uris: ['https://%s/']}]\n"
    old.write_text(GOOD + client % "a")
    new.write_text(GOOD + client % "b" + "tenants: [{name: acme}]\nserver: {port: 1}")
    assert run("diff", old, new).stdout.splitlines() == [
        "~ clients[web]",
        "    redirect_uris: - https://a/  + https://b/",
        "    allowed_cors_origins: - https://a  + https://b",
        "+ tenants[acme]",
        "~ server.port (needs a restart)",
    ]


def test_diff_shows_the_change_of_an_api_once(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    api = "api_resources: [{name: api, url: 'https://api.example/', display_name: %s}]\n"
    old.write_text(GOOD + api % "Api")
    new.write_text(GOOD + api % "Orders")
    shown = "~ api_resources[api]\n    display_name: Api -> Orders\n"
    assert run("diff", old, new).stdout == shown


@pytest.mark.parametrize(
    ("change", "exit_code"), [("tenants: [{name: acme}]", 1), ("server: {port: 1}", 1), ("", 0)]
)
def test_diff_may_tell_by_its_exit_code(
    run: Callable[..., Any], tmp_path: Path, change: Any, exit_code: int
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(GOOD)
    new.write_text(GOOD + change)
    assert run("diff", old, new, "--exit-code").exit_code == exit_code
    assert run("diff", old, new).exit_code == 0


def test_diff_speaks_json(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(GOOD)
    new.write_text(GOOD + "tenants: [{name: acme}]\nserver: {port: 1}")
    assert json.loads(run("diff", old, new, "--format", "json").stdout) == {
        "changes": ["+ tenants[acme]"],
        "need_restart": ["server.port"],
        "new_reach": [],
        "lost_reach": [],
    }


def test_a_new_secret_comes_with_the_line_for_its_hash(run: Callable[..., Any]) -> None:
    first, line = run("new-secret").stdout.splitlines()
    secret = first.removeprefix("secret: ")
    assert run("hash-secret", given=secret).stdout.strip() == line
    assert len(secret) == 43


def test_a_new_secret_comes_as_json(run: Callable[..., Any], problems: Callable[..., Any]) -> None:
    made = json.loads(run("new-secret", "--format", "json").stdout)
    again = json.loads(run("new-secret", "--format", "json").stdout)
    assert made["secret"] != again["secret"]
    api = {"name": "api", "secrets": [{"sha256": made["sha256"]}]}
    assert problems(json.dumps({"api_resources": [api]})[1:-1]) == {}


def test_diff_shows_no_secret(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    client = (
        "clients: [{client_id: web, client_secrets: [{value: %s}], redirect_uris: ['https://a/']}]"
    )
    old.write_text(GOOD + client % "hunter2")
    new.write_text(GOOD + client % "hunter3")
    assert run("diff", old, new).stdout == "~ clients[web]\n    client_secrets: changed\n"


HASH = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$%s"
HIDDEN = {
    "password": ("users[ann]", "users: {list: [{sub: '1', username: ann, password: '%s'}]}"),
    "ciba_user_code": (
        "users[ann]",
        "users: {list: [{sub: '1', username: ann, ciba_user_code: '%s'}]}",
    ),
    "client_secret": (
        "identity_providers[up]",
        "identity_providers: [{name: up, issuer: 'https://up.example', client_id: us, client_secret: '%s'}]",
    ),
    "properties": (
        "clients[web]",
        "clients: [{client_id: web, require_client_secret: false, redirect_uris: ['https://a/'], properties: {key: '%s'}}]",
    ),
}
"""Keys, the entries that have them, and the file."""


@pytest.mark.parametrize("key", HIDDEN)
def test_diff_shows_no_value_of_a_key_that_may_hold_a_secret(
    run: Callable[..., Any], tmp_path: Path, key: str
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    entry, text = HIDDEN[key]
    old.write_text(GOOD + text % (HASH % ("aGFzaGhhc2hoYXNo" * 2)))
    new.write_text(GOOD + text % (HASH % ("b3RoZXJoYXNob3Ro" * 2)))
    assert run("diff", old, new).stdout == f"~ {entry}\n    {key}: changed\n"


def test_diff_shows_no_option_of_a_handler(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    handler = "service.grants.delegation:DelegationGrant"
    grant = f"extension_grants: [{{handler: '{handler}', options: {{source_scopes: [%s]}}}}]"
    old.write_text(GOOD + grant % "hunter2")
    new.write_text(GOOD + grant % "hunter3")
    shown = f"~ extension_grants[{handler}]\n    options: changed\n"
    assert run("diff", old, new).stdout == shown


def test_diff_goes_by_the_order_of_the_file(run: Callable[..., Any], tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    names = [f"tenant{number}" for number in range(20)]
    for path, shown in ((old, "before"), (new, "after")):
        tenants = [f"{{name: {name}, display_name: {shown}}}" for name in names]
        path.write_text(GOOD + f"tenants: [{', '.join(tenants)}]")
    changed = run("diff", old, new).stdout.splitlines()[::2]
    assert changed == [f"~ tenants[{name}]" for name in names]


def test_diff_of_a_wrong_file_fails(run: Callable[..., Any], file: Path) -> None:
    file.write_text(BAD)
    assert run("diff", file, file).exit_code == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(run: Callable[..., Any], command: Any) -> None:
    assert "Example:" in run(command, "--help").stdout
