"""Each refusal of a token exchange (RFC 8693 §2.2.2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.keys.jose import Key
from tests.account.account_page import revoke
from tests.conftest import Clock, Start
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.token_exchange.exchanging import EXCHANGE, SHARED_SECRET, TYPE, exchange

pytestmark = pytest.mark.rfc("8693#2.2.2")

INVALID_REQUEST = (400, "invalid_request")


@pytest.fixture
async def token(service: RunningService) -> str:
    """A token of alice's for api1."""
    return str((await service.user_token())["access_token"])


@pytest.mark.parametrize(
    "form",
    [
        {"subject_token": None},
        {"subject_token_type": None},
        {"subject_token_type": "saml"},
        {"subject_token_type": "https://example.com/token"},
        {"requested_token_type": "https://example.com/token"},
        {"requested_token_type": "saml2"},
        {"requested_token_type": "id-jag-of-mars"},
        {"subject_token_type": "unsigned_json", "subject_token": '{"sub": "818727"}'},
        {"actor_token": "at_x"},
        {"actor_token_type": "access_token"},
    ],
    ids=str,
)
async def test_missing_and_unknown_parameters_are_refused(
    service: RunningService, token: str, form: dict[str, Any]
) -> None:
    sent = {"subject_token": token, "subject_token_type": "access_token"} | form
    text, of_type = sent.pop("subject_token"), sent.pop("subject_token_type")
    assert (await exchange(service, text, of_type=of_type, **sent)).refusal == INVALID_REQUEST


async def test_a_type_that_is_never_issued_is_refused_whatever_the_rules(
    service: RunningService, token: str
) -> None:
    answer = await exchange(service, token, requested_token_type="saml2")
    assert answer["error_description"] == "requested_token_type is not one that this server issues"


async def test_parameters_that_come_twice_are_refused(service: RunningService, token: str) -> None:
    twice = await service.token(
        "api1",
        grant_type=EXCHANGE,
        subject_token=[token, token],
        subject_token_type=TYPE + "access_token",
        scope="api2",
    )
    assert twice.refusal == INVALID_REQUEST


async def test_unusable_subject_tokens_are_refused(
    service: RunningService, app: ClientApp, token: str
) -> None:
    machine = await service.token("machine", grant_type="client_credentials", scope="api1")
    wrong = (*await app.no_access_tokens(token), machine["access_token"])
    for text in wrong:
        for of_type in ("access_token", "jwt"):
            assert (await exchange(service, text, of_type=of_type)).refusal == INVALID_REQUEST
    assert (await exchange(service, token)).status == 200


async def test_a_revoked_subject_token_is_refused(service: RunningService, token: str) -> None:
    await service.post("/connect/revocation", auth="frontend", token=token)
    assert (await exchange(service, token)).refusal == INVALID_REQUEST


async def test_a_subject_token_for_another_audience_is_refused(service: RunningService) -> None:
    for_api2 = (await service.user_token(scope="api2"))["access_token"]
    assert (await exchange(service, for_api2)).refusal == INVALID_REQUEST
    assert (await exchange(service, for_api2, "frontend")).refusal == INVALID_REQUEST


async def test_a_scope_that_no_audience_of_the_rule_understands_is_refused(
    start: Start, config: dict[str, Any]
) -> None:
    config["token_exchange"][-1]["audiences"] = ["api2"]
    service = await start(config)
    token = (await service.user_token())["access_token"]
    refused = await exchange(service, token, "frontend", scope="api1")
    assert refused.refusal == (400, "invalid_target")
    assert (await exchange(service, token, "frontend", scope="api2")).status == 200


@pytest.mark.parametrize(
    ("requested", "outcome"),
    [
        ("access_token", (400, "invalid_scope")),
        ("refresh_token", (400, "invalid_scope")),
        ("id_token", (200, None)),
    ],
)
async def test_a_token_for_apis_needs_a_scope_that_both_rule_and_client_allow(
    start: Start, config: dict[str, Any], requested: str, outcome: tuple[int, str | None]
) -> None:
    client_in(config, "frontend")["allowed_scopes"] = ["openid", "api1"]
    config["token_exchange"][-1]["scopes"] = ["api2"]
    service = await start(config)
    token = (await service.user_token())["access_token"]
    asked: dict[str, Any] = {"scope": None, "requested_token_type": requested}
    answer = await exchange(service, token, "frontend", **asked)
    assert (answer.status, answer.json.get("error")) == outcome


@pytest.mark.parametrize("scope", ["api1 email", "api1 offline_access profile"])
async def test_a_refresh_token_has_no_scope_that_the_rule_does_not_name(
    start: Start, config: dict[str, Any], scope: str
) -> None:
    config["token_exchange"][-1]["scopes"] = ["openid", "api1"]
    service = await start(config)
    token = (await service.user_token())["access_token"]
    asked = {"requested_token_type": "refresh_token"}
    refused = await exchange(service, token, "frontend", scope=scope, **asked)
    assert refused.refusal == (400, "invalid_scope")
    allowed = await exchange(service, token, "frontend", scope="api1 offline_access", **asked)
    assert allowed.status == 200


@pytest.mark.parametrize("of_type", ["refresh_token", "id_token"])
async def test_refresh_and_id_tokens_of_another_client_are_refused(
    service: RunningService, app: ClientApp, of_type: str
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    other = await exchange(service, tokens[of_type], "implicit", of_type=of_type, scope="api1")
    assert other.refusal == INVALID_REQUEST
    assert (await exchange(service, tokens[of_type], "web", of_type=of_type)).status == 200


@pytest.mark.rfc("8693#2.1")
async def test_an_id_token_that_its_client_could_have_made_up_is_refused(
    service: RunningService, app: ClientApp, token: str
) -> None:
    known = claims_in((await app.tokens())["access_token"])
    made_up = {"iss": service.issuer, "aud": "sharing", "exp": known["exp"], "iat": known["iat"]}
    key = Key.from_secret(SHARED_SECRET, "HS256")
    text = await key.sign(made_up | {"sub": known["sub"], "sid": known["sid"]}, typ="JWT")
    assert (await exchange(service, text, "sharing", of_type="id_token")).refusal == INVALID_REQUEST
    actor = {"actor_token": text, "actor_token_type": "id_token"}
    assert (await exchange(service, token, **actor)).refusal == INVALID_REQUEST


async def test_an_expired_id_token_is_refused(
    service: RunningService, app: ClientApp, clock: Any
) -> None:
    id_token = (await app.tokens())["id_token"]
    clock.forward(minutes=6)
    answer = await exchange(service, id_token, "web", of_type="id_token")
    assert answer.refusal == INVALID_REQUEST


async def test_an_id_token_from_before_its_client_lost_its_access_is_refused(
    service: RunningService, app: ClientApp, clock: Clock
) -> None:
    before = (await app.tokens())["id_token"]
    clock.forward(seconds=2)
    await revoke(app.browser, "web")
    for requested in ("access_token", "refresh_token", "id_token"):
        asked = {"of_type": "id_token", "requested_token_type": requested}
        refused = await exchange(service, before, "web", **asked)
        assert refused.refusal == (400, "invalid_request")
    clock.forward(seconds=2)
    page = await app.authorize()
    after = (await app.redeem(page.parameters["code"]))["id_token"]
    assert (await exchange(service, after, "web", of_type="id_token")).status == 200


async def test_unusable_actor_tokens_are_refused(service: RunningService, token: str) -> None:
    revoked = (await service.user_token())["access_token"]
    await service.post("/connect/revocation", auth="frontend", token=revoked)
    refresh = (await service.user_token(scope="api1 offline_access"))["refresh_token"]
    for text, of_type in (
        (revoked, "access_token"),
        (token, "id_token"),
        (refresh, "refresh_token"),
        ("nonsense", "jwt"),
        ("{}", "unsigned_json"),
    ):
        sent = {"actor_token": text, "actor_token_type": of_type}
        assert (await exchange(service, token, **sent)).refusal == INVALID_REQUEST


async def test_a_request_that_no_rule_fits_is_refused(service: RunningService, token: str) -> None:
    actor = {"actor_token": token, "actor_token_type": "access_token"}
    refused = (
        await exchange(service, token, requested_token_type="id_token"),
        await exchange(service, token, of_type="refresh_token"),
        await exchange(service, token, "broker", **actor),
        await exchange(service, token, "witness"),
    )
    assert [answer.refusal for answer in refused] == [INVALID_REQUEST] * 4


@pytest.mark.rfc("8707#2")
@pytest.mark.parametrize("name", ["audience", "resource"])
@pytest.mark.parametrize("target", ["nothing", "api1", "https://api.example"])
async def test_a_target_that_the_rule_does_not_allow_is_refused(
    service: RunningService, token: str, name: str, target: str
) -> None:
    form: dict[str, Any] = {name: ["api2", target]}
    answer = await exchange(service, token, "broker", **form)
    assert answer.refusal == (400, "invalid_target")


async def test_a_target_that_understands_none_of_the_scope_is_refused(
    service: RunningService, token: str
) -> None:
    assert (await exchange(service, token, audience="api1")).refusal == (400, "invalid_target")


@pytest.mark.parametrize(
    "scope", ["api1", "unknown", "offline_access", "api2 api1", "api2 offline_access", "a b\\"]
)
async def test_a_scope_that_the_rule_does_not_allow_is_refused(
    service: RunningService, token: str, scope: str
) -> None:
    assert (await exchange(service, token, "broker", scope=scope)).refusal == (400, "invalid_scope")


async def test_a_scope_that_the_client_is_not_allowed_is_refused(
    service: RunningService, token: str
) -> None:
    second = (await exchange(service, token))["access_token"]
    answer = await exchange(service, second, "api2", scope="openid")
    assert answer.refusal == (400, "invalid_scope")


async def test_authorization_details_are_refused(service: RunningService, token: str) -> None:
    answer = await exchange(service, token, authorization_details="[]")
    assert answer.refusal == (400, "invalid_authorization_details")


async def test_a_client_without_the_grant_type_is_refused(
    service: RunningService, token: str
) -> None:
    assert (await exchange(service, token, "gateway")).refusal == (400, "unauthorized_client")


class TestMayAct:
    """A subject token may say who acts (RFC 8693 §4.4)."""

    pytestmark = pytest.mark.rfc("8693#4.4")

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        """Every token of bob's for api1 names the client that may act for him."""
        config["api_resources"][0]["user_claims"] = ["may_act"]
        config["users"]["list"][1]["claims"]["may_act"] = {"sub": "api1"}
        return config

    async def of_bob(self, service: RunningService) -> str:
        form = {"username": "bob", "password": "bob-password", "scope": "api1"}
        answer = await service.token("frontend", grant_type="password", **form)
        assert claims_in(answer["access_token"])["may_act"] == {"sub": "api1"}
        return str(answer["access_token"])

    async def test_the_named_party_may_act(self, service: RunningService) -> None:
        assert (await exchange(service, await self.of_bob(service))).status == 200

    @pytest.mark.parametrize("client", ["opaque-api", "broker"])
    async def test_another_party_may_not_act_nor_impersonate(
        self, service: RunningService, client: str
    ) -> None:
        answer = await exchange(service, await self.of_bob(service), client)
        assert answer.refusal == INVALID_REQUEST

    async def test_another_actor_token_is_refused(self, service: RunningService) -> None:
        machine = await service.token("machine", grant_type="client_credentials", scope="api1")
        sent = {"actor_token": machine["access_token"], "actor_token_type": "access_token"}
        answer = await exchange(service, await self.of_bob(service), **sent)
        assert answer.refusal == INVALID_REQUEST

    @pytest.mark.parametrize(
        "may_act", ["anybody", {}, {"sub": "api1", "iss": "https://other.example"}], ids=str
    )
    async def test_each_member_of_may_act_has_to_name_the_actor(
        self, start: Start, config: dict[str, Any], may_act: object
    ) -> None:
        config["users"]["list"][0]["claims"]["may_act"] = may_act
        service = await start(config)
        token = (await service.user_token())["access_token"]
        assert claims_in(token)["may_act"] == may_act
        assert (await exchange(service, token)).refusal == INVALID_REQUEST


async def test_a_rule_for_every_client_is_for_those_with_the_grant_type(
    start: Any, config: dict[str, Any]
) -> None:
    config["token_exchange"] = [
        {"clients": ["*"], "subject_audience": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}
    ]
    service = await start(config)
    token = (await service.user_token())["access_token"]
    assert (await exchange(service, token)).status == 200
    assert (await exchange(service, token, "gateway")).error == "unauthorized_client"


async def test_without_rules_nothing_is_exchanged(start: Any, config: dict[str, Any]) -> None:
    del config["token_exchange"]
    service = await start(config)
    token = (await service.user_token())["access_token"]
    assert (await exchange(service, token)).refusal == INVALID_REQUEST


async def test_first_rule_that_fits_decides_alone(start: Any, config: dict[str, Any]) -> None:
    """A later rule that would allow the scope is not asked."""
    for scope in ("api1", "api2"):
        rule = {"clients": ["api1"], "scopes": [scope], "audiences": [scope]}
        config["token_exchange"].insert(0, rule)
    service = await start(config)
    token = (await service.user_token())["access_token"]
    assert (await exchange(service, token, scope="api2")).status == 200
    assert (await exchange(service, token, scope="api1")).error == "invalid_scope"


async def test_a_client_that_is_no_api_needs_a_named_audience(
    start: Any, config: dict[str, Any]
) -> None:
    client_in(config, "gateway")["allowed_grant_types"].append(EXCHANGE)
    rule = {"clients": ["gateway"], "scopes": ["api2"], "audiences": ["api2"]}
    config["token_exchange"].insert(0, rule)
    service = await start(config)
    token = (await service.user_token())["access_token"]
    assert (await exchange(service, token, "gateway")).refusal == INVALID_REQUEST
