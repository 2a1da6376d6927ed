"""A subject token that has ended, before an exchange or during it, leaves no refresh token and no ID token (RFC 8693 §2.2, RFC 7009 §2)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry
from tests.token_exchange.exchanging import exchange

pytestmark = pytest.mark.rfc("8693#2.2", "7009#2")

ALICE = "818727"
THEIR_ALICE = "partner:their-alice"
REFUSED = (400, "invalid_request")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`frontend` exchanges its own tokens and those of `partner`, for every type of token."""
    config["trusted_issuers"] = [partner_entry(clients=["frontend"])]
    client_in(config, "frontend")["allowed_scopes"].append("openid")
    own = next(rule for rule in config["token_exchange"] if "frontend" in rule["clients"])
    foreign = {"subject_issuers": ["partner"], "subject_token_types": ["jwt"]}
    config["token_exchange"].append(own | foreign)
    return config


@pytest.fixture
def partner(service: RunningService) -> Partner:
    return Partner(service)


@pytest.mark.parametrize("requested", ["access_token", "refresh_token", "id_token"])
async def test_a_foreign_token_from_before_all_access_of_its_user_ended_is_refused(
    service: RunningService, partner: Partner, clock: Clock, requested: str
) -> None:
    asked = {"of_type": "jwt", "requested_token_type": requested, "scope": "openid api2"}
    before = await partner.assertion()
    clock.forward(seconds=2)
    await service.features.shared.user_ending.end(THEIR_ALICE)
    clock.forward(seconds=2)
    assert (await exchange(service, before, "frontend", **asked)).refusal == REFUSED
    after = await partner.assertion()
    assert (await exchange(service, after, "frontend", **asked)).status == 200


def interrupt(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, end: Callable[[], Awaitable[object]]
) -> None:
    """End something just before the next write."""
    kv = service.features.shared.kv
    write = kv.write

    async def after_the_end(*writes: Any, **options: Any) -> Any:
        monkeypatch.undo()
        await end()
        return await write(*writes, **options)

    monkeypatch.setattr(kv, "write", after_the_end)


@pytest.mark.parametrize("requested", ["refresh_token", "id_token"])
async def test_a_foreign_token_is_refused_when_all_access_of_its_user_ends_meanwhile(
    service: RunningService, partner: Partner, monkeypatch: pytest.MonkeyPatch, requested: str
) -> None:
    shared, token = service.features.shared, await partner.assertion()
    interrupt(service, monkeypatch, lambda: shared.user_ending.end(THEIR_ALICE))
    asked = {"of_type": "jwt", "requested_token_type": requested, "scope": "openid api2"}
    answer = await exchange(service, token, "frontend", **asked)
    assert (answer.refusal, answer["error_description"]) == (
        REFUSED,
        "subject_token has ended meanwhile",
    )
    assert await shared.authorizations.find_all_of(THEIR_ALICE) == ()


async def test_a_refresh_token_is_refused_when_its_source_is_revoked_meanwhile(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, source = service.features.shared, (await service.user_token())["access_token"]
    before = await shared.authorizations.find_all_of(ALICE)

    async def revoke() -> None:
        await service.post("/connect/revocation", auth="frontend", token=source)

    interrupt(service, monkeypatch, revoke)
    answer = await exchange(service, source, "frontend", requested_token_type="refresh_token")
    assert (answer.refusal, answer["error_description"]) == (
        REFUSED,
        "subject_token has ended meanwhile",
    )
    assert await shared.authorizations.find_all_of(ALICE) == before


@pytest.mark.parametrize("requested", ["refresh_token", "id_token"])
async def test_a_subject_token_that_expires_meanwhile_is_refused(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, requested: str
) -> None:
    tokens = await service.user_token(scope="openid api1")
    end = int(time.time()) + tokens["expires_in"]
    monkeypatch.setattr("service.tokens.exchanged.clock", lambda: end + 1)
    asked = {"requested_token_type": requested, "scope": "openid api2"}
    answer = await exchange(service, tokens["access_token"], "frontend", **asked)
    assert answer.refusal == REFUSED
