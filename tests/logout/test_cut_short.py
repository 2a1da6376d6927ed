"""A sign-out that the store cut short can be repeated, and ends all it should."""

from __future__ import annotations

from typing import Any

import pytest

from service.store.keyvalue import StoreUnavailable
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in
from tests.logout.relying_party import RelyingParty


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
    monkeypatch.setattr(service.features.shared.kv, "read_members", read_members)
    assert (await app.browser.get(url)).status == 503
    monkeypatch.undo()
    assert (await app.browser.get(url)).has("logout-success")
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.rfc("openid-backchannel#2.5")
async def test_a_logout_that_a_full_redis_refused_reaches_the_client_when_repeated(
    start: Start, config: dict[str, Any], party: RelyingParty, mortal_redis: tuple[str, object]
) -> None:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    service = await start(config | {"store": {"url": mortal_redis[0]}})
    sessions, kv = service.features.shared.sessions, service.features.shared.kv
    browser = Browser(service.issuer)
    sid = claims_in((await ClientApp(service, browser).tokens())["id_token"])["sid"]
    session = await sessions.find_by_id(sid)
    assert session is not None
    await kv.write(("CONFIG", "SET", "maxmemory", 1))
    with pytest.raises(StoreUnavailable):
        await sessions.end(session)
    await kv.write(("CONFIG", "SET", "maxmemory", 0))
    assert await sessions.find_by_id(sid) == session
    await sessions.end(session)
    (claims,) = await party.claims()
    assert claims["sid"] == sid
    await browser.close()
