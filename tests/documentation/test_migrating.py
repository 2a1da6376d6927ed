"""docs/migrating.md: each of its imports, run in a folder with files of the names that it uses."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from joserfc.jwk import KeySet, RSAKey

from service.cli.program import program
from tests.documentation.reading import REPOSITORY

PAGE = (REPOSITORY / "docs/migrating.md").read_text()
IMPORTS = re.findall(r"^ *token-service (import .* --out .*)$", PAGE, re.MULTILINE)
TAKEOVER = REPOSITORY / "tests/takeover"
CLIENT = {
    "client_id": "worker",
    "client_secret": "$pbkdf2-sha256$i=25000,l=32$pSmNbYFKdBu5SJF5qZVfVw$X2jiM0hxCMiVWlRTeA9n2H8xSs5XpKzFZy3Vy7uLDNE",
    "grant_types": ["client_credentials"],
    "token_endpoint_auth_method": "client_secret_basic",
    "scope": "orders.read",
    "audience": ["orders"],
}


@pytest.fixture
def exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files as the page says that the other servers have written them."""
    shutil.copytree(TAKEOVER / "keycloak/export", tmp_path / "export")
    shutil.copy(TAKEOVER / "keycloak/partial.json", tmp_path / "realm.json")
    shutil.copy(TAKEOVER / "files/appsettings.json", tmp_path)
    shutil.copy(TAKEOVER / "files/dex.yaml", tmp_path / "config.yaml")
    (tmp_path / "clients.json").write_text(json.dumps({"items": [CLIENT], "next_page_token": ""}))
    keys = KeySet([RSAKey.generate_key(parameters={"kid": "old", "alg": "RS256"})])
    for name in ("jwks.json", "keys.json"):
        (tmp_path / name).write_text(json.dumps(keys.as_dict(private=False)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_page_imports_from_each_server() -> None:
    assert {command.split()[1] for command in IMPORTS} == {
        "keycloak",
        "identityserver",
        "hydra",
        "dex",
    }


@pytest.mark.parametrize("command", IMPORTS)
def test_import_of_the_page_writes_a_configuration_that_check_accepts(
    exports: Path, command: str
) -> None:
    imported = run(*shlex.split(command))
    assert imported.exit_code in (0, 4), imported.output
    checked = run("check", str(exports / "taken-over/config.yaml"))
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("command", IMPORTS)
def test_own_file_of_the_page_starts_from_what_was_imported(exports: Path, command: str) -> None:
    assert run(*shlex.split(command)).exit_code in (0, 4)
    (making,) = re.findall(r"^ *(sed .* > service[.]yaml)$", PAGE, re.MULTILINE)
    subprocess.run(["sh", "-c", making], check=True)
    own, folder = (
        (exports / name).read_text() for name in ("service.yaml", "taken-over/config.yaml")
    )
    assert own != folder
    checked = run("check", "service.yaml")
    assert (checked.exit_code, "0 errors" in checked.output) == (0, True), checked.output
    again = run(*shlex.split(command), "--force")
    assert again.exit_code in (0, 4), again.output
    assert (exports / "service.yaml").read_text() == own


@pytest.mark.usefixtures("exports")
def test_import_without_out_only_reports() -> None:
    (command,) = re.findall(r"^ *token-service (import [^-\n]*)$", PAGE, re.MULTILINE)
    assert run(*shlex.split(command)).output.startswith("Taken\n")
    assert not Path("taken-over").exists()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(program, list(arguments), catch_exceptions=False)
