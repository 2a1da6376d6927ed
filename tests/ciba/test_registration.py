"""The metadata of discovery for CIBA, and the metadata that clients may register for it (CIBA Core §4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ciba.consumption import CIBA, Device
from tests.conftest import Start
from tests.driving.registering import bearer, register
from tests.driving.registry import fresh_configuration, hashed, secret_of
from tests.driving.service import RunningService

pytestmark = [pytest.mark.rfc("ciba#4"), pytest.mark.usefixtures("one_store")]

ENDPOINT = "backchannel_authentication_endpoint"
MODES = "backchannel_token_delivery_modes_supported"


async def document(service: RunningService) -> dict[str, Any]:
    return (await service.get("/.well-known/openid-configuration")).json


async def test_discovery_lists_the_endpoint_and_its_modes(service: RunningService) -> None:
    found = await document(service)
    assert found[ENDPOINT] == f"{service.issuer}/connect/ciba"
    assert found[MODES] == ["poll", "ping"]
    assert found["backchannel_user_code_parameter_supported"] is True
    algorithms = found["backchannel_authentication_request_signing_alg_values_supported"]
    assert "ES256" in algorithms
    assert "none" not in algorithms
    assert CIBA in found["grant_types_supported"]


async def test_discovery_is_silent_where_no_client_may_use_it(start: Start) -> None:
    found = await document(await start(fresh_configuration()))
    assert ENDPOINT not in found
    assert CIBA not in found["grant_types_supported"]


@pytest.fixture
async def open_service(start: Start, config: dict[str, Any]) -> RunningService:
    """One at which anybody may register a client."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    return await start(config)


@pytest.fixture
async def guarded_service(start: Start, config: dict[str, Any]) -> RunningService:
    """One at which clients may register with an initial access token."""
    config["registration"] = {
        "enabled": True,
        "allowed_scopes": ["openid", "api1"],
        "initial_access_token_sha256": [hashed("initial")],
    }
    return await start(config)


METADATA: dict[str, Any] = {
    "grant_types": [CIBA],
    "backchannel_token_delivery_mode": "poll",
}


async def test_a_registered_client_may_ask(guarded_service: RunningService) -> None:
    made = await register(guarded_service, token=secret_of("initial"), **METADATA)
    assert made.status == 201, made.body
    assert made["backchannel_token_delivery_mode"] == "poll"
    auth = (made["client_id"], made["client_secret"])
    asked = await guarded_service.post(
        "/connect/ciba", auth=auth, scope="openid", login_hint="alice"
    )
    assert asked.status == 200


@pytest.mark.usefixtures("fresh_minute")
async def test_requests_of_a_registered_client_count_for_its_network(
    start: Start, config: dict[str, Any]
) -> None:
    config["limits"] = {"parked_requests_per_minute": 1}
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid"]}
    config["registration"]["initial_access_token_sha256"] = [hashed("initial")]
    service = await start(config)
    made = await register(service, token=secret_of("initial"), **METADATA)
    form: dict[str, Any] = {"auth": (made["client_id"], made["client_secret"]), "scope": "openid"}
    asked = [await service.post("/connect/ciba", **form, login_hint="alice") for _ in range(2)]
    assert [answer.status for answer in asked] == [200, 429]
    assert (await Device(service).ask()).status == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"backchannel_token_delivery_mode": "push"},
        {"backchannel_token_delivery_mode": "pull"},
        {"backchannel_token_delivery_mode": None},
        {"backchannel_token_delivery_mode": "ping"},
        {
            "backchannel_token_delivery_mode": "ping",
            "backchannel_client_notification_endpoint": "http://till.example/told",
        },
        {"backchannel_authentication_request_signing_alg": "ES256"},
        {"backchannel_authentication_request_signing_alg": "HS256"},
        {"token_endpoint_auth_method": "none"},
    ],
    ids=str,
)
async def test_metadata_that_do_not_fit_are_refused(
    guarded_service: RunningService, changes: dict[str, Any]
) -> None:
    token = secret_of("initial")
    made = await register(guarded_service, token=token, **(METADATA | changes))
    assert made.refusal == (400, "invalid_client_metadata")


@pytest.mark.rfc("7591#3.2.2", "ciba#13")
async def test_registration_for_ciba_requires_an_initial_access_token(
    open_service: RunningService,
) -> None:
    made = await register(open_service, **METADATA)
    assert made.refusal == (400, "invalid_client_metadata")
    usual = await register(open_service)
    path, token = usual["registration_client_uri"], usual["registration_access_token"]
    changed = await open_service.request(
        "PUT",
        path.removeprefix(open_service.issuer),
        headers=bearer(token),
        json={"client_id": usual["client_id"], **METADATA},
    )
    assert changed.refusal == (400, "invalid_client_metadata")


@pytest.mark.parametrize("needs_token", [True, False])
async def test_discovery_lists_ciba_where_it_can_be_registered(
    start: Start, needs_token: bool
) -> None:
    configuration = fresh_configuration()
    tokens = [hashed("initial")] if needs_token else []
    configuration["registration"] = {"enabled": True, "initial_access_token_sha256": tokens}
    found = await document(await start(configuration))
    assert (ENDPOINT in found, CIBA in found["grant_types_supported"]) == (needs_token, needs_token)


async def test_a_client_without_the_grant_cannot_ask(open_service: RunningService) -> None:
    device = Device(open_service, "web")
    assert (await device.ask()).refusal == (400, "unauthorized_client")
