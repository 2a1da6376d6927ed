"""Whatever is exchanged: the first rule that fits decides, scope never grows, and no token outlives its source (RFC 8693 §2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.grants.token_exchange.policy import find_rule
from service.model.token_exchange import ExchangeCase, ExchangeRule
from service.protocol.errors import InvalidRequest
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.token_exchange.exchanging import EXCHANGE, TYPE

pytestmark = pytest.mark.rfc("8693#2.1", "8693#2.2")

CLIENTS = ("api1", "api2", "*")
SUBJECTS = ("access_token", "refresh_token", "jwt")
REQUESTED = ("access_token", "jwt", "id_token")


def some(*values: str) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values), min_size=1)


RULES = st.lists(
    st.builds(
        ExchangeRule,
        clients=some(*CLIENTS),
        subject_token_types=some(*SUBJECTS),
        subject_issuers=some("self", "partner"),
        requested_token_types=some(*REQUESTED),
        actor=st.sampled_from(["none", "optional", "required"]),
        position=st.text(),
    ),
    max_size=6,
)
CASES = st.builds(
    ExchangeCase,
    client_id=st.sampled_from(["api1", "api2", "api3"]),
    subject_token_type=st.sampled_from(SUBJECTS),
    subject_issuer=st.sampled_from(["self", "partner", None]),
    requested_token_type=st.sampled_from(REQUESTED),
    has_actor=st.booleans(),
)


def fits(rule: ExchangeRule, case: ExchangeCase) -> bool:
    """The contract's sentence, written down a second time."""
    return (
        bool(rule.clients & {"*", case.client_id})
        and case.subject_token_type in rule.subject_token_types
        and case.subject_issuer in rule.subject_issuers
        and case.requested_token_type in rule.requested_token_types
        and not (rule.actor == "none" and case.has_actor)
        and not (rule.actor == "required" and not case.has_actor)
    )


@given(rules=RULES, case=CASES)
def test_the_first_rule_that_fits_decides(rules: list[ExchangeRule], case: ExchangeCase) -> None:
    fitting = [rule for rule in rules if fits(rule, case)]
    if fitting:
        assert find_rule(rules, case) is fitting[0]
    else:
        with pytest.raises(InvalidRequest):
            find_rule(rules, case)


ASKED = st.frozensets(
    st.sampled_from(["openid", "profile", "api1", "api1.read", "api2", "x", "offline_access"]),
    max_size=4,
)
TARGETS = st.lists(st.sampled_from(["api1", "api2", "nothing"]), max_size=2)
RULE = {"openid", "api1", "api2"}
CLIENT = {"openid", "profile", "api1.read", "api2"}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The permissions of rule and client overlap."""
    client_in(config, "api1").update(allowed_grant_types=[EXCHANGE], allowed_scopes=sorted(CLIENT))
    config["token_exchange"] = [
        {
            "clients": ["api1"],
            "requested_token_types": ["access_token", "jwt"],
            "scopes": sorted(RULE),
            "audiences": ["api1", "api2"],
        }
    ]
    client_in(config, "frontend")["access_token_lifetime"] = "10m"
    return config


@settings(max_examples=60)
@given(
    granted=st.sampled_from(["api1", "api1.read", "api1 api2 profile openid"]),
    asked=ASKED,
    targets=st.tuples(TARGETS, TARGETS),
    requested=st.sampled_from(["access_token", "jwt"]),
)
async def test_scope_never_grows_and_no_token_outlives_its_source(
    service: RunningService,
    granted: str,
    asked: frozenset[str],
    targets: tuple[list[str], list[str]],
    requested: str,
) -> None:
    source = (await service.user_token(scope=granted))["access_token"]
    answer = await service.token(
        "api1",
        grant_type=EXCHANGE,
        subject_token=source,
        subject_token_type=TYPE + "access_token",
        requested_token_type=TYPE + requested,
        scope=" ".join(asked) or None,
        audience=targets[0],
        resource=targets[1],
    )
    if answer.status != 200:
        assert answer.error in {"invalid_scope", "invalid_target"}
        return
    before, after = claims_in(source), claims_in(answer["access_token"])
    told = frozenset(after["scope"].split())
    assert told <= RULE & CLIENT
    assert told <= asked or not asked
    wanted = {*targets[0], *targets[1]}
    names = [after["aud"]] if isinstance(after["aud"], str) else after["aud"]
    assert not wanted or set(names) <= wanted
    assert after["exp"] <= before["exp"]
    assert after["sub"] == before["sub"]
