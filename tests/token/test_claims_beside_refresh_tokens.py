"""User claims in the records of refresh tokens are encrypted: the store alone does not reveal them (RFC 9700 §4.14)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from service.model.authorization import RefreshToken
from service.model.handle import parse_handle
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("9700#4.14")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`frontend` may repeat a refresh token, so that a spent one's record stays; api3 counts only where it is named."""
    frontend = client_in(config, "frontend")
    frontend["refresh_token_reuse_interval"] = "30s"
    frontend["allowed_scopes"].append("shared")
    config["api_resources"].append(
        {
            "name": "api3",
            "scopes": ["shared"],
            "user_claims": ["email"],
            "require_resource_indicator": True,
        }
    )
    return config


async def refresh(service: RunningService, tokens: Answer) -> Answer:
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    return await service.token("frontend", **form)


async def stored_beside_tokens(service: RunningService) -> list[bytes]:
    kv = service.features.shared.kv
    return [await kv.get(key) or b"" async for key in kv.find_keys("ts:*:rt:*")]


async def test_user_claims_are_encrypted_before_and_after_a_refresh(
    service: RunningService,
) -> None:
    first = await service.user_token(scope="api1 offline_access")
    second = await refresh(service, first)
    stored = await stored_beside_tokens(service)
    assert len(stored) == 2
    for told in (b"alice", b"example", b"email", second["refresh_token"].encode()):
        assert not any(told in record for record in stored)


async def test_each_token_of_the_family_opens_them(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    email = claims_in(tokens["access_token"])["email"]
    for _ in range(3):
        tokens = await refresh(service, tokens)
        assert claims_in(tokens["access_token"])["email"] == email


async def test_claims_that_no_access_token_will_have_are_not_kept(service: RunningService) -> None:
    tokens = await service.user_token(scope="openid profile api2 offline_access")
    record = await rewrite(service, tokens)
    assert not record.sealed_claims
    assert "email" not in claims_in((await refresh(service, tokens))["access_token"])


async def test_claims_of_an_api_that_only_a_later_token_names_are_kept(
    service: RunningService,
) -> None:
    scope, resource = "api2 shared offline_access", "api3"
    tokens = await service.user_token(scope=scope)
    email = "alice@example.com"
    assert "email" not in claims_in(tokens["access_token"])
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    later = await service.token("frontend", resource=resource, **form)
    assert claims_in(later["access_token"])["email"] == email


async def test_a_repeat_within_the_interval_opens_them(service: RunningService) -> None:
    first = await service.user_token(scope="api1 offline_access")
    answers = [await refresh(service, first) for _ in range(2)]
    assert answers[0]["refresh_token"] == answers[1]["refresh_token"]
    assert all("email" in claims_in(answer["access_token"]) for answer in answers)


async def rewrite(service: RunningService, tokens: Answer, **changes: Any) -> RefreshToken:
    """Change the record of the refresh token, if anything; the record before."""
    handle = parse_handle(tokens["refresh_token"], "refresh_token")
    assert handle is not None
    records = service.features.shared.stores.refresh_tokens
    (record,) = await service.features.shared.kv.read(records.read(handle.selector, handle.digest))
    assert isinstance(record, RefreshToken)
    changed = msgspec.structs.replace(record, **changes)
    await service.features.shared.kv.write(
        records.put(changed, handle.selector, handle.digest, ttl=60)
    )
    return record


async def test_a_record_in_the_clear_of_an_earlier_build_is_read(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    await rewrite(service, tokens, sealed_claims=b"", user_claims={"email": "old@example.com"})
    for _ in range(2):
        tokens = await refresh(service, tokens)
        assert claims_in(tokens["access_token"])["email"] == "old@example.com"
    assert not (await rewrite(service, tokens)).user_claims


async def test_user_claims_of_another_token_are_answered_503(
    service: RunningService,
) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    await rewrite(service, tokens, sealed_claims=b"of another token, or of nobody at all")
    assert (await refresh(service, tokens)).refusal == (503, "temporarily_unavailable")
