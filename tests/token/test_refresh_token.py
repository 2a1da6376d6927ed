"""New tokens without the user, one rotation at a time (RFC 6749 §6, RFC 9700 §4.14)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from service.events.tokens import RefreshTokenReused
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import add_client, client_in, hashed
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("6749#6", "9700#4.14")

SCOPE = "openid api1 api2 offline_access"
ALICE = "818727"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """One client for each way in which refresh tokens can be registered."""
    usual = client_in(config, "frontend")

    add = partial(add_client, config, usual)

    add("lenient", refresh_token_reuse_interval="30s")
    add("reusing", refresh_token_usage="reuse", absolute_refresh_token_lifetime="1h")
    add("short", absolute_refresh_token_lifetime="1h", access_token_lifetime="10m")
    add(
        "sliding",
        refresh_token_expiration="sliding",
        sliding_refresh_token_lifetime="10m",
        absolute_refresh_token_lifetime="25m",
        access_token_lifetime="1m",
    )
    config["clients"].append(
        client_in(config, "sliding")
        | {"client_id": "lasting", "refresh_token_usage": "reuse"}
        | {"client_secrets": [{"sha256": hashed("lasting")}]}
    )
    add("updating", update_access_token_claims_on_refresh=True)
    return config


async def refresh(
    service: RunningService, token: Answer | str, client: str = "frontend", **form: Any
) -> Answer:
    """Use a refresh token."""
    text = token if isinstance(token, str) else token["refresh_token"]
    return await service.token(client, grant_type="refresh_token", refresh_token=text, **form)


async def test_a_refresh_gives_what_was_granted(service: RunningService) -> None:
    first = await service.user_token(scope=SCOPE)
    second = await refresh(service, first)
    assert second["scope"] == first["scope"] == "api1 api2 offline_access openid"
    assert claims_in(second["access_token"])["sub"] == "818727"
    assert await service.is_active(first["access_token"])


async def test_the_authentication_stays_the_first_one(
    service: RunningService, clock: Clock
) -> None:
    first = await service.user_token(scope=SCOPE)
    clock.forward(minutes=5)
    before, after = (
        claims_in(answer["access_token"]) for answer in (first, await refresh(service, first))
    )
    assert after["iat"] >= before["iat"] + 300
    for name in ("auth_time", "amr", "acr", "idp", "sub"):
        assert after[name] == before[name]


async def test_every_refresh_rotates_the_token(service: RunningService) -> None:
    first = await service.user_token(scope=SCOPE)
    second = await refresh(service, first)
    third = await refresh(service, second)
    assert len({answer["refresh_token"] for answer in (first, second, third)}) == 3


@pytest.mark.rfc("9700#4.14.2")
async def test_a_reused_token_ends_the_family(
    service: RunningService, events: list[object]
) -> None:
    first = await service.user_token(scope=SCOPE)
    second = await refresh(service, first)
    delegated = await service.token(
        "api1", grant_type="delegation", token=second["access_token"], scope="api2"
    )
    assert (await refresh(service, first)).refusal == (400, "invalid_grant")
    assert (await refresh(service, second)).refusal == (400, "invalid_grant")
    assert not await service.is_active(first["access_token"])
    assert not await service.is_active(second["access_token"])
    assert not await service.is_active(delegated["access_token"], caller="api2")
    assert RefreshTokenReused(client_id="frontend", subject="818727") in events


@pytest.mark.rfc("6749#6")
@pytest.mark.parametrize(("owner", "other"), [("frontend", "opaque"), ("opaque", "frontend")])
async def test_another_client_does_not_consume_the_refresh_token(
    service: RunningService, owner: str, other: str
) -> None:
    first = await service.user_token(owner, SCOPE)
    assert (await refresh(service, first, other)).refusal == (400, "invalid_grant")
    wrong = await service.token(
        (owner, "wrong"), grant_type="refresh_token", refresh_token=first["refresh_token"]
    )
    assert wrong.refusal == (401, "invalid_client")
    assert (await refresh(service, first, owner)).status == 200


async def test_scope_can_be_narrowed_for_one_access_token(service: RunningService) -> None:
    first = await service.user_token(scope=SCOPE)
    second = await refresh(service, first, scope="api1")
    assert second["scope"] == claims_in(second["access_token"])["scope"] == "api1"
    assert (await refresh(service, second))["scope"] == first["scope"]


@pytest.mark.rfc("openid-core#12.2")
async def test_access_token_without_openid_brings_no_id_token(app: ClientApp) -> None:
    first = await app.tokens(scope="openid api1 offline_access")
    narrowed = await app.refresh(first["refresh_token"], scope="api1")
    assert (narrowed.status, "id_token" in narrowed.json) == (200, False)
    again = await app.refresh(narrowed["refresh_token"])
    assert "id_token" in again.json


@pytest.mark.parametrize("scope", ["api1 profile", "api1.read", "unknown", "offline_access"])
async def test_scope_never_widens_and_the_attempt_spends_nothing(
    service: RunningService, scope: str
) -> None:
    first = await service.user_token(scope=SCOPE)
    assert (await refresh(service, first, scope=scope)).refusal == (400, "invalid_scope")
    assert (await refresh(service, first)).status == 200


async def test_text_that_is_not_a_refresh_token_is_refused(service: RunningService) -> None:
    first = await service.user_token("opaque", scope=SCOPE)
    token = first["refresh_token"]
    for wrong in (first["access_token"], token[:-1], token + "A", "rt_", "x", "é"):
        assert (await refresh(service, wrong, "opaque")).refusal == (400, "invalid_grant")
    assert (await refresh(service, first, "opaque")).status == 200


async def test_a_repeat_within_the_interval_gets_the_same_successor(
    service: RunningService,
) -> None:
    first = await service.user_token("lenient", SCOPE)
    answers = [await refresh(service, first, "lenient") for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert len({answer["refresh_token"] for answer in answers}) == 1
    assert (await refresh(service, answers[0], "lenient")).status == 200


async def test_a_repeat_still_gets_the_successor_that_is_in_use(service: RunningService) -> None:
    first = await service.user_token("lenient", SCOPE)
    second = await refresh(service, first, "lenient")
    await refresh(service, second, "lenient")
    again = await refresh(service, first, "lenient")
    assert again["refresh_token"] == second["refresh_token"]


async def test_after_the_interval_a_repeat_is_a_reuse(
    service: RunningService, clock: Clock
) -> None:
    first = await service.user_token("lenient", SCOPE)
    second = await refresh(service, first, "lenient")
    clock.forward(seconds=32)
    assert (await refresh(service, first, "lenient")).refusal == (400, "invalid_grant")
    assert (await refresh(service, second, "lenient")).refusal == (400, "invalid_grant")


async def test_a_repeat_does_not_prolong_the_interval(
    service: RunningService, clock: Clock
) -> None:
    first = await service.user_token("lenient", SCOPE)
    await refresh(service, first, "lenient")
    clock.forward(seconds=20)
    assert (await refresh(service, first, "lenient")).status == 200
    clock.forward(seconds=20)
    assert (await refresh(service, first, "lenient")).refusal == (400, "invalid_grant")


async def test_a_token_of_usage_reuse_stays_the_same(service: RunningService) -> None:
    first = await service.user_token("reusing", SCOPE)
    second = await refresh(service, first, "reusing")
    assert second["refresh_token"] == first["refresh_token"]
    assert (await refresh(service, first, "reusing")).status == 200


async def test_a_token_of_usage_reuse_ends_too(service: RunningService, clock: Clock) -> None:
    first = await service.user_token("reusing", SCOPE)
    clock.forward(minutes=50)
    assert (await refresh(service, first, "reusing")).status == 200
    clock.forward(minutes=11)
    assert (await refresh(service, first, "reusing")).refusal == (400, "invalid_grant")


async def test_the_family_ends_at_the_absolute_lifetime(
    service: RunningService, clock: Clock
) -> None:
    answer = await service.user_token("short", SCOPE)
    for _ in range(3):
        clock.forward(minutes=19)
        answer = await refresh(service, answer, "short")
        assert answer.status == 200
    clock.forward(minutes=4)
    assert (await refresh(service, answer, "short")).refusal == (400, "invalid_grant")


async def test_a_sliding_token_lives_while_it_is_used(
    service: RunningService, clock: Clock
) -> None:
    answer = await service.user_token("sliding", SCOPE)
    for _ in range(2):
        clock.forward(minutes=9)
        answer = await refresh(service, answer, "sliding")
        assert answer.status == 200
    clock.forward(minutes=8)
    assert (await refresh(service, answer, "sliding")).refusal == (400, "invalid_grant")


async def test_the_last_access_token_outlives_its_family(
    service: RunningService, clock: Clock
) -> None:
    answer = await service.user_token("short", SCOPE)
    for _ in range(2):
        clock.forward(minutes=29)
        answer = await refresh(service, answer, "short")
    clock.forward(minutes=8)
    assert await service.is_active(answer["access_token"])


async def test_a_lower_lifetime_does_not_end_older_access_tokens(
    service: RunningService, config: dict[str, Any], clock: Clock
) -> None:
    client_in(config, "sliding")["access_token_lifetime"] = "1h"
    service.reload(config)
    first = await service.user_token("sliding", SCOPE)
    clock.forward(minutes=1)
    second = await refresh(service, first, "sliding")
    client_in(config, "sliding")["access_token_lifetime"] = "1m"
    service.reload(config)
    clock.forward(minutes=5)
    assert (await refresh(service, second, "sliding")).status == 200
    clock.forward(minutes=53)
    assert await service.is_active(first["access_token"])
    assert await service.is_active(second["access_token"])


async def test_a_lower_lifetime_leaves_older_access_tokens_of_usage_reuse_alive(
    service: RunningService, config: dict[str, Any], clock: Clock
) -> None:
    lasting = client_in(config, "lasting")
    lasting["access_token_lifetime"] = "20m"
    service.reload(config)
    first = await service.user_token("lasting", SCOPE)
    clock.forward(minutes=9)
    second = await refresh(service, first, "lasting")
    lasting["access_token_lifetime"] = "1m"
    service.reload(config)
    clock.forward(minutes=9)
    assert (await refresh(service, first, "lasting")).status == 200
    clock.forward(minutes=10, seconds=30)
    assert await service.is_active(second["access_token"])
    listed = await service.features.shared.authorizations.find_all_of(ALICE)
    assert len(listed) == 1, "a user who ends everything would not end it"


async def test_a_lower_lifetime_leaves_a_front_channel_token_alive(
    app_of: Callable[[str], ClientApp], config: dict[str, Any], clock: Clock
) -> None:
    implicit = app_of("implicit")
    page = await implicit.login(response_type="code token", scope="openid api1", nonce="n")
    client_in(config, "implicit")["access_token_lifetime"] = "1m"
    implicit.service.reload(config)
    assert (await implicit.redeem(page.parameters["code"])).status == 200
    clock.forward(minutes=3)
    assert await implicit.service.is_active(page.parameters["access_token"])


async def test_a_family_that_slides_no_more_lives_to_its_absolute_end(
    service: RunningService, config: dict[str, Any], clock: Clock
) -> None:
    answer = await service.user_token("sliding", SCOPE)
    client_in(config, "sliding")["refresh_token_expiration"] = "absolute"
    service.reload(config)
    answer = await refresh(service, answer, "sliding")
    clock.forward(minutes=20)
    assert (await refresh(service, answer, "sliding")).status == 200


@pytest.mark.rfc("7662#2.2")
async def test_introspection_promises_no_end_that_a_sliding_token_may_not_reach(
    service: RunningService,
) -> None:
    for client, told in (("sliding", False), ("frontend", True)):
        token = (await service.user_token(client, SCOPE))["refresh_token"]
        answer = await service.introspect(token, caller=client)
        assert (answer["active"], "exp" in answer.json) == (True, told)


async def test_a_sliding_token_ends_when_it_is_not_used(
    service: RunningService, clock: Clock
) -> None:
    answer = await service.user_token("sliding", SCOPE)
    clock.forward(minutes=11)
    assert (await refresh(service, answer, "sliding")).refusal == (400, "invalid_grant")


async def test_a_scope_that_the_client_has_lost_is_left_out(
    service: RunningService, config: dict[str, Any]
) -> None:
    first = await service.user_token(scope=SCOPE)
    client_in(config, "frontend")["allowed_scopes"].remove("api2")
    service.reload(config)
    assert (await refresh(service, first))["scope"] == "api1 offline_access openid"


async def test_a_client_that_has_lost_every_scope_gets_nothing(
    service: RunningService, config: dict[str, Any]
) -> None:
    first = await service.user_token(scope="api2 offline_access")
    client_in(config, "frontend")["allowed_scopes"] = ["api1"]
    service.reload(config)
    assert (await refresh(service, first)).refusal == (400, "invalid_grant")


async def test_a_disabled_user_is_not_refreshed(
    service: RunningService, config: dict[str, Any]
) -> None:
    first = await service.user_token(scope=SCOPE)
    config["users"]["list"][0]["enabled"] = False
    service.reload(config)
    assert (await refresh(service, first)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("client", "email"), [("frontend", "alice@example.com"), ("updating", "new@example.com")]
)
async def test_claims_stay_or_follow_as_the_client_is_registered(
    service: RunningService, config: dict[str, Any], client: str, email: str
) -> None:
    first = await service.user_token(client, SCOPE)
    config["users"]["list"][0]["claims"]["email"] = "new@example.com"
    service.reload(config)
    second = await refresh(service, first, client)
    assert claims_in(second["access_token"])["email"] == email
    third = await refresh(service, second, client)
    assert claims_in(third["access_token"])["email"] == email
