"""CORS lets all scripts read discovery and keys, and those of registered clients their tokens (Fetch §3.2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.endpoints.discovery import DiscoveryEndpoint
from service.web.endpoint import Direct, ScriptAccess
from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

REGISTERED = "https://spa.example"
STRANGER = "https://stranger.example"
OPEN = [
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/.well-known/jwks.json",
]
FOR_CLIENTS = [
    *("/connect/token", "/connect/userinfo", "/connect/revocation"),
    *("/connect/par", "/connect/deviceauthorization"),
]
CLOSED = [
    *("/connect/authorize", "/connect/introspect", "/connect/endsession"),
    "/connect/ciba",
    "/health/live",
]


@pytest.mark.parametrize("path", OPEN)
async def test_metadata_is_open_to_all(service: RunningService, path: str) -> None:
    answer = await service.get(path, headers={"Origin": STRANGER})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("path", OPEN)
async def test_metadata_may_be_asked_for_by_mcp_clients(service: RunningService, path: str) -> None:
    """They name their protocol's version, for which browsers ask first."""
    allowed = (await _preflight(service, path, STRANGER)).headers["Access-Control-Allow-Headers"]
    assert "MCP-Protocol-Version" in allowed.split(", ")


@pytest.mark.rfc("8414#3.1")
async def test_metadata_behind_the_issuers_path_is_open_too(
    start: Start, config: dict[str, Any]
) -> None:
    service = await start(config | {"issuer": "https://id.example/tenant"})
    path = "/.well-known/oauth-authorization-server/tenant"
    answer = await service.get(path, headers={"Origin": STRANGER})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.rfc("10017")
@pytest.mark.parametrize("path", FOR_CLIENTS)
async def test_a_registered_origin_may_ask(service: RunningService, path: str) -> None:
    answer = await _preflight(service, path, REGISTERED)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == REGISTERED
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    "origin", ["capacitor://localhost", "chrome-extension://gebbhagfogifgggkldgodflihgfeippi"]
)
async def test_an_app_or_extension_may_ask_by_its_origin(
    start: Start, config: dict[str, Any], origin: str
) -> None:
    client_in(config, "spa")["allowed_cors_origins"] = [origin]
    service = await start(config)
    answer = await _preflight(service, "/connect/token", origin)
    assert answer.headers["Access-Control-Allow-Origin"] == origin


@pytest.mark.parametrize("path", FOR_CLIENTS)
async def test_a_registered_origin_may_read_errors_too(service: RunningService, path: str) -> None:
    answer = await service.post(path, headers={"Origin": REGISTERED})
    assert answer.status >= 400
    assert answer.headers["Access-Control-Allow-Origin"] == REGISTERED
    assert "Origin" in answer.headers.getall("Vary")


@pytest.mark.rfc("9449#8")
@pytest.mark.parametrize("path", FOR_CLIENTS)
async def test_a_registered_origin_may_send_proofs_and_read_nonces(
    service: RunningService, path: str
) -> None:
    asked = await _preflight(service, path, REGISTERED)
    answer = await service.post(path, headers={"Origin": REGISTERED})
    assert "DPoP" in asked.headers["Access-Control-Allow-Headers"].split(", ")
    assert "DPoP-Nonce" in answer.headers["Access-Control-Expose-Headers"].split(", ")


@pytest.mark.parametrize("path", FOR_CLIENTS)
async def test_unregistered_origin_may_not_read_an_answer(
    service: RunningService, path: str
) -> None:
    asked = await _preflight(service, path, STRANGER)
    answer = await service.post(path, headers={"Origin": STRANGER})
    assert "Access-Control-Allow-Origin" not in {*asked.headers, *answer.headers}
    assert "Origin" in answer.headers.getall("Vary")


@pytest.mark.parametrize("path", FOR_CLIENTS)
async def test_vary_is_sent_even_without_an_origin(service: RunningService, path: str) -> None:
    assert "Origin" in (await service.post(path)).headers.getall("Vary")


@pytest.mark.parametrize("path", CLOSED)
async def test_other_paths_are_closed_to_scripts(service: RunningService, path: str) -> None:
    asked = await _preflight(service, path, REGISTERED)
    answer = await service.get(path, headers={"Origin": REGISTERED})
    assert asked.status == 405
    assert not [name for name in (*asked.headers, *answer.headers) if "Access-Control" in name]


@pytest.mark.parametrize("path", [*OPEN, *FOR_CLIENTS])
async def test_credentials_are_never_allowed(service: RunningService, path: str) -> None:
    answer = await _preflight(service, path, REGISTERED)
    assert "Access-Control-Allow-Credentials" not in answer.headers


async def _preflight(service: RunningService, path: str, origin: str) -> Answer:
    asking = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    return await service.request("OPTIONS", path, headers=asking)


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/connect/token", "POST"), ("/connect/userinfo", "GET, POST"), (OPEN[0], "GET")],
)
async def test_a_preflight_lists_the_methods_of_the_endpoint(
    service: RunningService, path: str, methods: str
) -> None:
    answer = await _preflight(service, path, REGISTERED)
    assert answer.headers["Access-Control-Allow-Methods"] == methods


async def test_each_endpoint_declares_which_scripts_may_call_it(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def routes(endpoint: DiscoveryEndpoint) -> list[Direct]:
        scripts = ScriptAccess(any_origin=False, request_headers=("DPoP",))
        return [Direct("GET", OPEN[2], endpoint.jwks, scripts=scripts)]

    monkeypatch.setattr(DiscoveryEndpoint, "routes", routes)
    service = await start(config)
    asked = await _preflight(service, OPEN[2], REGISTERED)
    assert asked.headers["Access-Control-Allow-Headers"] == "DPoP"
    answer = await service.get(OPEN[2], headers={"Origin": STRANGER})
    assert "Access-Control-Allow-Origin" not in answer.headers
