"""No assertion, however odd its signed claims are, causes a server error (RFC 9110 §15.6.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.assertions import MAX_DEPTH
from service.protocol.token_types import ID_JAG_TYP
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry
from tests.request_objects.test_any_object import JSON

pytestmark = pytest.mark.rfc("9110#15.6.1")

NAMES = st.sampled_from(
    [
        *("sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "act", "cnf", "client_id"),
        *("scope", "resource", "authorization_details", "team"),
    ]
)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    mapped: dict[str, Any] = {"subject": "partner:{sub}:{team}", "claims": {"team": "email"}}
    config["trusted_issuers"] = [
        partner_entry(**mapped),
        partner_entry(name="partner-jag", id_jag=True, claims={"team": "email"}),
    ]
    return config


@pytest.mark.usefixtures("one_store")
@settings(max_examples=120)
@given(changes=st.dictionaries(NAMES, JSON, max_size=4), typ=st.sampled_from(["JWT", ID_JAG_TYP]))
async def test_any_claims_are_granted_or_refused(
    service: RunningService, changes: dict[str, Any], typ: str
) -> None:
    partner = Partner(service, usual={"client_id": "courier", "team": "a"})
    answer = await partner.present(await partner.assertion(typ=typ, **changes))
    assert answer.status in {200, 400}


@pytest.mark.parametrize("auth_time", [0, 1.5, 99_999_999_999])
async def test_an_odd_time_of_authentication_is_brought_into_the_past(
    partner: Partner, auth_time: float
) -> None:
    answer = await partner.grant(auth_time=auth_time, team="a")
    assert await partner.service.is_active(answer["access_token"])


@pytest.mark.parametrize("auth_time", [-1e300, -1, 2**63, 1e300])
async def test_a_time_of_authentication_that_is_no_time_is_refused(
    partner: Partner, auth_time: float
) -> None:
    answer = await partner.grant(auth_time=auth_time, team="a")
    assert answer.refusal == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("depth", "status"), [(MAX_DEPTH - 1, 200), (MAX_DEPTH + 1, 400), (200, 400)]
)
@pytest.mark.parametrize("name", ["act", "nested"])
async def test_claims_are_nested_to_a_bounded_depth(
    partner: Partner, name: str, depth: int, status: int
) -> None:
    nested: Any = "a"
    for _ in range(depth - (1 if name == "act" else 0)):
        nested = [nested]
    changes = {"act": {"sub": "a", "more": nested}} if name == "act" else {"nested": nested}
    assert (await partner.grant(team="a", **changes)).status == status
