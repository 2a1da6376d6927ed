"""A JWT of a trusted issuer is exchanged for a token of this service (RFC 8693 §2.1, RFC 7523 §3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.driving.service import RunningService, claims_in
from tests.jwt_bearer.foreign import Partner, partner_entry
from tests.token_exchange.exchanging import TYPE, exchange

pytestmark = pytest.mark.rfc("8693#2.1", "7523#3")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 may exchange tokens of `partner`, api2 those of another issuer only."""
    config["trusted_issuers"] = [
        partner_entry(clients=["api1", "broker"], claims={"mail": "email"}),
        partner_entry(name="other", issuer="https://other.example"),
    ]
    rule = {"subject_token_types": ["jwt"], "scopes": ["api1", "api2"]}
    rule |= {"audiences": ["api1", "api2"], "requested_token_types": ["access_token", "id_token"]}
    config["token_exchange"] = [
        rule | {"clients": ["api1"], "subject_issuers": ["partner"]},
        rule | {"clients": ["broker"], "subject_issuers": ["partner"], "actor": "none"},
        rule | {"clients": ["api2"], "subject_issuers": ["other"]},
    ]
    return config


@pytest.fixture
def partner(service: RunningService) -> Partner:
    return Partner(service)


@pytest.mark.parametrize("typ", ["JWT", "at+jwt"])
async def test_user_is_the_mapped_subject(
    service: RunningService, partner: Partner, typ: str
) -> None:
    text = await partner.assertion(typ=typ, mail="a@partner.example")
    answer = await exchange(service, text, of_type="jwt", scope="api1")
    claims = claims_in(answer["access_token"])
    assert (claims["sub"], claims["idp"]) == ("partner:their-alice", "partner")
    assert (claims["act"], claims["email"]) == ({"sub": "api1"}, "a@partner.example")
    assert await service.is_active(answer["access_token"])


async def test_new_token_lives_as_long_as_the_foreign_one_at_most(
    service: RunningService, partner: Partner
) -> None:
    text = await partner.assertion(exp=timedelta(seconds=90))
    answer = await exchange(service, text, of_type="jwt")
    assert answer["expires_in"] <= 90


async def test_a_foreign_token_may_be_exchanged_again(
    service: RunningService, partner: Partner
) -> None:
    text = await partner.assertion(jti=None)
    for _ in range(2):
        assert (await exchange(service, text, of_type="jwt")).status == 200


async def test_foreign_actors_stay_with_their_issuer(
    service: RunningService, partner: Partner
) -> None:
    text = await partner.assertion(act={"sub": "their-api", "act": {"sub": "their-gateway"}})
    token = (await exchange(service, text, of_type="jwt"))["access_token"]
    theirs: dict[str, Any] = {"iss": partner.issuer, "sub": "their-gateway"}
    theirs = {"iss": partner.issuer, "sub": "their-api", "act": theirs}
    assert claims_in(token)["act"] == {"sub": "api1", "act": theirs}
    assert await service.is_active(token, caller="api2")


@pytest.mark.rfc("8693#4.1")
@pytest.mark.parametrize("of_type", ["access_token", "jwt"])
async def test_an_actor_of_another_issuer_is_named_with_it_and_a_local_one_alone(
    service: RunningService, partner: Partner, of_type: str
) -> None:
    theirs = await exchange(service, await partner.assertion(), of_type="jwt")
    ours = await service.user_token()
    acting: list[object] = []
    for actor in (theirs, ours):
        sent = {"actor_token": actor["access_token"], "actor_token_type": of_type}
        new = await exchange(service, await partner.assertion(), of_type="jwt", **sent)
        acting.append(claims_in(new["access_token"])["act"])
    assert acting == [{"sub": "partner:their-alice", "idp": "partner"}, {"sub": "818727"}]


async def test_a_user_of_the_store_acts_as_that_user_also_where_an_issuer_names_it(
    service: RunningService, partner: Partner, config: dict[str, Any]
) -> None:
    config["trusted_issuers"][0] |= {"subject": "{sub}", "existing_user": True}
    service.reload(config)
    theirs = await exchange(service, await partner.assertion(sub="818727"), of_type="jwt")
    sent = {"actor_token": theirs["access_token"], "actor_token_type": "access_token"}
    new = await exchange(service, await partner.assertion(), of_type="jwt", **sent)
    assert claims_in(new["access_token"])["act"] == {"sub": "818727"}
    config["users"]["list"][0]["enabled"] = False
    service.reload(config)
    assert not await service.is_active(new["access_token"], caller="api2")


async def test_what_came_from_a_user_of_the_store_ends_with_the_permission_to_name_it(
    service: RunningService, partner: Partner, config: dict[str, Any]
) -> None:
    config["trusted_issuers"][0] |= {"subject": "{sub}", "existing_user": True}
    service.reload(config)
    token = (await exchange(service, await partner.assertion(sub="818727"), of_type="jwt"))[
        "access_token"
    ]
    assert await service.is_active(token, caller="api2")
    config["trusted_issuers"][0]["existing_user"] = False
    service.reload(config)
    assert not await service.is_active(token, caller="api2")


async def test_a_token_of_another_issuer_is_no_actor_token(
    service: RunningService, partner: Partner
) -> None:
    sent = {"actor_token": await partner.assertion(), "actor_token_type": "jwt"}
    refused = await exchange(service, await partner.assertion(), of_type="jwt", **sent)
    assert refused.refusal == (400, "invalid_request")


async def test_impersonation_of_a_foreign_user_names_no_actor(
    service: RunningService, partner: Partner
) -> None:
    text = await partner.assertion(act={"sub": "their-api"})
    answer = await exchange(service, text, "broker", of_type="jwt")
    assert "act" not in claims_in(answer["access_token"])


@pytest.mark.rfc("8693#2.2.2")
@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://nobody.example"},
        {"iss": "https://other.example"},
        {"aud": "https://elsewhere.example"},
        {"exp": timedelta(minutes=-5)},
        {"exp": timedelta(hours=5)},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"sub": "818727", "may_act": {"sub": "somebody"}},
        *(
            {"act": act}
            for act in ("their-api", [{"sub": "a"}], {}, {"sub": 5}, {"sub": "a", "act": "b"})
        ),
    ],
    ids=str,
)
async def test_a_foreign_token_that_does_not_hold_is_refused(
    service: RunningService, partner: Partner, changes: dict[str, Any]
) -> None:
    text = await partner.assertion(**changes)
    answer = await exchange(service, text, of_type="jwt")
    assert answer.refusal == (400, "invalid_request")


async def test_another_key_or_client_is_refused(service: RunningService, partner: Partner) -> None:
    text = await partner.assertion()
    head, body, signature = text.split(".")
    spoiled = f"{head}.{body}.{signature[:-4]}AAAA"
    assert (await exchange(service, spoiled, of_type="jwt")).error == "invalid_request"
    assert (await exchange(service, text, "api2", of_type="jwt")).error == "invalid_request"
    assert (await exchange(service, text, of_type="access_token")).error == "invalid_request"
    actor = {"actor_token": text, "actor_token_type": TYPE + "jwt"}
    assert (await exchange(service, text, of_type="jwt", **actor)).error == "invalid_request"
