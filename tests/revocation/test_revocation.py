"""A client gives a token back (RFC 7009)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TokenRevoked
from service.model.handle import new_handle, parse_handle
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("7009#2")


async def revoke(
    service: RunningService, token: str, client: str = "frontend", **form: Any
) -> Answer:
    """Revoke a token; the answer never says what it was."""
    answer = await service.post("/connect/revocation", auth=client, token=token, **form)
    assert (answer.status, answer.body) == (200, b"")
    return answer


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_an_access_token_is_inactive_at_once(service: RunningService, client: str) -> None:
    tokens = await service.user_token(client, "api1 offline_access")
    await revoke(service, tokens["access_token"], client)
    assert not await service.is_active(tokens["access_token"])
    assert await service.is_active(tokens["refresh_token"], caller=client)


@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_a_clients_own_token_is_revoked_alike(service: RunningService, client: str) -> None:
    first, second = [
        (await service.token(client, grant_type="client_credentials"))["access_token"]
        for _ in range(2)
    ]
    await revoke(service, first, client)
    assert not await service.is_active(first)
    assert await service.is_active(second)


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_refresh_token_takes_its_grant_with_it(
    service: RunningService, client: str
) -> None:
    tokens = await service.user_token(client, "api1 offline_access")
    await revoke(service, tokens["refresh_token"], client)
    assert not await service.is_active(tokens["access_token"])
    again = await service.token(
        client, grant_type="refresh_token", refresh_token=tokens["refresh_token"]
    )
    assert again.refusal == (400, "invalid_grant")


@pytest.mark.rfc("7009#2.1", "7662#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_access_token_of_a_revoked_grant_is_inactive_though_its_client_may_act_for_itself(
    service: RunningService, config: dict[str, Any], client: str
) -> None:
    """It is not read as a token of the client alone, which has no grant."""
    client_in(config, client)["allowed_grant_types"].append("client_credentials")
    service.reload(config)
    tokens = await service.user_token(client, "api1 offline_access")
    assert await service.is_active(tokens["access_token"])
    await revoke(service, tokens["refresh_token"], client)
    assert not await service.is_active(tokens["access_token"])


async def test_other_grants_of_the_user_live_on(service: RunningService) -> None:
    one, other = [await service.user_token(scope="api1 offline_access") for _ in range(2)]
    await revoke(service, one["refresh_token"])
    assert await service.is_active(other["access_token"])


@pytest.mark.parametrize("token_kind", ["access_token", "refresh_token"])
async def test_audit_log_says_which_client_revoked_what_kind_of_token(
    service: RunningService, events: list[object], token_kind: str
) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for client in ("web", "frontend"):
        await revoke(service, tokens[token_kind], client)
    await revoke(service, "unknown")
    revoked = [event for event in events if isinstance(event, TokenRevoked)]
    assert revoked == [TokenRevoked(client_id="frontend", token_kind=token_kind)]


async def test_a_foreign_token_stays_alive(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for name in ("access_token", "refresh_token"):
        await revoke(service, tokens[name], "machine")
    assert await service.is_active(tokens["access_token"])
    assert await service.is_active(tokens["refresh_token"], caller="frontend")


@pytest.mark.rfc("7009#2.2")
@pytest.mark.parametrize("token", ["nonsense", "a.b.c", "at_x", "é", "x" * 60000], ids=len)
async def test_an_unknown_token_is_no_error(service: RunningService, token: str) -> None:
    answer = await revoke(service, token)
    assert answer.headers["Cache-Control"] == "no-store"


async def test_revoking_twice_is_no_error(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for name in ("access_token", "access_token", "refresh_token", "refresh_token"):
        await revoke(service, tokens[name])


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense", ""])
async def test_a_hint_is_a_hint(service: RunningService, hint: str) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    await revoke(service, tokens["access_token"], token_type_hint=hint)
    assert not await service.is_active(tokens["access_token"])
    await revoke(service, tokens["refresh_token"], token_type_hint=hint)
    assert not await service.is_active(tokens["refresh_token"], caller="frontend")


async def test_a_public_client_revokes_its_own(app_of: Any, service: RunningService) -> None:
    app: ClientApp = app_of("spa")
    tokens = await app.tokens(scope="openid api1 offline_access")
    form = {"client_id": "spa", "token": tokens["refresh_token"]}
    assert (await service.post("/connect/revocation", **form)).status == 200
    assert not await service.is_active(tokens["access_token"])


async def test_a_spent_refresh_token_ends_its_family_too(service: RunningService) -> None:
    first = await service.user_token(scope="api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = await service.token("frontend", **form)
    await revoke(service, first["refresh_token"])
    assert not await service.is_active(second["access_token"])


async def test_an_invented_refresh_token_of_a_known_grant_revokes_nothing(
    service: RunningService,
) -> None:
    """Its selector is not secret: the `jti` of every access token of the grant begins with it."""
    tokens = await service.user_token(scope="api1 offline_access")
    handle = parse_handle(tokens["refresh_token"], "refresh_token")
    assert handle is not None
    await revoke(service, new_handle("refresh_token", handle.selector).text)
    assert await service.is_active(tokens["access_token"])
    assert await service.is_active(tokens["refresh_token"], caller="frontend")


@pytest.mark.parametrize("client", ["frontend", "opaque"])
@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
async def test_revocation_counts_while_the_user_is_disabled(
    service: RunningService, config: dict[str, Any], client: str, kind: str
) -> None:
    tokens = await service.user_token(client, "api1 offline_access")
    for enabled in (False, True):
        config["users"]["list"][0]["enabled"] = enabled
        service.reload(config)
        if not enabled:
            await revoke(service, tokens[kind], client)
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.parametrize(
    "auth", [None, ("frontend", "wrong"), ("nobody", "x"), ("api2", "api2-secret")], ids=str
)
async def test_unauthenticated_caller_revokes_nothing(service: RunningService, auth: Any) -> None:
    token = (await service.user_token())["access_token"]
    answer = await service.post("/connect/revocation", auth=auth, token=token)
    assert answer.refusal == (401, "invalid_client")
    assert ("WWW-Authenticate" in answer.headers) is (auth is not None)
    assert await service.is_active(token)


@pytest.mark.parametrize("form", [{}, {"token": ""}], ids=["none", "empty"])
async def test_token_has_to_be_there(service: RunningService, form: dict[str, Any]) -> None:
    answer = await service.post("/connect/revocation", auth="frontend", **form)
    assert answer.refusal == (400, "invalid_request")
