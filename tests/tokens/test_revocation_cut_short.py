"""A revocation that the store cut short can be repeated, and ends all it should (RFC 7009 §2.2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from service.store.keyvalue import StoreUnavailable
from service.store.verbs import Command
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7009#2.2.1")


@pytest.fixture
def cut_short(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A store that cannot tell what was made from a token."""

    write = service.features.shared.kv.write

    async def written(*writes: Command, **options: Any) -> list[Any]:
        if any(command == "ZRANGEBYSCORE" for command, *_ in writes):
            raise StoreUnavailable("away")
        return await write(*writes, **options)

    monkeypatch.setattr(service.features.shared.kv, "write", written)
    return monkeypatch


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_delegated_tokens_end_when_a_revocation_is_repeated(
    service: RunningService, client: str, cut_short: pytest.MonkeyPatch
) -> None:
    token = (await service.user_token(client))["access_token"]
    delegated = (await service.token("api1", grant_type="delegation", token=token, scope="api2"))[
        "access_token"
    ]
    assert (await service.post("/connect/revocation", auth=client, token=token)).status == 503
    cut_short.undo()
    assert (await service.post("/connect/revocation", auth=client, token=token)).status == 200
    assert not await service.is_active(token)
    assert not await service.is_active(delegated, caller="api2")
