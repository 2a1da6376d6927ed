"""A request that is wrong in several ways is answered with the first of the contract's list (RFC 6749 §5.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#5.2")

WRONG = ("web", "wrong")


@pytest.mark.parametrize(
    ("auth", "form", "refusal"),
    [
        pytest.param(WRONG, {"scope": ["a", "b"]}, (400, "invalid_request"), id="duplicates first"),
        pytest.param(WRONG, {}, (401, "invalid_client"), id="client before grant_type"),
        pytest.param(
            WRONG, {"grant_type": "nothing"}, (401, "invalid_client"), id="client before known"
        ),
        pytest.param(
            "web", {"scope": "nothing"}, (400, "invalid_request"), id="grant_type present"
        ),
        pytest.param(
            "web",
            {"grant_type": "nothing", "scope": "nothing"},
            (400, "unsupported_grant_type"),
            id="known before allowed",
        ),
        pytest.param(
            "web",
            {"grant_type": "password", "scope": "nothing"},
            (400, "unauthorized_client"),
            id="allowed before scope",
        ),
        pytest.param(
            "frontend",
            {"grant_type": "password", "scope": "nothing", "resource": "nothing"},
            (400, "invalid_scope"),
            id="scope before resource",
        ),
        pytest.param(
            "frontend",
            {"grant_type": "password", "scope": "api1", "resource": "nothing"},
            (400, "invalid_target"),
            id="resource before the grant",
        ),
        pytest.param(
            "frontend",
            {"grant_type": "password", "scope": "api1"},
            (400, "invalid_request"),
            id="the grant last",
        ),
    ],
)
async def test_the_first_failure_answers(
    service: RunningService, auth: Any, form: dict[str, Any], refusal: tuple[int, str]
) -> None:
    assert (await service.token(auth, **form)).refusal == refusal


async def test_the_content_type_comes_before_everything(service: RunningService) -> None:
    answer = await service.post(
        "/connect/token", auth=WRONG, raw="{}", headers={"Content-Type": "application/json"}
    )
    assert answer.refusal == (415, "invalid_request")


@pytest.mark.parametrize(
    "grant_type",
    [
        "urn:ietf:params:oauth:grant-type:saml2-bearer",
        "Password",
        "implicit",
    ],
)
async def test_a_grant_that_is_not_there_is_unsupported(
    service: RunningService, grant_type: str
) -> None:
    answer = await service.token("web", grant_type=grant_type)
    assert answer.refusal == (400, "unsupported_grant_type")


@pytest.mark.parametrize(
    ("client", "grant_type"),
    [
        ("machine", "password"),
        ("machine", "delegation"),
        ("machine", "refresh_token"),
        ("frontend", "client_credentials"),
        ("frontend", "authorization_code"),
    ],
)
async def test_a_client_uses_only_the_grants_it_lists(
    service: RunningService, client: str, grant_type: str
) -> None:
    answer = await service.token(client, grant_type=grant_type)
    assert answer.refusal == (400, "unauthorized_client")


@pytest.mark.parametrize(
    ("client", "grant_type", "missing"),
    [
        ("web", "authorization_code", "code"),
        ("web", "refresh_token", "refresh_token"),
        ("frontend", "password", "username"),
    ],
)
async def test_a_parameter_that_the_grant_needs_is_named(
    service: RunningService, client: str, grant_type: str, missing: str
) -> None:
    answer = await service.token(client, grant_type=grant_type)
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == f"{missing} is missing"
