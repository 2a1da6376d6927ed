"""An extension grant can derive a token from another one, with which it ends (RFC 8693 §2.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import Answer, RunningService, claims_in
from tests.extension_grants.conftest import HANDLERS

pytestmark = pytest.mark.rfc("6749#4.5", "8693#2.2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The client `guest` may exchange tokens."""
    config["extension_grants"].append({"handler": f"{HANDLERS}.exchanging:ExchangeGrant"})
    config["clients"][-1]["allowed_grant_types"].append("urn:example:exchange")
    return config


async def exchange(service: RunningService, token: str, scope: str) -> Answer:
    """Exchange a token."""
    return await service.token("guest", grant_type="urn:example:exchange", token=token, scope=scope)


async def test_derived_token_never_comes_with_a_refresh_token(service: RunningService) -> None:
    source = (await service.user_token(scope="api1 offline_access"))["access_token"]
    answer = await exchange(service, source, "api2 offline_access")
    assert answer.json.keys() == {"access_token", "token_type", "expires_in", "scope"}
    assert answer["scope"] == "api2"
    assert await service.is_active(answer["access_token"], caller="api2")


async def test_derived_token_names_the_user_the_client_and_the_actor(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    claims = claims_in((await exchange(service, source, "api2"))["access_token"])
    assert (claims["sub"], claims["client_id"], claims["amr"]) == ("818727", "guest", ["robot"])
    assert claims["act"] == {"sub": "guest"}


async def test_derived_token_ends_with_its_source(service: RunningService) -> None:
    source = (await service.user_token())["access_token"]
    derived = (await exchange(service, source, "api2"))["access_token"]
    await service.post("/connect/revocation", auth="frontend", token=source)
    assert not await service.is_active(derived, caller="api2")


async def test_token_of_a_client_has_no_user_to_derive_a_token_for(service: RunningService) -> None:
    source = await service.token("machine", grant_type="client_credentials", scope="api1")
    answer = await exchange(service, source["access_token"], "api2")
    assert answer.refusal == (400, "invalid_grant")
    assert answer["error_description"] == "the token is not one of a user"
