"""An answer of the store that got lost, and the store client's own retry (RFC 9700 §4.14.2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.store.keyvalue import StoreUnavailable
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9700#4.14.2", "6749#4.1.2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`web` may repeat a refresh token, `frontend` may not."""
    client_in(config, "web")["refresh_token_reuse_interval"] = "30s"
    return config


def lose_the_next_answer(service: RunningService, patch: pytest.MonkeyPatch) -> None:
    """The store executes one more command, and the answer never arrives."""
    write = service.features.shared.kv.write

    async def lose_answer(*writes: Any, durable: bool = False) -> Any:
        patch.undo()
        await write(*writes, durable=durable)
        raise StoreUnavailable("the store cannot be reached")

    patch.setattr(service.features.shared.kv, "write", lose_answer)


def send_everything_twice(service: RunningService, patch: pytest.MonkeyPatch) -> None:
    """Repeat a command, as after a connection that broke once it was sent."""
    write = service.features.shared.kv.write

    async def repeat_command(*writes: Any, durable: bool = False) -> Any:
        await write(*writes, durable=durable)
        return await write(*writes, durable=durable)

    patch.setattr(service.features.shared.kv, "write", repeat_command)


async def test_a_refresh_that_was_answered_503_can_be_repeated(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await app.tokens(scope="openid api1 offline_access")
    lose_the_next_answer(app.service, monkeypatch)
    lost = await app.refresh(first["refresh_token"])
    assert lost.refusal == (503, "temporarily_unavailable")
    again = await app.refresh(first["refresh_token"])
    assert again.status == 200
    assert (await app.refresh(again["refresh_token"])).status == 200


async def test_without_an_interval_a_lost_answer_ends_the_family(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await service.user_token(scope="api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    lose_the_next_answer(service, monkeypatch)
    assert (await service.token("frontend", **form)).status == 503
    assert (await service.token("frontend", **form)).refusal == (400, "invalid_grant")
    assert not await service.is_active(first["access_token"])


async def test_the_store_clients_own_retry_is_no_replay(
    app: ClientApp, service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await app.code(scope="openid api1 offline_access")
    own = await service.user_token(scope="api1 offline_access")
    send_everything_twice(service, monkeypatch)
    tokens = await app.redeem(code)
    assert (await app.refresh(tokens["refresh_token"])).status == 200
    form = {"grant_type": "refresh_token", "refresh_token": own["refresh_token"]}
    refreshed = await service.token("frontend", **form)
    assert await service.is_active(refreshed["access_token"])
    source = {"token": refreshed["access_token"], "scope": "api2"}
    delegated = await service.token("api1", grant_type="delegation", **source)
    assert await service.is_active(delegated["access_token"], caller="api2")
