"""Credentials that were proven before still have to be what the registry says now."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService

GRANT = {"grant_type": "client_credentials", "scope": "api1"}


@pytest.fixture
async def known(service: RunningService) -> RunningService:
    """A service where `machine` and `api1` have proven who they are."""
    token = (await service.token("machine", **GRANT))["access_token"]
    assert await service.is_active(token)
    return service


async def test_proven_credentials_are_accepted_again(known: RunningService) -> None:
    token = (await known.token("machine", **GRANT))["access_token"]
    assert await known.is_active(token)


async def test_a_wrong_secret_is_refused_after_a_right_one(known: RunningService) -> None:
    refused = await known.token(("machine", "wrong"), **GRANT)
    assert refused.refusal == (401, "invalid_client")


@pytest.mark.rfc("6749#2.3")
@pytest.mark.parametrize(
    ("further", "refusal"),
    [
        ({"client_secret": "machine-secret"}, (400, "invalid_request")),
        ({"client_assertion": "x.y.z"}, (400, "invalid_request")),
        ({"client_id": "robot"}, (401, "invalid_client")),
    ],
    ids=["secret", "assertion", "other-client"],
)
async def test_other_credentials_with_proven_ones_are_refused(
    known: RunningService, further: dict[str, str], refusal: tuple[int, str]
) -> None:
    assert (await known.token("machine", **GRANT, **further)).refusal == refusal


async def test_a_reload_that_changes_the_secret_counts_at_once(
    known: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "machine")["client_secrets"] = [{"sha256": hashed("another")}]
    known.reload(config)
    statuses = [
        (await known.token(("machine", f"{name}-secret"), **GRANT)).status
        for name in ("machine", "another", "machine")
    ]
    assert statuses == [401, 200, 401]


async def test_a_header_that_proved_nothing_is_not_remembered(service: RunningService) -> None:
    other = {"Authorization": "Bearer something"}
    named = {**GRANT, "client_id": "machine"}
    with_secret = {**named, "client_secret": "machine-secret"}
    assert (await service.post("/connect/token", headers=other, **with_secret)).status == 200
    for form in (GRANT, named):
        refused = await service.post("/connect/token", headers=other, **form)
        assert refused.refusal == (401, "invalid_client")
