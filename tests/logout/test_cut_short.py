"""A sign-out that the store cut short can be repeated, and ends all it should."""

from __future__ import annotations

import pytest

from service.store.keyvalue import StoreUnavailable
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService


async def test_a_logout_that_was_cut_short_ends_the_tokens_when_repeated(
    app: ClientApp,
    service: RunningService,
    tokens: Answer,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read_members(*_: object, **__: object) -> tuple[str, ...]:
        raise StoreUnavailable("away")

    url = f"/connect/endsession?id_token_hint={hint}"
    monkeypatch.setattr(service.parts.shared.kv, "read_members", read_members)
    assert (await app.browser.get(url)).status == 503
    monkeypatch.undo()
    assert (await app.browser.get(url)).has("logout-success")
    assert not await service.is_active(tokens["access_token"])
