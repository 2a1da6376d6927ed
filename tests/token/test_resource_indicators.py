"""A token is for the API resources that the request names (RFC 8707)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("8707#2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Besides api1 and api2 there is `shy`, which wants to be named, and shares a scope with api2."""
    config["api_resources"].append(
        {
            "name": "shy",
            "scopes": ["api2", "shy"],
            "secrets": [{"sha256": hashed("shy")}],
            "require_resource_indicator": True,
        }
    )
    for client_id in ("machine", "web", "frontend"):
        client_in(config, client_id)["allowed_scopes"].append("shy")
    return config


async def claims(service: RunningService, **form: Any) -> dict[str, Any]:
    """The claims of the machine's token."""
    answer = await service.token("machine", grant_type="client_credentials", **form)
    assert answer.status == 200, answer.body
    told = claims_in(answer["access_token"])
    assert told["scope"] == answer["scope"]
    return told


async def test_the_scope_names_the_audience(service: RunningService) -> None:
    assert (await claims(service, scope="api1"))["aud"] == "api1"
    assert (await claims(service, scope="api1 api2"))["aud"] == ["api1", "api2"]


async def test_a_resource_that_wants_to_be_named_is_none_unless_named(
    service: RunningService,
) -> None:
    assert (await claims(service, scope="api2"))["aud"] == "api2"
    assert (await claims(service, scope="shy"))["aud"] == service.issuer
    assert (await claims(service, scope="api2", resource="shy"))["aud"] == "shy"


async def test_a_named_resource_cuts_the_scope(service: RunningService) -> None:
    told = await claims(service, scope="api1 api2", resource="api2")
    assert (told["aud"], told["scope"]) == ("api2", "api2")


async def test_a_named_resource_cuts_the_default_scope(service: RunningService) -> None:
    assert (await claims(service, resource="api1"))["scope"] == "api1"


async def test_several_resources_are_named_by_repeating(service: RunningService) -> None:
    told = await claims(service, scope="api1 api2", resource=["api2", "api1", "api2"])
    assert told["aud"] == ["api1", "api2"]


@pytest.mark.parametrize(
    "resource", ["nothing", "API1", "api1/", "https://api1", ["api1", "nothing"], "api2"]
)
async def test_a_resource_that_does_not_fit_is_refused(
    service: RunningService, resource: Any
) -> None:
    answer = await service.token(
        "machine", grant_type="client_credentials", scope="api1", resource=resource
    )
    assert answer.refusal == (400, "invalid_target")


@pytest.mark.rfc("8707#2.2")
async def test_a_code_and_its_refresh_token_may_be_narrowed(app: ClientApp) -> None:
    code = await app.code(scope="openid api1 api2 offline_access")
    first = await app.redeem(code, resource="api1")
    assert claims_in(first["access_token"])["aud"] == "api1"
    second = await app.refresh(first["refresh_token"], resource="api2")
    assert claims_in(second["access_token"])["aud"] == "api2"
    third = await app.refresh(second["refresh_token"])
    assert claims_in(third["access_token"])["aud"] == ["api1", "api2"]


@pytest.mark.rfc("8707#2.2")
async def test_a_resource_that_has_no_scope_left_is_no_audience(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 api2 offline_access", resource=["api1", "api2"])
    assert claims_in(tokens["access_token"])["aud"] == ["api1", "api2"]
    narrowed = await service.token(
        "frontend",
        grant_type="refresh_token",
        refresh_token=tokens["refresh_token"],
        scope="api1",
    )
    assert claims_in(narrowed["access_token"])["aud"] == "api1"


@pytest.mark.rfc("8707#2.2")
async def test_a_resource_that_was_not_granted_is_refused_and_spends_nothing(
    app: ClientApp,
) -> None:
    code = await app.code(scope="openid api1 api2 offline_access", resource="api1")
    assert (await app.redeem(code, resource="api2")).refusal == (400, "invalid_target")
    tokens = await app.redeem(code)
    assert claims_in(tokens["access_token"])["aud"] == "api1"
    wider = await app.refresh(tokens["refresh_token"], resource="api2")
    assert wider.refusal == (400, "invalid_target")
    assert (await app.refresh(tokens["refresh_token"])).status == 200


@pytest.mark.rfc("6749#3.3", "8707#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
async def test_only_what_a_named_resource_understands_is_granted(
    service: RunningService, app_of: Callable[[str], ClientApp], client: str
) -> None:
    tokens = await service.user_token(client, "api1 api2 offline_access", resource="api2")
    assert tokens["scope"] == "api2 offline_access"
    refused = await app_of(client).refresh(tokens["refresh_token"], scope="api1")
    assert refused.refusal == (400, "invalid_scope")
    answer = await app_of(client).refresh(tokens["refresh_token"])
    assert answer["scope"] == "api2 offline_access"


async def test_a_resource_that_understands_nothing_of_the_default_scope_is_refused(
    start: Start, config: dict[str, Any]
) -> None:
    client_in(config, "machine")["allowed_scopes"] = ["api1"]
    service = await start(config)
    answer = await service.token("machine", grant_type="client_credentials", resource="api2")
    assert answer.refusal == (400, "invalid_target")
    assert answer["error_description"] == "the API resource api2 has none of the requested scope"


@pytest.mark.rfc("6749#3.3", "8707#2.2")
async def test_a_scope_that_no_granted_resource_understands_any_more_is_refused(
    app_of: Callable[[str], ClientApp], service: RunningService, config: dict[str, Any]
) -> None:
    tokens = await service.user_token(scope="api1 api2 offline_access", resource=["api1", "shy"])
    config["api_resources"][-1]["scopes"] = ["shy"]
    service.reload(config)
    frontend = app_of("frontend")
    refused = await frontend.refresh(tokens["refresh_token"], scope="api2")
    assert refused.refusal == (400, "invalid_scope")
    assert (await frontend.refresh(tokens["refresh_token"]))["scope"] == "api1 offline_access"


async def test_a_resource_that_is_gone_is_no_audience_any_more(
    app_of: Callable[[str], ClientApp], service: RunningService, config: dict[str, Any]
) -> None:
    tokens = await service.user_token(scope="api1 api2 offline_access", resource=["api1", "shy"])
    config["api_resources"].pop()
    for client_id in ("machine", "web", "frontend"):
        client_in(config, client_id)["allowed_scopes"].remove("shy")
    service.reload(config)
    answer = await app_of("frontend").refresh(tokens["refresh_token"])
    assert claims_in(answer["access_token"])["aud"] == "api1"


@pytest.mark.rfc("8707#2.2")
async def test_a_refresh_is_refused_when_every_granted_resource_is_gone(
    app_of: Callable[[str], ClientApp], service: RunningService, config: dict[str, Any]
) -> None:
    tokens = await service.user_token(scope="openid api2 offline_access", resource="shy")
    config["api_resources"].pop()
    for client_id in ("machine", "web", "frontend"):
        client_in(config, client_id)["allowed_scopes"].remove("shy")
    service.reload(config)
    refused = await app_of("frontend").refresh(tokens["refresh_token"])
    assert refused.refusal == (400, "invalid_target")
