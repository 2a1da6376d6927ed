"""Records of dynamically registered clients have a limited part of the store, and registrations have another (RFC 7591 §5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.clients.registration.metadata import MAX_BYTES
from service.clock import clock
from service.model.polling import DEVICE_CODE
from service.store import rate_limit
from tests.driving.registering import RegisteredApp, bearer, register
from tests.driving.service import Answer, RunningService
from tests.registration.conftest import SCOPES

pytestmark = pytest.mark.rfc("7591#5", "6585#4")

DEVICE = "/connect/deviceauthorization"
Registering = Callable[..., Awaitable[RegisteredApp]]


@pytest.fixture
def config(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Room for few requests, in a minute that does not end."""
    now = clock()
    monkeypatch.setattr(rate_limit, "clock", lambda: now // 60 * 60)
    config["server"] = {"trusted_proxies": ["127.0.0.0/8"]}
    config["pairwise_salt"] = "a salt that nobody can guess"
    config["limits"] = {"parked_bytes": 160_000, "parked_bytes_per_client": 80_000}
    return config


async def ask_for_codes(client: RegisteredApp, address: str = "192.0.2.7") -> Answer:
    """A request of a device, from this address."""
    sent = {"X-Forwarded-For": address}
    form: dict[str, Any] = {"headers": sent, "scope": "openid"}
    if secret := client.registered.get("client_secret"):
        return await client.service.post(DEVICE, auth=(client.client_id, secret), **form)
    return await client.service.post(DEVICE, client_id=client.client_id, **form)


async def ask_for_own_token(client: RegisteredApp) -> Answer:
    """A token request of the client for itself."""
    secret = client.registered["client_secret"]
    form = {"grant_type": "client_credentials", "scope": "api1"}
    return await client.service.token((client.client_id, secret), **form)


async def test_one_client_cannot_take_the_room_of_all(registering: Registering) -> None:
    greedy, modest = [await registering(grant_types=[DEVICE_CODE]) for _ in range(2)]
    answers = [await ask_for_codes(greedy, f"192.0.2.{host}") for host in range(20)]
    assert (answers[0].status, answers[-1].refusal) == (200, (429, "temporarily_unavailable"))
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert (await ask_for_codes(modest)).status == 200


async def test_clients_that_registered_themselves_share_a_part_of_the_store(
    registering: Registering, service: RunningService
) -> None:
    clients = [await registering(grant_types=[DEVICE_CODE]) for _ in range(6)]
    for client in clients[:-1]:
        for host in range(4):
            await ask_for_codes(client, f"192.0.2.{host}")
    refused = await ask_for_codes(clients[-1])
    assert refused.refusal == (429, "temporarily_unavailable")
    assert "their part of the store" in refused["error_description"]
    others = await service.token("machine", grant_type="client_credentials")
    assert others.status == 200


@pytest.mark.parametrize("public", [True, False], ids=["public", "confidential"])
async def test_one_place_cannot_take_the_room_of_all(
    registering: Registering, public: bool
) -> None:
    method = "none" if public else "client_secret_basic"
    kind = {"grant_types": [DEVICE_CODE], "token_endpoint_auth_method": method}
    greedy = [await registering(**kind) for _ in range(5)]
    modest = await registering(grant_types=[DEVICE_CODE])
    for client in greedy:
        for host in range(20):
            await ask_for_codes(client, f"2001:db8:0:{host}::1")
    assert (await ask_for_codes(modest, "2001:db8:0:99::1")).status == 429
    assert (await ask_for_codes(modest, "2001:db8:1::1")).status == 200


async def test_a_public_client_has_no_room_of_its_own_that_others_could_use_up(
    registering: Registering,
) -> None:
    public = await registering(token_endpoint_auth_method="none", grant_types=[DEVICE_CODE])
    form: dict[str, Any] = {"client_id": public.client_id, "scope": "openid"}
    answers = [await public.service.post(DEVICE, **form) for _ in range(4)]
    assert [answer.status for answer in answers] == [200] * 4


async def test_what_a_network_sends_too_much_takes_no_room_of_others(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(grant_types=[DEVICE_CODE])
    room = service.features.shared.room
    limit = room.parked.per_minute
    assert limit is not None
    await room.parked.count_network("192.0.2.7", limit)
    for _ in range(20):
        assert (await ask_for_codes(client)).status == 429
    assert (await ask_for_codes(client, "192.0.2.8")).status == 200


async def test_a_store_that_is_nearly_full_keeps_nothing_of_these_clients(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(grant_types=[DEVICE_CODE])
    memory = service.features.shared.store_memory
    memory.used, memory.limit = 95, 100
    assert (await ask_for_codes(client)).refusal == (429, "temporarily_unavailable")
    assert (await register(service)).refusal == (429, "temporarily_unavailable")
    assert (await service.token("machine", grant_type="client_credentials")).status == 200


async def test_nearly_full_store_keeps_no_token_of_such_a_client_itself(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(grant_types=["authorization_code", "client_credentials"])
    code = await client.code(scope="openid api1")
    memory = service.features.shared.store_memory
    memory.used, memory.limit = 95, 100
    assert (await ask_for_own_token(client)).refusal == (429, "temporarily_unavailable")
    assert (await client.redeem(code)).status == 200


@pytest.mark.parametrize(("subject_type", "room"), [("public", 6), ("pairwise", 1)])
async def test_token_that_the_store_keeps_takes_more_room_than_one_that_it_does_not(
    registering: Registering, subject_type: str, room: int
) -> None:
    client = await registering(grant_types=["client_credentials"], subject_type=subject_type)
    issued = [(await ask_for_own_token(client)).status for _ in range(8)]
    assert issued == [200] * room + [429] * (8 - room)


async def test_metadata_that_are_too_long_are_refused(
    registering: Registering, service: RunningService
) -> None:
    uris = [f"https://registered.example/{number}/{'x' * 1_900}" for number in range(9)]
    assert (await register(service, redirect_uris=uris)).refusal == (400, "invalid_client_metadata")
    client = await registering()
    changed = await client.change(redirect_uris=uris)
    assert changed.refusal == (400, "invalid_client_metadata")
    assert str(MAX_BYTES) in changed["error_description"]


class TestRegistrations:
    """They have limits of their own."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["limits"] = {"registrations_per_day": 3, "registered_bytes": 65536}
        return config

    async def test_a_network_registers_so_many_clients_in_a_day(
        self, service: RunningService
    ) -> None:
        answers = [await register(service) for _ in range(4)]
        assert [answer.status for answer in answers] == [201, 201, 201, 429]
        assert answers[-1].error == "temporarily_unavailable"

    async def test_a_long_registration_counts_as_several(self, service: RunningService) -> None:
        uris = [f"https://registered.example/{'x' * 1_900}"]
        assert (await register(service, redirect_uris=uris)).status == 201
        assert (await register(service, redirect_uris=uris)).status == 429

    async def test_a_change_that_makes_it_longer_counts(self, registering: Registering) -> None:
        client = await registering()
        uris = [f"https://registered.example/{number}/{'x' * 1_200}" for number in range(2)]
        assert (await client.change(redirect_uris=uris)).refusal == (429, "temporarily_unavailable")

    async def test_all_registrations_of_a_lifetime_fill_so_much(
        self, service: RunningService
    ) -> None:
        statuses = set[int]()
        for host in range(90):
            statuses.add((await self.register_long(service, f"192.0.2.{host}")).status)
        assert statuses == {201, 429}

    async def test_one_place_cannot_fill_the_room_of_all_registrations(
        self, start: Any, config: dict[str, Any]
    ) -> None:
        config["limits"] |= {"registrations_per_day": None, "registered_bytes": 99_999}
        service = await start(config)
        statuses = set[int]()
        for host in range(90):
            statuses.add((await self.register_long(service, f"2001:db8:0:{host}::1")).status)
        assert statuses == {201, 429}
        assert (await self.register_long(service, "2001:db8:1::1")).status == 201

    async def test_a_deleted_registration_gives_its_room_back(
        self, service: RunningService
    ) -> None:
        answers = [await self.register_long(service, f"192.0.2.{host}") for host in range(90)]
        assert answers[-1].status == 429
        deleted = answers[0].json
        path = deleted["registration_client_uri"].removeprefix(service.issuer)
        token = bearer(deleted["registration_access_token"])
        assert (await service.request("DELETE", path, headers=token)).status == 204
        assert (await self.register_long(service, "192.0.2.91")).status == 201
        full = await self.register_long(service, "192.0.2.92")
        assert full.refusal == (429, "temporarily_unavailable")

    async def register_long(self, service: RunningService, address: str) -> Answer:
        body = {"redirect_uris": [f"https://a.example/{'x' * 900}"]}
        sent = {"X-Forwarded-For": address}
        return await service.request("POST", "/connect/register", json=body, headers=sent)


@pytest.mark.parametrize("lifetime", [None, "1h"], ids=["usual", "configured"])
async def test_a_registration_that_anyone_may_make_ends(
    start: Any, config: dict[str, Any], lifetime: str | None
) -> None:
    config["registration"] = {
        "enabled": True,
        "allowed_scopes": SCOPES,
        "client_lifetime": lifetime,
    }
    told = (await register(await start(config))).json
    seconds = 3600 if lifetime else 90 * 86400
    assert told["client_secret_expires_at"] == told["client_id_issued_at"] + seconds
