"""docs/extending.md: a copy of the service is extended as the page says, started, and asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import httpx2
import pytest
import yaml

from service.protocol.pkce import s256
from tests.architecture.test_imports import LINT_IMPORTS, REPOSITORY
from tests.architecture.test_shape import MAX_FILE_LINES
from tests.documentation.extended import PAGE, extend, users_database
from tests.documentation.reading import blocks, says
from tests.driving.browser import Browser, Page
from tests.driving.process import DEMONSTRATION, serving

pytestmark = pytest.mark.needs("curl")

REQUESTS = [block for block in blocks(PAGE) if block.language == "sh"]
ANSWERS = [block for block in blocks(PAGE) if block.language == "json"]


@dataclass(frozen=True)
class Extended:
    """A folder with the extended service, and the configuration for it."""

    folder: Path
    configuration: dict[str, Any]

    def start(self, configuration: dict[str, Any]) -> Any:
        database = str(self.folder / "users.sqlite")
        text = yaml.safe_dump(configuration)
        return serving(text, self.folder, code=self.folder, USERS_DATABASE=database)


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Extended:
    folder = tmp_path_factory.mktemp("extended")
    users_database(folder / "users.sqlite")
    return Extended(folder, extend(folder))


@pytest.fixture(scope="module")
def address(extended: Extended) -> Iterator[str]:
    with extended.start(extended.configuration) as running:
        yield running


@pytest.fixture
async def browser(address: str) -> AsyncIterator[Browser]:
    browser = Browser(f"http://{address}")
    yield browser
    await browser.close()


async def signing_in(browser: Browser, username: str = "alice", **parameters: str) -> Page:
    """The page after the login page."""
    page = await authorize(browser, **parameters)
    return await browser.log_in(page, username, password="alice")


async def authorize(browser: Browser, **parameters: str) -> Page:
    request = {
        "client_id": "spa",
        "response_type": "code",
        "scope": "openid api1",
        "redirect_uri": "http://localhost:5173/callback",
        "code_challenge": s256("v" * 43),
        "code_challenge_method": "S256",
        **parameters,
    }
    return await browser.get(f"/connect/authorize?{urlencode(request)}")


def ran(command: str, address: str) -> str:
    command = command.replace(DEMONSTRATION, address)
    return subprocess.run(
        ["sh", "-eu"], input=command, capture_output=True, text=True, check=True, timeout=60
    ).stdout


@pytest.mark.parametrize("number", range(len(REQUESTS)), ids=lambda n: REQUESTS[n].section)
def test_a_request_gives_what_the_page_says(number: int, address: str) -> None:
    answer = ran(REQUESTS[number].text, address)
    assert says(ANSWERS[number].text, answer), answer


def test_an_unknown_api_key_is_refused_with_the_grants_own_member(address: str) -> None:
    answer = json.loads(ran(REQUESTS[0].text.replace("my-api-key", "another"), address))
    assert (answer["error"], answer["help"]) == ("invalid_grant", "https://example.com/keys")


def test_the_tests_of_the_grants_pass(extended: Extended) -> None:
    """With the copy of the service, as their author would run them."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "."],
        cwd=extended.folder,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 passed" in run.stdout


def test_an_entry_point_names_a_handler(extended: Extended) -> None:
    (named,) = (block for block in blocks(PAGE) if block.language == "text")
    handler = yaml.safe_load(named.text)["extension_grants"][0]
    grants = [{**grant, **handler} for grant in extended.configuration["extension_grants"]]
    with extended.start({**extended.configuration, "extension_grants": grants}) as address:
        assert says(ANSWERS[0].text, ran(REQUESTS[0].text, address))


def test_discovery_lists_what_was_added(address: str) -> None:
    found = httpx2.get(f"http://{address}/.well-known/openid-configuration").json()
    assert "urn:example:api-key" in found["grant_types_supported"]
    assert "house_secret" in found["token_endpoint_auth_methods_supported"]
    assert "json_fragment" in found["response_modes_supported"]
    assert "urn:example:one-minute" in found["grant_types_supported"]
    assert found["time_endpoint"].endswith("/connect/time")


def test_a_client_uses_the_added_method_that_it_is_registered_for(address: str) -> None:
    asked = {"grant_type": "client_credentials"}
    header = {"Authorization": "House old-machine:machine-secret"}
    answer = httpx2.post(f"http://{address}/connect/token", data=asked, headers=header)
    assert answer.status_code == 200
    other = httpx2.post(
        f"http://{address}/connect/token", data=asked, auth=("old-machine", "machine-secret")
    )
    assert (other.status_code, other.json()["error"]) == (401, "invalid_client")


def test_a_client_registers_dynamically_for_what_was_added(extended: Extended) -> None:
    registration = {"enabled": True, "allowed_scopes": ["openid"]}
    asked = {
        "token_endpoint_auth_method": "house_secret",
        "grant_types": ["urn:example:one-minute"],
    }
    with extended.start({**extended.configuration, "registration": registration}) as address:
        answer = httpx2.post(f"http://{address}/connect/register", json=asked)
        refused = {"grant_types": ["urn:example:api-key"]}
        other = httpx2.post(f"http://{address}/connect/register", json=refused)
    assert (answer.status_code, answer.json()["token_endpoint_auth_method"]) == (
        201,
        "house_secret",
    )
    assert answer.json()["client_secret"]
    assert (other.status_code, other.json()["error"]) == (400, "invalid_client_metadata")


def test_a_machine_endpoint_answers(address: str) -> None:
    answer = httpx2.get(f"http://{address}/connect/time")
    assert answer.json()["now"] > 1_600_000_000


async def test_users_come_from_their_own_store(browser: Browser) -> None:
    page = await signing_in(browser, "Carol")
    assert not page.has("login-error")


async def test_a_page_of_the_operator_replaces_the_built_in_one(browser: Browser) -> None:
    page = await authorize(browser)
    assert page.has("help")
    assert page.has("username")
    assert "/static/custom." in page.text


def test_an_endpoint_answers(address: str) -> None:
    answer = httpx2.get(f"http://{address}/.well-known/security.txt")
    assert (answer.status_code, answer.text) == (200, "Contact: mailto:security@example.com\n")


async def test_a_response_mode_carries_the_answer(browser: Browser) -> None:
    page = await signing_in(browser, response_mode="json_fragment", state="the-state")
    answer = json.loads(unquote(urlsplit(page.url).fragment))
    assert answer["state"] == "the-state"
    assert answer["code"].startswith("ac_")


async def test_a_step_asks_whom_it_concerns(browser: Browser) -> None:
    page = await signing_in(browser, "carol")
    assert page.path == "/account/terms"
    assert "code" in (await browser.submit(page, action="accept")).parameters


async def test_a_step_refuses_the_request_if_the_user_refuses(browser: Browser) -> None:
    page = await signing_in(browser, "carol")
    assert (await browser.submit(page, action="refuse")).error == "access_denied"


async def test_a_step_that_is_needed_refuses_prompt_none(browser: Browser) -> None:
    await signing_in(browser, "carol")
    assert (await authorize(browser, prompt="none")).error == "interaction_required"


def test_a_notifier_is_called_for_each_request(extended: Extended, address: str) -> None:
    asked = httpx2.post(
        f"http://{address}/connect/ciba",
        auth=("till", "till-secret"),
        data={"scope": "openid", "login_hint": "alice"},
    )
    assert asked.status_code == 200, asked.text
    (written,) = extended.folder.rglob("told-*.txt")
    assert written.read_text().startswith("Till 7: http")


def test_what_was_added_keeps_the_import_contracts_and_the_limit_of_lines(
    extended: Extended,
) -> None:
    contracts: list[str | Path] = [
        LINT_IMPORTS,
        "--no-cache",
        "--config",
        REPOSITORY / "pyproject.toml",
    ]
    judged = subprocess.run(
        contracts, cwd=extended.folder, capture_output=True, text=True, check=False
    )
    assert judged.returncode == 0, judged.stdout
    files = (extended.folder / "service").rglob("*.py")
    long = [one for one in files if len(one.read_text().splitlines()) > MAX_FILE_LINES]
    assert long == []
