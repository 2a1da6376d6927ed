"""`sessions` and `grants` list and end what the options fit, on the store of a running service."""

from __future__ import annotations

import json

import pytest

from service.model.client_metadata import new_client_id, selector_of
from tests.cli.conftest import Command
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in

OFFLINE = "openid api1 offline_access"


async def rows(command: Command, *arguments: str) -> list[list[str]]:
    """The cells of the table below its header."""
    result = await command(*arguments)
    assert result.exit_code == 0
    return [line.split() for line in result.stdout.splitlines()[1:]]


async def first_cells(command: Command, *arguments: str) -> set[str]:
    return {row[0] for row in await rows(command, *arguments)}


@pytest.fixture
async def alice(app: ClientApp) -> str:
    """Her session, with tokens of the client `web`."""
    return str(claims_in((await app.tokens())["id_token"])["sid"])


@pytest.fixture
async def bob(service: RunningService) -> str:
    """His session, with tokens of the client `spa`."""
    browser = Browser(service.issuer)
    tokens = await ClientApp(service, browser, "spa").tokens("bob")
    await browser.close()
    return str(claims_in(tokens["access_token"])["sid"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["alice", "bob"]),
        (["--subject", "818727"], ["alice"]),
        (["--client", "spa"], ["bob"]),
        (["--client", "spa", "--subject", "818727"], []),
        (["--client", "unknown"], []),
        (["--session", "*"], []),
    ],
    ids=str,
)
async def test_sessions_are_listed_by_all_options(
    command: Command, alice: str, bob: str, options: list[str], expected: list[str]
) -> None:
    named = {alice: "alice", bob: "bob"}
    found = await first_cells(command, "sessions", "list", *options)
    assert sorted(named[sid] for sid in found) == expected


async def test_sessions_are_listed_as_json(command: Command, alice: str) -> None:
    (session,) = json.loads((await command("sessions", "list", "--format", "json")).stdout)
    assert (session["session"], session["subject"], session["idp"]) == (alice, "818727", "local")
    assert session["signed_in"] < session["ends_at"]


async def test_grants_are_listed_as_json(command: Command, alice: str) -> None:
    (grant,) = json.loads((await command("grants", "list", "--format", "json")).stdout)
    assert (grant["client"], grant["session"], grant["scope"]) == ("web", alice, "api1 openid")


@pytest.mark.usefixtures("service")
@pytest.mark.parametrize("group", ["sessions", "grants"])
async def test_an_empty_list_is_a_header_or_empty_json(command: Command, group: str) -> None:
    assert (await command(group, "list")).stdout.split()[0] == group.removesuffix("s").upper()
    assert (await command(group, "list", "--format", "json")).stdout == "[]\n"


@pytest.mark.usefixtures("alice")
async def test_a_session_is_listed_by_its_id(command: Command, bob: str) -> None:
    assert await first_cells(command, "sessions", "list", "--session", bob) == {bob}


@pytest.mark.usefixtures("alice")
async def test_ending_a_session_asks_for_the_login_again(command: Command, app: ClientApp) -> None:
    result = await command("sessions", "end", "--subject", "818727")
    assert (result.exit_code, result.stdout) == (0, "sessions ended: 1\n")
    assert (await app.authorize()).has("login")
    assert await rows(command, "sessions", "list") == []


@pytest.mark.usefixtures("alice")
async def test_ending_a_session_leaves_the_others(command: Command, bob: str) -> None:
    await command("sessions", "end", "--client", "web")
    assert await first_cells(command, "sessions", "list") == {bob}


async def test_an_ended_session_leaves_what_is_offline(
    command: Command, app: ClientApp, service: RunningService
) -> None:
    online, offline = await app.tokens(), await app.tokens(scope=OFFLINE)
    await command("sessions", "end", "--session", claims_in(online["id_token"])["sid"])
    assert not await service.is_active(online["access_token"])
    assert await service.is_active(offline["access_token"])


async def test_ending_is_written_to_the_audit_log(command: Command, alice: str) -> None:
    result = await command("sessions", "end", "--session", alice)
    assert '"event":"session_ended"' in result.stderr


@pytest.mark.usefixtures("bob")
async def test_grants_are_listed_with_client_subject_and_scope(
    command: Command, alice: str
) -> None:
    (row,) = await rows(command, "grants", "list", "--client", "web")
    assert (row[1:4], row[5:]) == (["web", "818727", alice], ["api1", "openid"])


@pytest.mark.parametrize(
    ("options", "clients"),
    [
        ([], ["spa", "web"]),
        (["--subject", "88421113"], ["spa"]),
        (["--client", "web"], ["web"]),
        (["--subject", "88421113", "--client", "web"], []),
    ],
    ids=str,
)
@pytest.mark.usefixtures("alice", "bob")
async def test_grants_are_listed_by_all_options(
    command: Command, options: list[str], clients: list[str]
) -> None:
    found = {row[1] for row in await rows(command, "grants", "list", *options)}
    assert sorted(found) == clients


@pytest.mark.usefixtures("alice")
async def test_grants_are_listed_by_session(command: Command, bob: str) -> None:
    assert [row[1] for row in await rows(command, "grants", "list", "--session", bob)] == ["spa"]


async def test_a_revoked_grant_kills_its_tokens(
    command: Command, app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope=OFFLINE)
    result = await command("grants", "revoke", "--client", "web")
    assert (result.exit_code, result.stdout) == (0, "grants revoked: 1\n")
    assert not await service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("options", "asked_again"),
    [
        (["--subject", "818727"], True),
        (["--client", "consenting"], True),
        (["--subject", "818727", "--client", "web"], False),
    ],
    ids=str,
)
async def test_a_revoked_grant_is_asked_for_again(
    command: Command,
    browser: Browser,
    service: RunningService,
    options: list[str],
    asked_again: bool,
) -> None:
    app = ClientApp(service, browser, "consenting")
    page = await browser.submit(await app.login(), action="allow")
    await app.redeem(page.parameters["code"])
    await command("grants", "revoke", *options)
    assert (await app.authorize()).has("consent-allow") is asked_again


async def test_the_grants_of_one_session_leave_the_consent(
    command: Command, browser: Browser, service: RunningService
) -> None:
    app = ClientApp(service, browser, "consenting")
    page = await browser.submit(await app.login(), action="allow")
    tokens = await app.redeem(page.parameters["code"])
    await command("grants", "revoke", "--session", claims_in(tokens["access_token"])["sid"])
    assert not await service.is_active(tokens["access_token"])
    assert "code" in (await app.authorize()).parameters


@pytest.mark.parametrize("arguments", [("sessions", "end"), ("grants", "revoke")], ids=str)
async def test_nothing_named_ends_nothing(
    command: Command, alice: str, arguments: tuple[str, ...]
) -> None:
    result = await command(*arguments)
    assert (result.exit_code, "--subject" in result.stderr) == (2, True)
    assert await first_cells(command, "sessions", "list") == {alice}


ENDING = [("sessions", "end"), ("grants", "revoke")]


@pytest.mark.usefixtures("alice")
@pytest.mark.parametrize("arguments", ENDING, ids=str)
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--client", "wep"], "no client has the client_id wep; did you mean web?"),
        (["--client", "nobody-at-all"], "no client has the client_id nobody-at-all"),
        (["--subject", "nobody"], "nobody has this subject"),
        (["--subject", "alice"], "did you mean 818727, the subject of this user?"),
    ],
    ids=str,
)
async def test_unknown_name_is_an_error(
    command: Command, arguments: tuple[str, ...], options: list[str], shown: str
) -> None:
    result = await command(*arguments, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert shown in result.stderr


@pytest.mark.parametrize("arguments", ENDING, ids=str)
@pytest.mark.parametrize(
    "options",
    [
        ["--client", "spa"],
        ["--client", "https://app.example/client.json"],
        ["--subject", "818727"],
        ["--subject", "818727", "--client", "spa"],
    ],
    ids=str,
)
async def test_known_name_may_have_nothing_to_end(
    command: Command, arguments: tuple[str, ...], options: list[str]
) -> None:
    result = await command(*arguments, *options)
    assert (result.exit_code, result.stdout.split(": ")[1]) == (0, "0\n")


async def test_client_that_registered_itself_is_known(
    command: Command, service: RunningService
) -> None:
    shared = service.features.shared
    client_id = new_client_id()
    result = await command("grants", "revoke", "--client", client_id)
    assert result.exit_code == 1
    key = shared.stores.registered_clients.key(str(selector_of(client_id)))
    await shared.kv.write(("SET", key, b"a record", "EX", 60))
    result = await command("grants", "revoke", "--client", client_id)
    assert (result.exit_code, result.stdout) == (0, "grants revoked: 0\n")


@pytest.mark.usefixtures("service")
async def test_subject_whose_consent_alone_is_withdrawn_is_known(
    command: Command, browser: Browser, service: RunningService
) -> None:
    app = ClientApp(service, browser, "consenting")
    await browser.submit(await app.login(), action="allow")
    await command("sessions", "end", "--subject", "818727")
    result = await command("grants", "revoke", "--subject", "818727")
    assert result.exit_code == 0
