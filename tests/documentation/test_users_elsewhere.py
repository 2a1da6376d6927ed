"""docs/users.md: the directory and the HTTP service of its examples let Alice sign in, and its settings are right."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.convert import convert
from service.config.schema.users import Users
from service.identity.sources import find_problems
from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.authority import root
from tests.driving.browser import Browser
from tests.driving.ports import lasting_ports
from tests.driving.program import eventually

PAGE = REPOSITORY / "docs" / "users.md"
needs_ldap = pytest.mark.needs("slapd", "import ldap")


def block(section: str, language: str) -> str:
    """Return the only block of a language in a section."""
    (found,) = [one for one in blocks(PAGE) if (one.section, one.language) == (section, language)]
    return found.text


@contextmanager
def running(command: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    """A server of an example, which listens."""
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: process.poll() is not None or listens(port))
        assert process.poll() is None
        yield
    finally:
        process.kill()
        process.wait()


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def run_each(commands: Sequence[str], folder: Path) -> None:
    for command in commands:
        subprocess.run(command.split(), cwd=folder, check=True)


async def sign_in(start: Start, config: dict[str, Any], users: str) -> None:
    """Sign in as Alice on the account page, with the password of the page."""
    service = await start(config | yaml.safe_load(users))
    browser = Browser(service.issuer)
    login = await browser.get(f"{service.issuer}/account")
    assert (await browser.log_in(login, "alice", password="wrong")).has("login-error")
    page = await browser.log_in(login, "alice", password="correct horse")
    assert (page.path, page.status) == ("/account", 200)
    await browser.close()


@needs_ldap
@pytest.mark.usefixtures("one_store")
async def test_the_directory_lets_alice_in(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    section = "People of a directory, in two minutes"
    (port,) = lasting_ports(1)
    (tmp_path / "slapd.conf").write_text(block(section, "conf"))
    (tmp_path / "people.ldif").write_text(block(section, "ldif"))
    *_, make, load, run = block(section, "sh").strip().splitlines()
    run_each((make, load), tmp_path)
    with running(run.replace("3389", str(port)).split(), tmp_path, port):
        await sign_in(start, config, block(section, "yaml").replace("3389", str(port)))


@pytest.mark.usefixtures("one_store")
async def test_the_http_service_lets_alice_in(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    section = "An HTTP service of yours"
    (port,) = lasting_ports(1)
    file = tmp_path / "people.py"
    file.write_text(block(section, "python").replace("8081", str(port)))
    with running([sys.executable, str(file)], tmp_path, port):
        await sign_in(start, config, block(section, "yaml").replace("8081", str(port)))


@needs_ldap
@pytest.mark.parametrize("number", [0, 1], ids=["OpenLDAP", "Active Directory"])
def test_settings_for_production_have_no_problem(number: int, tmp_path: Path) -> None:
    section = "A directory in production"
    found = [one for one in blocks(PAGE) if one.section == section][number]
    settings = yaml.safe_load(re.sub(r"\$\{\w+\}", "secret", found.text))["users"]
    authority = root().write(tmp_path / "ldap-ca.pem")
    settings["ldap"]["ca_file"] = str(authority)
    users = convert(settings, Users)
    assert list(find_problems(users)) == []
