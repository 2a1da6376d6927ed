"""The admin API ends sessions, grants, factors and clients, and what ends is audited with who ended it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from service.events.admin import AdminAction
from service.events.factors import FactorRemoved
from service.events.users import SessionEnded
from tests.admin.conftest import ALICE, Admin, token_of
from tests.ciba.consumption import Device, ciba_client
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import register
from tests.driving.registry import client_in, password_of, user_in
from tests.driving.service import Answer, RunningService
from tests.factors.phone import Phone
from tests.logout.relying_party import relying_party

USER = f"/admin/users/{ALICE}"
LOCKOUT = 901


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Clients that register themselves, few wrong passwords, and a user with a CIBA code."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    config["limits"] = {"login_failures": 2}
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    user_in(config, "bob")["ciba_user_code"] = password_of("code")
    return config


def actions(service: RunningService) -> list[AdminAction]:
    """Return the audited actions."""
    return [one for one in service.events if isinstance(one, AdminAction)]


async def grant_of(service: RunningService, subject: str = ALICE) -> str:
    """The id of the only grant of a user."""
    (found,) = await service.features.shared.authorizations.find_all_of(subject)
    return found.id


async def session_of(service: RunningService, subject: str = ALICE) -> str:
    """The id of the only session of a user."""
    (found,) = await service.features.shared.sessions.find_all_of(subject)
    return found.id


async def test_sessions_of_a_user_end_with_their_tokens(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    token = (await app.tokens())["access_token"]
    assert (await admin("DELETE", f"{USER}/sessions")).status == 204
    assert not await service.is_active(token)
    assert (await app.authorize(prompt="none")).parameters["error"] == "login_required"
    assert [one.subject for one in service.events if isinstance(one, SessionEnded)] == [ALICE]


async def test_session_ends_by_its_id_and_others_stay(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    kept = (await app.tokens("bob"))["access_token"]
    browser = Browser(service.issuer)
    ended = (await ClientApp(service, browser).tokens())["access_token"]
    await browser.close()
    assert (await admin("DELETE", f"/admin/sessions/{await session_of(service)}")).status == 204
    assert [await service.is_active(one) for one in (kept, ended)] == [True, False]


async def test_offline_grants_outlive_the_end_of_sessions(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    token = (await app.tokens(scope="openid api1 offline_access"))["access_token"]
    await admin("DELETE", f"{USER}/sessions")
    assert await service.is_active(token)


async def test_grants_of_a_user_end_with_refresh_tokens_codes_and_consents(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    code = await app.code()
    assert (await admin("DELETE", f"{USER}/grants")).status == 204
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    assert not await service.is_active(tokens["access_token"])
    assert actions(service)[0].count == 2


async def test_grant_ends_by_its_id(admin: Admin, service: RunningService, app: ClientApp) -> None:
    token = (await app.tokens())["access_token"]
    grant_id = await grant_of(service)
    assert (await admin("DELETE", f"/admin/grants/{grant_id}")).status == 204
    assert not await service.is_active(token)
    (action,) = actions(service)
    assert (action.action, action.target, action.client_id) == ("end_grant", grant_id, "web")


async def test_grants_of_a_client_end_and_those_of_others_stay(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    ended = (await app.tokens())["access_token"]
    kept = (await service.user_token("frontend"))["access_token"]
    assert (await admin("DELETE", "/admin/clients/web/grants")).status == 204
    assert [await service.is_active(one) for one in (ended, kept)] == [False, True]
    assert actions(service)[0].count == 1


async def test_consent_is_asked_for_again_after_the_grants_of_a_client_ended(
    admin: Admin, app_of: Callable[[str], ClientApp]
) -> None:
    app = app_of("consenting")
    page = await app.login()
    await app.browser.submit(page, action="allow", remember="on")
    await admin("DELETE", "/admin/clients/consenting/grants")
    assert (await app.authorize(prompt="none")).parameters["error"] == "consent_required"


async def test_factors_of_a_user_are_removed(
    admin: Admin, service: RunningService, app: ClientApp
) -> None:
    await Phone().enrol(service)
    assert (await admin("DELETE", f"{USER}/factors")).status == 204
    assert [one.method for one in service.events if isinstance(one, FactorRemoved)] == ["otp"]
    assert (await app.login()).url.startswith("https://web.example/callback")


async def test_locked_user_signs_in_after_the_unlock(admin: Admin, service: RunningService) -> None:
    async def sign_in(password: str) -> Answer:
        form = {"username": "alice", "password": password, "scope": "api1"}
        return await service.token("frontend", grant_type="password", **form)

    for _ in range(2):
        await sign_in("wrong")
    assert (await sign_in("alice-password")).refusal == (400, "invalid_grant")
    assert (await admin("POST", f"{USER}/unlock")).status == 204
    assert (await sign_in("alice-password")).status == 200


@pytest.mark.rfc("ciba#7.1")
@pytest.mark.parametrize("rounds", [1, 10], ids=["few wrong codes", "many wrong codes"])
async def test_locked_ciba_code_is_accepted_after_the_unlock(
    service: RunningService, clock: Clock, rounds: int
) -> None:
    till = Device(service)
    right = {"login_hint": "bob", "user_code": "code-password"}
    for _ in range(rounds):
        for _ in range(2):
            await till.ask(login_hint="bob", user_code="wrong")
        clock.forward(seconds=LOCKOUT)
    for _ in range(2):
        await till.ask(login_hint="bob", user_code="wrong")
    assert (await till.ask(**right)).refusal == (400, "invalid_user_code")
    token = await token_of(service, "operations")
    unlocked = await service.admin("POST", "/admin/users/88421113/unlock", token)
    assert unlocked.status == 204
    assert (await till.ask(**right)).status == 200


async def test_registered_client_is_deleted_and_its_tokens_end(
    admin: Admin, service: RunningService
) -> None:
    made = (await register(service)).json
    path = f"/admin/registered-clients/{made['client_id']}"
    assert (await admin("DELETE", path)).status == 204
    sent = {"Authorization": f"Bearer {made['registration_access_token']}"}
    read = await service.get(f"/connect/register/{made['client_id']}", headers=sent)
    assert read.refusal == (401, "invalid_token")


async def test_client_of_the_file_is_not_deleted(admin: Admin, service: RunningService) -> None:
    assert (await admin("DELETE", "/admin/registered-clients/web")).status == 204
    assert await service.features.clients.find("web") is not None
    assert actions(service)[0].count == 0


async def test_next_key_is_announced_once(admin: Admin, service: RunningService) -> None:
    first = await admin("POST", "/admin/keys/rotate")
    again = await admin("POST", "/admin/keys/rotate")
    assert (first.status, again.status) == (200, 200)
    assert first["kid"] == again["kid"] == first["kids"]["ES256"]
    jwks = await service.get("/.well-known/jwks.json")
    assert first["kid"] not in [key["kid"] for key in jwks["keys"][:1]]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/admin/users/nobody/sessions"),
        ("DELETE", "/admin/users/nobody/grants"),
        ("DELETE", "/admin/users/nobody/factors"),
        ("POST", "/admin/users/nobody/unlock"),
        ("DELETE", "/admin/sessions/nothing"),
        ("DELETE", "/admin/sessions/{*}"),
        ("DELETE", "/admin/grants/nothing"),
        ("DELETE", "/admin/clients/nobody/grants"),
        ("DELETE", "/admin/registered-clients/dc_nobody"),
        ("DELETE", f"/admin/registered-clients/{quote('https://app.example/client', safe='')}"),
        ("DELETE", f"/admin/users/{quote('a/b*?{}%', safe='')}/sessions"),
    ],
)
async def test_nothing_to_end_is_a_success_too(
    admin: Admin, service: RunningService, app: ClientApp, method: str, path: str
) -> None:
    token = (await app.tokens())["access_token"]
    assert (await admin(method, path)).status == 204
    assert await service.is_active(token)
    assert len(actions(service)) == 1


async def test_audit_names_the_user_and_the_client_that_acted(
    service: RunningService, app_of: Callable[[str], ClientApp]
) -> None:
    token = (await app_of("desk").tokens(scope="openid admin.write"))["access_token"]
    await service.admin("DELETE", "/admin/users/88421113/sessions", token)
    (action,) = actions(service)
    assert (action.actor_client_id, action.actor_subject) == ("desk", ALICE)
    assert (action.action, action.subject, action.count) == ("end_sessions", "88421113", 0)


async def test_names_in_a_path_are_decoded_once(admin: Admin, service: RunningService) -> None:
    await admin("DELETE", f"/admin/users/{quote('a/b%2Fc', safe='')}/sessions")
    assert actions(service)[0].subject == "a/b%2Fc"


async def test_clients_get_logout_tokens(start: Any, config: dict[str, Any]) -> None:
    async with relying_party() as party:
        client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
        party.answering.set()
        await _end_a_session(await start(config))
        (claims,) = await party.claims()
    assert claims["sub"] == ALICE


async def _end_a_session(service: RunningService) -> None:
    browser = Browser(service.issuer)
    await ClientApp(service, browser).tokens()
    await browser.close()
    issued = await service.token("operations", grant_type="client_credentials", scope="admin.write")
    answer = await service.admin("DELETE", f"{USER}/sessions", issued["access_token"])
    assert answer.status == 204
