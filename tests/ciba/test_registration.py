"""The metadata of discovery for CIBA, and the metadata that clients may register for it (CIBA Core §4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ciba.consumption import CIBA, Device
from tests.conftest import Start
from tests.driving.registering import register
from tests.driving.registry import fresh_configuration
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
    """One at which clients may register."""
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    return await start(config)


METADATA: dict[str, Any] = {
    "grant_types": [CIBA],
    "backchannel_token_delivery_mode": "poll",
}


async def test_a_registered_client_may_ask(open_service: RunningService) -> None:
    made = await register(open_service, **METADATA)
    assert made.status == 201, made.body
    assert made["backchannel_token_delivery_mode"] == "poll"
    auth = (made["client_id"], made["client_secret"])
    asked = await open_service.post("/connect/ciba", auth=auth, scope="openid", login_hint="alice")
    assert asked.status == 200


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
    open_service: RunningService, changes: dict[str, Any]
) -> None:
    made = await register(open_service, **(METADATA | changes))
    assert made.refusal == (400, "invalid_client_metadata")


async def test_a_client_without_the_grant_cannot_ask(open_service: RunningService) -> None:
    device = Device(open_service, "web")
    assert (await device.ask()).refusal == (400, "unauthorized_client")
