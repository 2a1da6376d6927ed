"""Whatever is asked for, no token holds more than was granted (RFC 6749 §6, RFC 8707 §2.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("6749#6", "8707#2.2")

SCOPES = st.frozensets(
    st.sampled_from(["openid", "profile", "email", "api1", "api1.read", "api2", "phone", "x"]),
    max_size=4,
)
RESOURCES = st.lists(st.sampled_from(["api1", "api2", "nothing"]), max_size=2)
SEVERAL = settings(max_examples=60)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The refresh token can be used again and again."""
    client_in(config, "frontend")["refresh_token_usage"] = "reuse"
    return config


@SEVERAL
@given(granted=SCOPES, asked=SCOPES, first=RESOURCES, then=RESOURCES)
async def test_narrowing_never_widens(
    service: RunningService,
    granted: frozenset[str],
    asked: frozenset[str],
    first: list[str],
    then: list[str],
) -> None:
    tokens = await service.user_token(scope=" ".join(granted | {"offline_access"}), resource=first)
    if tokens.status != 200:
        assert tokens.error in {"invalid_scope", "invalid_target"}
        return
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    answer = await service.token("frontend", scope=" ".join(asked), resource=then, **form)
    if answer.status != 200:
        assert answer.error in {"invalid_scope", "invalid_target"}
        return
    before, after = (claims_in(one["access_token"]) for one in (tokens, answer))
    told = frozenset(after["scope"].split())
    assert told <= (granted | {"offline_access"})
    assert told <= asked or not asked
    audience = set(audience_of(after)) - {service.issuer}  # which is where no API is left
    assert not then or audience <= set(then)
    assert not first or audience <= set(first)
    assert before["sub"] == after["sub"]


def audience_of(claims: dict[str, Any]) -> list[str]:
    """`aud`, as a list."""
    audience = claims["aud"]
    return [audience] if isinstance(audience, str) else audience
