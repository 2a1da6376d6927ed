"""A client looks after its own registration (RFC 7592)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.endpoints.register import OPEN_PER_MINUTE
from service.events.clients import ClientDeleted, ClientUpdated
from tests.conftest import Clock
from tests.driving.registering import REDIRECT_URI, RegisteredApp
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7592#2")

OTHER_URI = "https://registered.example/other"
METHODS = pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])


@pytest.mark.rfc("7592#2.1")
async def test_a_client_reads_its_metadata(registering: Registering) -> None:
    client = await registering(client_name="Mine")
    answer = await client.manage("GET")
    secrets = {"client_secret", "client_secret_expires_at"}
    told = {name: value for name, value in client.registered.items() if name not in secrets}
    assert (answer.status, answer.json) == (200, told)
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.rfc("7592#2.2")
async def test_an_update_replaces_all_metadata(registering: Registering) -> None:
    client = await registering(client_name="Mine", contacts=["me@registered.example"])
    answer = await client.change(redirect_uris=[OTHER_URI], client_name="Yours")
    assert (answer.status, answer["redirect_uris"]) == (200, [OTHER_URI])
    assert "contacts" not in answer.json
    assert (await client.manage("GET")).json == answer.json


@pytest.mark.rfc("7592#2.2")
async def test_a_change_is_in_force_at_once(registering: Registering) -> None:
    client = await registering()
    await client.login()
    await client.change(redirect_uris=[OTHER_URI])
    refused = await client.authorize(redirect_uri=REDIRECT_URI)
    assert (refused.status, refused.error) == (400, "invalid_request")
    assert (await client.authorize(redirect_uri=OTHER_URI)).status == 200


@pytest.mark.rfc("7592#2.2")
async def test_an_update_keeps_the_secret(registering: Registering) -> None:
    client = await registering()
    answer = await client.change(client_name="Yours")
    assert "client_secret" not in answer.json
    assert (await client.tokens()).status == 200


@pytest.mark.rfc("7592#2.2")
async def test_an_update_may_include_the_secret(registering: Registering) -> None:
    client = await registering()
    secret = client.registered["client_secret"]
    answer = await client.change(client_secret=secret)
    assert (answer.status, answer["client_secret"]) == (200, secret)


@pytest.mark.rfc("7592#2.2")
@pytest.mark.parametrize("secret", ["another", 17, []], ids=repr)
async def test_a_client_cannot_choose_another_secret(
    registering: Registering, secret: object
) -> None:
    answer = await (await registering()).change(client_secret=secret)
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("7592#2.2")
async def test_a_new_secret_is_made_if_its_value_is_needed_and_lost(
    registering: Registering,
) -> None:
    client = await registering()
    answer = await client.change(id_token_signed_response_alg="HS256")
    assert answer["client_secret"] != client.registered["client_secret"]
    again = await client.change(id_token_signed_response_alg="HS256")
    assert "client_secret" not in again.json


@pytest.mark.rfc("7592#2.2")
async def test_the_secret_is_kept_if_the_client_sends_its_value(registering: Registering) -> None:
    client = await registering()
    secret = client.registered["client_secret"]
    answer = await client.change(id_token_signed_response_alg="HS256", client_secret=secret)
    assert answer["client_secret"] == secret


async def test_a_client_that_becomes_public_has_no_secret(registering: Registering) -> None:
    client = await registering()
    answer = await client.change(token_endpoint_auth_method="none")
    assert "client_secret" not in answer.json
    assert (await client.redeem(await client.code())).refusal == (401, "invalid_client")
    del client.registered["client_secret"]
    assert (await client.tokens()).status == 200


@pytest.mark.rfc("7592#2.2")
@pytest.mark.parametrize("client_id", [None, "web", 17], ids=repr)
async def test_an_update_without_the_client_id_is_refused(
    registering: Registering, client_id: object
) -> None:
    answer = await (await registering()).change(client_id=client_id)
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("7592#2.2")
@pytest.mark.parametrize(
    "member",
    [
        "registration_access_token",
        "registration_client_uri",
        "client_secret_expires_at",
        "client_id_issued_at",
    ],
)
async def test_read_only_members_in_an_update_are_refused(
    registering: Registering, member: str
) -> None:
    client = await registering()
    answer = await client.change(**{member: client.registered[member]})
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("7591#3.2.2")
async def test_a_refused_change_changes_nothing(registering: Registering) -> None:
    client = await registering()
    before = (await client.manage("GET")).json
    answer = await client.change(redirect_uris=["javascript:alert(1)"])
    assert answer.refusal == (400, "invalid_redirect_uri")
    assert (await client.manage("GET")).json == before


@pytest.mark.rfc("7592#2.3")
async def test_a_deleted_client_is_unknown_and_its_tokens_inactive(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(grant_types=["authorization_code", "refresh_token"])
    tokens = await client.tokens(scope="openid api1 offline_access")
    answer = await client.manage("DELETE")
    assert (answer.status, answer.body) == (204, b"")
    assert not await service.is_active(tokens["access_token"])
    refused = await client.refresh(tokens["refresh_token"])
    assert refused.refusal == (401, "invalid_client")
    assert (await client.authorize()).error == "invalid_request"


@pytest.mark.rfc("7592#2.3")
@METHODS
async def test_a_deleted_client_cannot_be_read_again(registering: Registering, method: str) -> None:
    client = await registering()
    await client.manage("DELETE")
    assert (await client.manage(method, json={})).refusal == (401, "invalid_token")


@pytest.mark.rfc("6585#4")
@pytest.mark.usefixtures("fresh_minute")
async def test_changes_of_one_address_are_limited(registering: Registering, clock: Clock) -> None:
    one, other = await registering(), await registering()
    for _ in range(OPEN_PER_MINUTE):
        assert (await one.change(redirect_uris=[])).status == 400
    answer = await other.change()
    assert answer.refusal == (429, "temporarily_unavailable")
    assert (await other.manage("GET")).status == 200
    clock.forward(seconds=int(answer.headers["Retry-After"]))
    assert (await other.change()).status == 200


@METHODS
async def test_management_without_a_token_is_refused(registering: Registering, method: str) -> None:
    client = await registering()
    answer = await client.manage(method, token="", json={})
    assert answer.refusal == (401, "invalid_token")
    assert "error" not in answer.headers["WWW-Authenticate"]


@METHODS
async def test_the_token_of_another_client_is_refused(
    registering: Registering, method: str
) -> None:
    one, other = await registering(), await registering()
    token = other.registered["registration_access_token"]
    answer = await one.manage(method, token=token, json={})
    assert answer.refusal == (401, "invalid_token")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("client_id", ["web", "stranger", "dc_0123456789abcdef", "%7B%7D", "a/b"])
async def test_other_clients_cannot_be_read(
    registering: Registering, service: RunningService, client_id: str
) -> None:
    client = await registering()
    token = client.registered["registration_access_token"]
    sent = {"Authorization": f"Bearer {token}"}
    answer = await service.get(f"/connect/register/{client_id}", headers=sent)
    assert answer.status in {401, 404}


async def test_a_token_with_a_typo_costs_no_look_up(
    registering: Registering, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await registering()

    def fail(*_: object) -> None:
        raise AssertionError("the store was asked")

    monkeypatch.setattr(type(client.service.features.shared.kv), "read", fail)
    token = client.registered["registration_access_token"]
    assert (await client.manage("GET", token=token[:-1])).refusal == (401, "invalid_token")


@pytest.mark.parametrize("method", ["POST", "PATCH"])
async def test_other_methods_are_refused(registering: Registering, method: str) -> None:
    answer = await (await registering()).manage(method)
    assert answer.status == 405
    assert set(answer.headers["Allow"].split(",")) == {"GET", "HEAD", "PUT", "DELETE"}


async def test_another_content_type_is_refused(registering: Registering) -> None:
    answer = await (await registering()).manage("PUT", data={"client_id": "x"})
    assert answer.refusal == (415, "invalid_request")


async def test_changes_and_deletions_are_logged(
    registering: Registering, events: list[object]
) -> None:
    client = await registering()
    await client.change(client_name="Yours")
    await client.manage("DELETE")
    assert ClientUpdated(client_id=client.client_id) in events
    assert ClientDeleted(client_id=client.client_id) in events


class TestWithALifetime:
    """A registration expires by itself."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["registration"]["client_lifetime"] = "1h"
        return config

    @pytest.mark.rfc("7591#3.2.1")
    async def test_client_and_secret_expire_together(
        self, registering: Registering, clock: Any, service: RunningService
    ) -> None:
        client = await registering()
        told = client.registered
        assert told["client_secret_expires_at"] == told["client_id_issued_at"] + 3600
        tokens = await client.tokens(scope="openid api1")
        clock.forward(hours=1, seconds=1)
        assert not await service.is_active(tokens["access_token"])
        assert (await client.manage("GET")).refusal == (401, "invalid_token")
        assert (await client.authorize()).error == "invalid_request"

    async def test_an_update_does_not_extend_the_lifetime(
        self, registering: Registering, clock: Any
    ) -> None:
        client = await registering()
        clock.forward(minutes=50)
        assert (await client.change(client_name="Yours")).status == 200
        clock.forward(minutes=11)
        assert (await client.manage("GET")).refusal == (401, "invalid_token")
