"""An Identity Assertion JWT Authorization Grant is an assertion for one client (draft-ietf-oauth-identity-assertion-authz-grant)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from service.protocol.token_types import ID_JAG_PROFILE, ID_JAG_TYP
from tests.cli.conftest import command
from tests.cli.test_explain import explained
from tests.driving.dpop import DpopKey
from tests.driving.registry import hashed
from tests.driving.service import Answer, RunningService, claims_in
from tests.jwt_bearer.foreign import BEARER, ISSUER, Partner, partner_entry, presenter_entry
from tests.rich_requests.details import PAYMENT, add_types

__all__ = ["command"]

pytestmark = pytest.mark.rfc("7521#5.2", "7523#3")

REFUSED = (400, "invalid_grant")
API = "https://api.example/mcp"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The issuer's ID-JAGs are accepted, and nothing else of it; one API has a URL as its name."""
    config = add_types(config)
    config["trusted_issuers"] = [partner_entry(id_jag=True)]
    config["api_resources"].append({"name": API, "scopes": ["tools.read", "tools.write"]})
    scopes = ["openid", "email", "api1", "tools.read", "tools.write"]
    for client in config["clients"]:
        if client["client_id"].endswith("courier"):
            client["allowed_scopes"] = scopes
            client["authorization_details_types"] = ["payment_initiation"]
    public = presenter_entry("public-courier", "", require_client_secret=False)
    del public["client_secrets"]
    config["clients"].append(public)
    payer = {"allowed_scopes": ["openid"], "authorization_details_types": ["payment_initiation"]}
    config["clients"].append(presenter_entry("payer", hashed("payer"), **payer))
    return config


@pytest.fixture
def partner(service: RunningService) -> Partner:
    return Partner(service, usual={"client_id": "courier"})


async def present(partner: Partner, form: dict[str, str] | None = None, **changes: Any) -> Answer:
    """Present an ID-JAG with these changes."""
    assertion = await partner.assertion(typ=ID_JAG_TYP, **changes)
    return await partner.present(assertion, **(form or {}))


async def test_an_id_jag_is_a_grant(partner: Partner) -> None:
    answer = await present(partner, scope="api1 tools.read")
    claims = claims_in(answer["access_token"])
    assert (claims["sub"], claims["idp"]) == ("partner:their-alice", "partner")
    assert answer["scope"] == "api1 tools.read"
    assert "refresh_token" not in answer.json


async def test_an_id_jag_counts_once(partner: Partner) -> None:
    assertion = await partner.assertion(typ=ID_JAG_TYP)
    answers = await asyncio.gather(*(partner.present(assertion) for _ in range(20)))
    assert Counter(one.refusal for one in answers) == {(200, None): 1, REFUSED: 19}


WRONG: dict[str, dict[str, Any]] = {
    "no client": {"client_id": None},
    "another client": {"client_id": "other-courier"},
    "a client that is no text": {"client_id": ["courier"]},
    "no id": {"jti": None},
    "no subject": {"sub": None},
    "no end": {"exp": None},
    "no time of issue": {"iat": None},
    "the token endpoint as audience": {"aud": "{issuer}/connect/token"},
    "another audience beside ours": {"aud": ["{issuer}", "https://other.example"]},
    "an empty audience": {"aud": []},
    "a scope that is a list": {"scope": ["api1"]},
    "a resource that is an object": {"resource": {"url": API}},
    "a resource that is a number in a list": {"resource": [API, 5]},
    "a key of an unknown kind": {"cnf": {"kid": "x"}},
    "two keys": {"cnf": {"jkt": "x", "x5t#S256": "y"}},
    "a key that is not proven": {"cnf": {"jkt": "x"}},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG.keys())
async def test_an_id_jag_is_refused_with(partner: Partner, changes: dict[str, Any]) -> None:
    issuer = partner.service.issuer
    for name, value in changes.items():
        if name == "aud":
            changes = {"aud": _put(value, issuer)}
    assert (await present(partner, **changes)).refusal == REFUSED


def _put(value: Any, issuer: str) -> Any:
    if isinstance(value, list):
        return [_put(one, issuer) for one in value]
    return value.replace("{issuer}", issuer)


async def test_the_audience_may_be_a_list_of_one(partner: Partner) -> None:
    assert (await present(partner, aud=[partner.service.issuer])).status == 200


@pytest.mark.rfc("8725#3.11")
@pytest.mark.parametrize("typ", ["JWT", "authorization-grant+jwt", "at+jwt"])
async def test_its_issuer_sends_nothing_else(partner: Partner, typ: str) -> None:
    assert (await partner.present(await partner.assertion(typ=typ))).refusal == REFUSED


async def test_an_issuer_that_is_listed_twice_sends_both_kinds(
    partner: Partner, config: dict[str, Any]
) -> None:
    config["trusted_issuers"].append(partner_entry(name="partner-plain"))
    partner.service.reload(config)
    plain = await partner.present(await partner.assertion())
    assert claims_in(plain["access_token"])["idp"] == "partner-plain"
    assert claims_in((await present(partner))["access_token"])["idp"] == "partner"


async def test_another_client_cannot_use_it(partner: Partner) -> None:
    assertion = await partner.assertion(typ=ID_JAG_TYP)
    assert (await partner.by("other-courier").present(assertion)).refusal == REFUSED
    assert (await partner.present(assertion)).status == 200


async def test_a_client_that_does_not_authenticate_is_refused(partner: Partner) -> None:
    assertion = await partner.assertion(typ=ID_JAG_TYP, client_id="public-courier")
    form = {"grant_type": BEARER, "assertion": assertion, "client_id": "public-courier"}
    answer = await partner.service.token(None, **form)
    assert answer.refusal == REFUSED


SCOPES: dict[str, tuple[str | None, str | None, str | tuple[int, str]]] = {
    "all of it": ("api1 tools.read", None, "api1 tools.read"),
    "without what nobody knows here": ("api1 chat.read", None, "api1"),
    "without what the client may not have": ("api1 api2", None, "api1"),
    "claims of the user too": ("openid email", None, "email openid"),
    "never refresh tokens": ("api1 offline_access", None, "api1"),
    "the part that is asked for": ("api1 tools.read", "api1", "api1"),
    "nothing known": ("chat.read", None, (400, "invalid_scope")),
    "nothing": ("", None, (400, "invalid_scope")),
    "more than it holds": ("api1", "api1 tools.read", (400, "invalid_scope")),
    "the client's own where it is silent": (None, None, "api1 tools.read tools.write"),
    "what is asked for where it is silent": (None, "api1", "api1"),
}


@pytest.mark.rfc("6749#3.3")
@pytest.mark.parametrize(("held", "asked", "granted"), SCOPES.values(), ids=SCOPES.keys())
async def test_its_scope_is_a_limit(
    partner: Partner, held: str | None, asked: str | None, granted: Any
) -> None:
    answer = await present(partner, {"scope": asked} if asked else None, scope=held)
    assert (answer["scope"] if answer.status == 200 else answer.refusal) == granted


RESOURCES: dict[str, tuple[Any, str | None, Any]] = {
    "one": (API, None, API),
    "a list": ([API, "https://other.example"], None, API),
    "several": ([API, "api1"], None, ["api1", API]),
    "the one that is asked for": ([API, "api1"], "api1", "api1"),
    "none that exists here": ("https://other.example", None, (400, "invalid_target")),
    "another than it holds": (API, "api1", (400, "invalid_target")),
    "one that understands nothing": ("api2", None, (400, "invalid_target")),
}


@pytest.mark.rfc("8707#2")
@pytest.mark.parametrize(("held", "asked", "aud"), RESOURCES.values(), ids=RESOURCES.keys())
async def test_its_resource_is_a_limit(
    partner: Partner, held: Any, asked: str | None, aud: Any
) -> None:
    form = {"resource": asked} if asked else None
    answer = await present(partner, form, resource=held)
    granted = claims_in(answer["access_token"])["aud"] if answer.status == 200 else answer.refusal
    assert granted == aud


async def test_a_resource_without_any_of_the_scope_is_named_in_the_refusal(
    partner: Partner,
) -> None:
    refused = await present(partner, resource=["api1", "api2"], scope="tools.read")
    assert refused.refusal == (400, "invalid_target")
    said = "the API resources api1, api2 of the ID-JAG have none of the scope that it grants"
    assert refused["error_description"] == said


async def test_a_resource_cuts_the_scope(partner: Partner) -> None:
    answer = await present(partner, resource=API, scope="api1 tools.read")
    assert answer["scope"] == "tools.read"


@pytest.mark.rfc("9396#7")
async def test_its_details_are_granted_with_its_scope_and_alone(partner: Partner) -> None:
    answer = await present(partner, scope="api1", authorization_details=[PAYMENT])
    assert (answer["scope"], answer["authorization_details"]) == ("api1", [PAYMENT])
    alone = await present(partner, authorization_details=[PAYMENT])
    assert "scope" not in alone.json
    claims = claims_in(alone["access_token"])
    assert (claims["aud"], claims["authorization_details"]) == ("payments", [PAYMENT])


@pytest.mark.rfc("9396#7")
@pytest.mark.parametrize("form", [{}, {"resource": "payments"}], ids=["", "resource"])
async def test_its_details_are_enough_for_a_client_without_api_scopes(
    service: RunningService, form: dict[str, str]
) -> None:
    payer = Partner(service, presenter="payer", usual={"client_id": "payer"})
    answer = await present(payer, form, authorization_details=[PAYMENT])
    assert (claims_in(answer["access_token"])["aud"], "scope" in answer.json) == ("payments", False)
    assert (await present(payer, form)).refusal[0] == 400
    elsewhere = await present(payer, {"resource": "api1"}, authorization_details=[PAYMENT])
    assert elsewhere.refusal == (400, "invalid_target")


@pytest.mark.rfc("9396#5")
@pytest.mark.parametrize(
    "details",
    [
        "[]",
        [],
        [5],
        {"type": "payment_initiation"},
        [{"type": "unknown"}],
        [{"type": "payment_initiation"}],
        [PAYMENT, {"type": "account_information"}],
    ],
    ids=["text", "none", "a number", "an object", "unknown type", "schema", "another's type"],
)
async def test_details_that_the_client_may_not_have_refuse_the_id_jag(
    partner: Partner, details: Any
) -> None:
    answer = await present(partner, scope="api1", authorization_details=details)
    assert answer.refusal == (400, "invalid_authorization_details")


@pytest.mark.rfc("8707#2", "9396#3.2")
async def test_its_resource_cuts_its_details(partner: Partner) -> None:
    granted: dict[str, Any] = {"scope": "api1", "authorization_details": [PAYMENT]}
    one = await present(partner, resource="payments", **granted)
    assert (one["authorization_details"], "scope" in one.json) == ([PAYMENT], False)
    other = await present(partner, resource="api1", **granted)
    assert (other["scope"], "authorization_details" in other.json) == ("api1", False)
    both = await present(partner, resource=["api1", "payments"], **granted)
    assert claims_in(both["access_token"])["aud"] == ["api1", "payments"]
    assert (await present(partner, resource="api2", **granted)).refusal == (400, "invalid_target")


@pytest.mark.rfc("9449#5", "9449#6.1", "7800#3")
async def test_an_id_jag_with_a_key_needs_a_proof_of_it(partner: Partner) -> None:
    key, other = DpopKey(partner.service.issuer), DpopKey(partner.service.issuer)
    assertion = await partner.assertion(typ=ID_JAG_TYP, cnf={"jkt": key.thumbprint})
    assert (await partner.present(assertion)).refusal == REFUSED
    assert (await partner.present(assertion, headers=other.header())).refusal == REFUSED
    answer = await partner.present(assertion, headers=key.header())
    assert (answer.status, answer["token_type"]) == (200, "DPoP")


async def test_discovery_names_the_profile_and_no_issuer(partner: Partner) -> None:
    answer = await partner.service.get("/.well-known/oauth-authorization-server")
    assert answer["authorization_grant_profiles_supported"] == [ID_JAG_PROFILE]
    assert ISSUER not in answer.body.decode()


async def test_discovery_names_no_profile_without_such_an_issuer(
    partner: Partner, config: dict[str, Any]
) -> None:
    partner.service.reload(config | {"trusted_issuers": [partner_entry()]})
    answer = await partner.service.get("/.well-known/oauth-authorization-server")
    assert "authorization_grant_profiles_supported" not in answer.json


async def test_explain_knows_an_id_jag(partner: Partner, command: Any) -> None:
    facts = await explained(command, await partner.assertion(typ=ID_JAG_TYP))
    assert (facts["issuer"], facts["state"]) == ("partner", "holds")
