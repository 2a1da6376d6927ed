"""`explain` says what a token is, whose, and which check it fails; and it never repeats it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from service.cli.program import program
from service.model.handle import new_handle, new_selector, parse_handle
from tests.cli.conftest import Command
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

OFFLINE = "openid api1 offline_access"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Tokens that a test can wait for to expire."""
    client_in(config, "machine")["access_token_lifetime"] = "1s"
    client_in(config, "robot")["access_token_lifetime"] = "1s"
    return config


async def explained(command: Command, token: str) -> dict[str, str]:
    """The facts that the command prints, by name."""
    result = await command("explain", token)
    assert (result.exit_code, token in result.output) == (0, False)
    return dict(line.split(maxsplit=1) for line in result.stdout.splitlines())


async def for_itself(service: RunningService, client: str) -> str:
    """A token of a client that acts for itself."""
    answer = await service.token(client, grant_type="client_credentials", scope="api1")
    return str(answer["access_token"])


async def change_registry(service: RunningService, section: str, name: str, **change: Any) -> None:
    """Edit the configuration file and reload it, as an operator does."""
    file = service.features.shared.configuration.file
    configuration = yaml.safe_load(file.read_text())
    entries = configuration["clients"] if section == "clients" else configuration["users"]["list"]
    next(each for each in entries if name in each.values()).update(change)
    file.write_text(yaml.safe_dump(configuration))
    await asyncio.to_thread(service.features.shared.registry.reload)


@pytest.mark.parametrize(
    ("client", "kind"),
    [("frontend", "access token (JWT)"), ("opaque", "reference access token")],
    ids=["jwt", "reference"],
)
async def test_active_token_is_explained_with_its_grant(
    service: RunningService, command: Command, client: str, kind: str
) -> None:
    facts = await explained(command, (await service.user_token(client))["access_token"])
    known = {name: facts[name] for name in ("kind", "client", "subject", "scope", "state")}
    assert known == {
        "kind": kind,
        "client": client,
        "subject": "818727",
        "scope": "api1",
        "state": "active",
    }


@pytest.mark.parametrize("client", ["machine", "robot"], ids=["jwt", "reference"])
async def test_expired_token_is_explained(
    service: RunningService, command: Command, client: str
) -> None:
    token = await for_itself(service, client)
    while await service.is_active(token):  # noqa: ASYNC110 - nothing is told
        await asyncio.sleep(0.05)
    assert "expired" in (await explained(command, token))["state"]


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
async def test_revoked_token_is_explained_and_its_grant_is_active(
    service: RunningService, command: Command, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    await service.post("/connect/revocation", auth=client, token=token)
    facts = await explained(command, token)
    assert "revoked" in facts["state"]
    assert (facts["client"], facts["subject"]) == (client, "818727")
    assert "ended" not in facts["grant"]


async def test_token_of_a_revoked_grant_is_explained(
    service: RunningService, command: Command
) -> None:
    answer = await service.user_token(scope="api1 offline_access")
    await service.post("/connect/revocation", auth="frontend", token=answer["refresh_token"])
    facts = await explained(command, answer["access_token"])
    assert facts["state"] == "inactive: its authorization has ended"
    assert facts["grant"].endswith("(ended)")


async def test_token_of_an_ended_session_is_explained(app: ClientApp, command: Command) -> None:
    tokens = await app.tokens()
    sid = claims_in(tokens["id_token"])["sid"]
    await command("sessions", "end", "--session", sid)
    facts = await explained(command, tokens["access_token"])
    assert facts["session"] == f"{sid} (ended)"
    assert facts["state"] == "inactive: its authorization has ended"


@pytest.mark.parametrize(
    ("section", "name", "marked"),
    [("clients", "frontend", "client"), ("users", "alice", "subject")],
    ids=["client", "user"],
)
async def test_token_of_a_disabled_party_is_explained(
    service: RunningService, command: Command, section: str, name: str, marked: str
) -> None:
    token = (await service.user_token())["access_token"]
    await change_registry(service, section, name, enabled=False)
    facts = await explained(command, token)
    assert facts["state"] == "inactive: its client or user is disabled or unknown"
    assert facts[marked].endswith("(disabled or unknown)")


async def test_changed_jwt_is_explained(service: RunningService, command: Command) -> None:
    head, _, tail = (await service.user_token())["access_token"].split(".")
    facts = await explained(command, f"{head}.e30.{tail}")
    assert facts["state"] == "inactive: its signature does not verify"


async def test_jwt_of_another_issuer_is_explained(command: Command) -> None:
    facts = await explained(command, "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6IngifQ.e30.x")
    assert (facts["kind"], "no key of the service" in facts["state"]) == ("JWT", True)


async def test_an_id_token_is_no_access_token(app: ClientApp, command: Command) -> None:
    facts = await explained(command, (await app.tokens())["id_token"])
    assert (facts["kind"], facts["client"]) == ("ID token (JWT)", "web")
    assert facts["state"].startswith("inactive: an ID token")
    assert "scope" not in facts


async def test_refresh_token_is_explained_before_and_after_its_use(
    app: ClientApp, command: Command
) -> None:
    tokens = await app.tokens(scope=OFFLINE)
    before = await explained(command, tokens["refresh_token"])
    await app.refresh(tokens["refresh_token"])
    after = await explained(command, tokens["refresh_token"])
    assert (before["kind"], before["client"], before["state"]) == ("refresh token", "web", "active")
    assert after["state"] == "inactive: it was used, and another one took its place"
    assert after["used"].endswith("Z")


async def test_used_refresh_token_and_an_invented_one_are_told_apart_without_a_record(
    app: ClientApp, service: RunningService, command: Command
) -> None:
    """As when the marker of the used one has expired."""
    tokens = await app.tokens(scope=OFFLINE)
    await app.refresh(tokens["refresh_token"])
    used = parse_handle(tokens["refresh_token"], "refresh_token")
    assert used is not None
    stores = service.features.shared.stores
    await stores.kv.write(stores.refresh_tokens.drop(used.selector, used.digest))
    invented = new_handle("refresh_token", used.selector)
    states = [(await explained(command, one.text))["state"] for one in (used, invented)]
    assert states == [
        "inactive: it was used, and another one took its place",
        "inactive: its record is gone: it expired, or never was",
    ]


async def test_code_is_explained_before_and_after_its_use(app: ClientApp, command: Command) -> None:
    code = await app.code()
    before = await explained(command, code)
    await app.redeem(code)
    after = await explained(command, code)
    assert (before["kind"], before["client"]) == ("authorization code", "web")
    assert (before["state"], after["state"]) == ("waits to be redeemed", "inactive: it was used")


async def test_session_cookie_is_explained(app: ClientApp, command: Command) -> None:
    await app.login()
    cookies = app.browser.cookies
    facts = await explained(command, cookies["sid"])
    assert (facts["kind"], facts["subject"]) == ("session cookie", "818727")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token", "authorization_code", "session"])
async def test_typo_is_found_by_the_checksum(command: Command, kind: Any) -> None:
    text = new_handle(kind, new_selector()).text
    mistyped = text[:30] + ("a" if text[30] != "a" else "b") + text[31:]
    for wrong in (mistyped, text[:-1]):
        assert "checksum is wrong" in (await explained(command, wrong))["state"]


@pytest.mark.parametrize("kind", ["access_token", "refresh_token", "authorization_code", "session"])
async def test_token_that_never_existed_is_explained(command: Command, kind: Any) -> None:
    facts = await explained(command, new_handle(kind, new_selector()).text)
    assert facts["state"].startswith("inactive: ")


@pytest.mark.parametrize("text", ["nonsense", "a.b", "a.b.c", "\x1b[2J.x.y", "ü" * 300])
async def test_anything_else_is_nothing_of_ours(command: Command, text: str) -> None:
    facts = await explained(command, text)
    assert facts["state"].startswith("inactive: ")
    assert "\x1b" not in str(facts)


async def test_a_token_comes_by_standard_input(service: RunningService, command: Command) -> None:
    token = (await service.user_token())["access_token"]
    result = await command("explain", "-", given=f"{token}\n")
    assert (result.exit_code, "active" in result.stdout) == (0, True)


async def test_nothing_is_wrong_input(command: Command) -> None:
    result = await command("explain", "-", given="\n")
    assert (result.exit_code, "no token" in result.stderr) == (1, True)


async def test_looking_makes_no_keys(service: RunningService, command: Command) -> None:
    key = f"{service.features.shared.prefix}:keys"
    before = await service.features.shared.kv.get(key)
    await command("explain", "nonsense")
    assert await service.features.shared.kv.get(key) == before


@pytest.mark.usefixtures("command")
async def test_explain_runs_as_a_program(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    file = str(service.features.shared.configuration.file)
    arguments = [sys.executable, "-m", "service", "explain", "-", "--config", file]
    done = await asyncio.to_thread(
        subprocess.run, arguments, input=token, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "state" in done.stdout, token in done.stdout) == (0, True, False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [("explain", "x"), ("sessions", "list"), ("grants", "list")],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize(
    ("store", "exit_code", "reason"),
    [("memory://", 1, "inside the process"), ("redis://127.0.0.1:1", 3, "cannot be reached")],
    ids=["embedded", "away"],
)
def test_store_that_cannot_be_read_is_reported(
    config_file: str, arguments: tuple[str, ...], store: str, exit_code: int, reason: str
) -> None:
    result = CliRunner().invoke(program, [*arguments, "--config", config_file, "--store", store])
    assert (result.exit_code, reason in result.stderr) == (exit_code, True)


async def test_jwt_of_the_service_other_than_a_token_is_explained(
    service: RunningService, command: Command
) -> None:
    claims = {"iss": service.issuer, "sub": "818727", "aud": "web"}
    userinfo = await service.features.ring.signing_key().sign(claims, typ="JWT")
    facts = await explained(command, userinfo)
    assert facts["kind"] == "JWT"
    assert facts["state"].startswith("inactive: its claim exp is missing")
