"""A hanging client does not keep other clients from getting logout tokens (Back-Channel Logout §2.5, RFC 7591 §5)."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from msgspec.structs import force_setattr

from service.model.session import LogoutDelivery
from service.outbox import delivering
from service.store.stores import LOGOUT
from tests.driving.registering import register
from tests.driving.registry import client_in
from tests.driving.rounds import NextRounds
from tests.driving.service import RunningService
from tests.logout.conftest import nothing_waits
from tests.logout.relying_party import RelyingParty, relying_party

pytestmark = pytest.mark.rfc("openid-backchannel#2.5", "7591#5")


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    """Strangers may be anywhere on loopback, and have long to answer."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid"]}
    config["outgoing"] = {"timeout": "60s", "allowed_networks": ["127.0.0.0/8", "::1/128"]}
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return config


@pytest.fixture
async def hanging() -> Any:
    """A site of dynamically registered clients that never answers."""
    async with relying_party() as hanging:
        hanging.hang()
        yield hanging


async def stranger(service: RunningService, hanging: RelyingParty, host: str) -> str:
    """Register a client with its logout URI at this name of the machine."""
    uri = hanging.backchannel_logout_uri.replace("localhost", host)
    answer = await register(service, backchannel_logout_uri=uri)
    assert answer.status == 201, answer.json
    return str(answer["client_id"])


async def queue_deliveries(service: RunningService, client_id: str, count: int) -> None:
    """As many sessions have ended."""
    stores = service.features.shared.stores
    for _ in range(count):
        delivery = LogoutDelivery(
            client_id=client_id, session_id=secrets.token_hex(8), subject="818727"
        )
        await stores.kv.write(
            stores.logout_outbox.deliveries.put_new(delivery, LOGOUT, delivery.id, ttl=600),
            stores.logout_outbox.queue.add(delivery.id, seconds=-1),
        )


async def test_a_host_of_dynamic_clients_gets_two_attempts_at_a_time(
    next_rounds: NextRounds, service: RunningService, hanging: RelyingParty
) -> None:
    await queue_deliveries(service, await stranger(service, hanging, "localhost"), 5)
    await hanging.claims(2)
    await next_rounds()
    assert hanging.most_at_once == 2
    hanging.answering.set()
    await nothing_waits(service)
    assert (len(hanging.tokens), hanging.most_at_once) == (5, 2)


async def test_dynamic_clients_have_half_of_the_places(
    service: RunningService,
    hanging: RelyingParty,
    party: RelyingParty,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "AT_ONCE", 6)
    for host in ("127.0.0.1", "localhost"):
        await queue_deliveries(service, await stranger(service, hanging, host), 6)
    await hanging.claims(3)
    await queue_deliveries(service, "web", 5)
    assert len(await party.claims(5, seconds=50)) == 5
    assert hanging.most_at_once == 3


async def test_a_hanging_client_of_the_operator_leaves_room_for_the_others(
    service: RunningService,
    hanging: RelyingParty,
    party: RelyingParty,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "AT_ONCE", 4)
    client = service.features.shared.registry.current.clients["implicit"]
    elsewhere = hanging.backchannel_logout_uri.replace("localhost", "127.0.0.1")
    force_setattr(client, "backchannel_logout_uri", elsewhere)
    await queue_deliveries(service, "implicit", 9)
    await hanging.claims(3)
    await queue_deliveries(service, "web", 3)
    assert len(await party.claims(3, seconds=50)) == 3
    assert hanging.most_at_once == 3


async def test_deliveries_beyond_the_look_ahead_are_deferred(
    service: RunningService,
    hanging: RelyingParty,
    party: RelyingParty,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivering, "LOOK_AHEAD", 20)
    await queue_deliveries(service, await stranger(service, hanging, "localhost"), 50)
    await queue_deliveries(service, "web", 1)
    assert len(await party.claims(1, seconds=50)) == 1
