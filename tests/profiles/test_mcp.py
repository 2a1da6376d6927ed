"""The profile mcp, as its clients meet it: what they read, and what they get (MCP Authorization 2026-07-28)."""

from __future__ import annotations

from typing import Any

import pytest

from service.keys.jose import unverified_claims
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

URL = "https://mcp.example.com/mcp"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """An API with a URL."""
    for api in config["api_resources"]:
        if api["name"] == "api1":
            api["url"] = URL
    return config


@pytest.mark.profile("s256_in_metadata", "offline_access_is_listed")
@pytest.mark.rfc("8414#2")
async def test_the_metadata_list_what_mcp_clients_look_for(
    service: RunningService,
) -> None:
    document = (await service.get("/.well-known/oauth-authorization-server")).json
    assert "S256" in document["code_challenge_methods_supported"]
    assert "offline_access" in document["scopes_supported"]
    assert document["authorization_response_iss_parameter_supported"] is True


@pytest.mark.profile("issuer_in_answers", "resource_is_honoured")
@pytest.mark.rfc("8707#2", "9207#2")
async def test_a_token_for_the_url_of_an_api_is_for_that_url(app: ClientApp) -> None:
    page = await app.login(scope="api1", resource=URL)
    assert page.parameters["iss"] == app.service.issuer
    tokens = await app.redeem(page.parameters["code"], resource=URL)
    assert unverified_claims(tokens["access_token"])["aud"] == URL


@pytest.mark.profile("apis_by_url")
@pytest.mark.rfc("9728#3")
async def test_an_api_with_a_url_has_metadata(service: RunningService) -> None:
    document = (await service.get("/.well-known/oauth-protected-resource/api1")).json
    assert (document["resource"], document["authorization_servers"]) == (URL, [service.issuer])
