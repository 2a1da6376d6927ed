"""An assertion of a trusted issuer is a grant, once (RFC 7521 §4.1, §5.2, RFC 7523 §2.1, §3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from service.events.tokens import AssertionReplayed, AssertionUsed, TokenRefused
from service.identity.assertions import ASSERTION_TYPES, MAX_JTI_LENGTH
from service.keys.foreign_keys import UNNAMED
from service.keys.jose import MAX_JWT_LENGTH, Key
from tests.clients.signing import SECRET, unsigned
from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import BEARER, ISSUER, Partner

pytestmark = pytest.mark.rfc("7521#4.1", "7521#5.2", "7523#2.1", "7523#3", "7523#3.1")

REFUSED = (400, "invalid_grant")
AT_ONCE = 60


async def test_an_assertion_is_a_grant(partner: Partner) -> None:
    answer = await partner.present(scope="api1")
    assert answer.status == 200
    claims = (await partner.service.introspect(answer["access_token"])).json
    assert (claims["active"], claims["sub"]) == (True, "partner:their-alice")
    assert (claims["idp"], claims["amr"]) == ("partner", [BEARER])
    assert "auth_time" not in claims


async def test_the_scope_is_by_default_that_of_the_client(partner: Partner) -> None:
    assert (await partner.present())["scope"] == "api1 api2"


async def test_there_is_no_refresh_token(partner: Partner) -> None:
    answer = await partner.present(scope="api1 offline_access")
    assert answer["scope"] == "api1"
    assert "refresh_token" not in answer.json


async def test_offline_access_alone_is_refused_and_the_assertion_not_used(partner: Partner) -> None:
    assertion = await partner.assertion()
    refused = await partner.present(assertion, scope="offline_access")
    assert refused.refusal == (400, "invalid_scope")
    assert (await partner.present(assertion)).status == 200


@pytest.mark.rfc("6749#3.3")
async def test_a_request_without_scope_is_refused_where_the_client_has_none_by_default(
    start: Start, config: dict[str, Any]
) -> None:
    client_in(config, "courier")["allowed_scopes"] = ["openid"]
    partner = Partner(await start(config))
    answer = await partner.present()
    assert answer.refusal == (400, "invalid_scope")
    assert (await partner.present(scope="openid")).status == 200


@pytest.mark.rfc("6749#3.3")
async def test_a_scope_that_the_client_may_not_have_is_refused(partner: Partner) -> None:
    answer = await partner.present(scope="api1.read")
    assert answer.refusal == (400, "invalid_scope")


async def test_a_resource_is_the_audience(partner: Partner) -> None:
    answer = await partner.present(scope="api1", resource="api2")
    assert answer.refusal == (400, "invalid_target")
    assert (await partner.present(resource="api2"))["scope"] == "api2"


async def test_a_request_without_assertion_is_refused(partner: Partner) -> None:
    answer = await partner.service.token("courier", grant_type=BEARER)
    assert answer.refusal == (400, "invalid_request")


async def test_a_client_needs_the_grant_type(partner: Partner) -> None:
    assert (await partner.by("machine").present()).refusal == (400, "unauthorized_client")


ACCEPTED: dict[str, dict[str, Any]] = {
    "the audience among others": {"aud": ["https://other.example", "{issuer}"]},
    "the token endpoint": {"aud": "{issuer}/connect/token"},
    "a clock that is a little ahead": {
        "iat": timedelta(seconds=20),
        "nbf": timedelta(seconds=20),
    },
    "an end that has just passed": {
        "iat": timedelta(minutes=-5),
        "exp": timedelta(seconds=-10),
    },
    "the longest life": {"exp": timedelta(minutes=10)},
    "further claims": {"nonce": "n", "https://partner.example/team": ["a"]},
}


@pytest.mark.parametrize("changes", ACCEPTED.values(), ids=ACCEPTED.keys())
async def test_an_assertion_holds_with(partner: Partner, changes: dict[str, Any]) -> None:
    assert (await partner.grant(**_addressed(changes, partner))).status == 200


WRONG: dict[str, dict[str, Any]] = {
    "no issuer": {"iss": None},
    "an issuer that nobody trusts": {"iss": "https://as.stranger.example"},
    "an issuer with a slash more": {"iss": ISSUER + "/"},
    "several issuers": {"iss": [ISSUER]},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a number": {"sub": 5},
    "a long subject": {"sub": "a" * 256},
    "a subject that is long here": {"sub": "a" * 250},
    "no audience": {"aud": None},
    "another audience": {"aud": "https://other.example"},
    "an audience in part": {"aud": "{issuer}/"},
    "an audience that is no text": {"aud": [{"url": "{issuer}"}]},
    "no end": {"exp": None},
    "an end that is no number": {"exp": "tomorrow"},
    "an end that is true": {"exp": True},
    "an end long ago": {"iat": timedelta(hours=-1), "exp": timedelta(minutes=-55)},
    "no time of issue": {"iat": None},
    "a time of issue that is no number": {"iat": "now"},
    "a time of issue to come": {"iat": timedelta(minutes=5), "exp": timedelta(minutes=6)},
    "a beginning to come": {"nbf": timedelta(minutes=5)},
    "too long a life": {"exp": timedelta(minutes=10, seconds=1)},
    "a life without end": {"exp": timedelta(days=36500)},
    "no id": {"jti": None},
    "an id that is a number": {"jti": 5},
    "an empty id": {"jti": ""},
    "a long id": {"jti": "a" * (MAX_JTI_LENGTH + 1)},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG.keys())
async def test_an_assertion_is_refused_with(partner: Partner, changes: dict[str, Any]) -> None:
    assert (await partner.grant(**_addressed(changes, partner))).refusal == REFUSED


def _addressed(changes: dict[str, Any], partner: Partner) -> dict[str, Any]:
    """Put the service's issuer in."""

    def put(value: Any) -> Any:
        if isinstance(value, list):
            return [put(one) for one in value]
        return (
            value.replace("{issuer}", partner.service.issuer) if isinstance(value, str) else value
        )

    return {name: put(value) for name, value in changes.items()}


@pytest.mark.rfc("8725#3.11")
@pytest.mark.parametrize("typ", ["at+jwt", "logout+jwt", "dpop+jwt", "oauth-id-jag+jwt", "x"])
async def test_a_jwt_of_another_type_is_refused(partner: Partner, typ: str) -> None:
    assert (await partner.grant(typ=typ)).refusal == REFUSED


@pytest.mark.parametrize("typ", sorted(ASSERTION_TYPES - {UNNAMED}))
async def test_a_type_of_assertions_is_accepted(partner: Partner, typ: str) -> None:
    assert (await partner.grant(typ=typ.upper())).status == 200


@pytest.mark.rfc("8725#3.1", "7515#5.2")
async def test_an_assertion_by_another_key_is_refused(partner: Partner) -> None:
    assert (await partner.grant(number=1)).refusal == REFUSED


@pytest.mark.rfc("8725#3.1")
async def test_an_algorithm_that_is_not_the_issuers_is_refused(partner: Partner) -> None:
    assert (await replace(partner, alg="ES384").present()).refusal == REFUSED


@pytest.mark.rfc("8725#3.1", "7518#3.6")
async def test_an_unsigned_assertion_is_refused(partner: Partner) -> None:
    header = {"alg": "none", "typ": "JWT"}
    assert (await partner.present(unsigned(header, partner.claims()))).refusal == REFUSED


@pytest.mark.rfc("8725#2.1")
async def test_an_assertion_signed_by_a_secret_is_refused(partner: Partner) -> None:
    answer = await partner.grant(key=Key.from_secret(SECRET, "HS256"))
    assert answer.refusal == REFUSED


@pytest.mark.parametrize(
    "assertion",
    ["x", "a.b", "a.b.c", "a.b.c.d.e", "é.é.é", "x" * 20_000, "." * 2, "e30.e30."],
)
async def test_what_is_no_jwt_is_refused(partner: Partner, assertion: str) -> None:
    assert (await partner.present(assertion)).refusal == REFUSED


async def test_an_assertion_may_be_as_long_as_every_jwt(partner: Partner) -> None:
    assertion = await partner.assertion(filler="x" * 38_000)
    assert (await partner.present(assertion)).status == 200


async def test_an_assertion_that_is_longer_than_a_jwt_may_be_is_an_invalid_request(
    partner: Partner,
) -> None:
    assertion = await partner.assertion(filler="x" * (MAX_JWT_LENGTH * 3 // 4))
    answer = await partner.present(assertion)
    assert answer.refusal == (400, "invalid_request")
    assert "longer" in answer["error_description"]


async def test_an_assertion_counts_once(partner: Partner, events: list[object]) -> None:
    assertion = await partner.assertion()
    assert (await partner.present(assertion)).status == 200
    assert (await partner.present(assertion)).refusal == REFUSED
    assert AssertionReplayed(client_id="courier", issuer="partner") in events


async def test_an_assertion_counts_once_for_all_clients(partner: Partner) -> None:
    assertion = await partner.assertion()
    assert (await partner.present(assertion)).status == 200
    assert (await partner.by("other-courier").present(assertion)).refusal == REFUSED


async def test_one_of_many_requests_with_the_same_assertion_gets_a_token(
    start: Start, config: dict[str, Any], store_url: str
) -> None:
    number = 1 if store_url.startswith("memory") else 3
    replicas = [await start(config) for _ in range(number)]
    partner = Partner(replicas[0])
    assertion = await partner.assertion()
    presenters = (replace(partner, service=replicas[n % number]) for n in range(AT_ONCE))
    answers = await asyncio.gather(*(one.present(assertion) for one in presenters))
    counted = Counter(answer.refusal for answer in answers)
    assert counted == {(200, None): 1, REFUSED: AT_ONCE - 1}


async def test_an_event_names_the_issuer_and_the_subject_here(
    partner: Partner, events: list[object]
) -> None:
    await partner.present()
    used = AssertionUsed(client_id="courier", issuer="partner", subject="partner:their-alice")
    assert used in events


async def test_a_refusal_says_why_to_the_client_and_the_log(
    partner: Partner, events: list[object]
) -> None:
    answer = await partner.grant(iat=None)
    (refused,) = (one for one in events if isinstance(one, TokenRefused))
    assert "iat is missing" in answer["error_description"]
    assert (refused.cause, refused.grant_type) == (answer["error_description"], BEARER)


@pytest.mark.rfc("8693#4.1")
async def test_parties_that_act_for_the_user_are_named_with_their_issuer(partner: Partner) -> None:
    act = {"sub": "their-gateway", "act": {"sub": "their-app", "iss": "https://elsewhere.example"}}
    token = (await partner.grant(act=act))["access_token"]
    claims = (await partner.service.introspect(token)).json
    assert claims["act"] == {
        "iss": ISSUER,
        "sub": "their-gateway",
        "act": {"iss": "https://elsewhere.example", "sub": "their-app"},
    }


def _nested(depth: int) -> dict[str, Any]:
    act: dict[str, Any] = {"sub": "a"}
    for _ in range(depth - 1):
        act = {"sub": "a", "act": act}
    return act


@pytest.mark.rfc("8693#4.1")
@pytest.mark.parametrize("depth", [1, 5])
async def test_one_to_five_parties_act(partner: Partner, depth: int) -> None:
    token = (await partner.grant(act=_nested(depth)))["access_token"]
    named = str((await partner.service.introspect(token))["act"])
    assert named.count("'sub': 'a'") == depth


@pytest.mark.rfc("8693#4.1")
@pytest.mark.parametrize(
    "act",
    [
        *("their-app", {}, {"sub": 5}, {"sub": "a", "act": "b"}, {"sub": "a", "act": {}}),
        *(_nested(6), _nested(200)),
    ],
    ids=["text", "nobody", "number", "text within", "nobody within", "six", "hundreds"],
)
async def test_parties_that_act_are_few_and_have_names(partner: Partner, act: Any) -> None:
    assert (await partner.grant(act=act)).refusal == REFUSED


async def test_discovery_lists_the_grant_type(service: RunningService) -> None:
    metadata = (await service.get("/.well-known/openid-configuration")).json
    assert BEARER in metadata["grant_types_supported"]
