"""Pods authenticate by their service account tokens: as clients, made clients and APIs (RFC 7523 §3, RFC 8725 §3)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.clients import published_keys
from service.model.workload import JWT_SPIFFE
from tests.conftest import Clock, Start
from tests.driving.key_server import publishing
from tests.driving.registry import hashed
from tests.driving.service import RunningService, claims_in
from tests.workloads.conftest import CLUSTER_TOKEN, workload_client
from tests.workloads.platform import JWKS, METADATA, Platform, Workload, pod

pytestmark = pytest.mark.rfc("7523#3", "7521#4.2")

REFUSED = (401, "invalid_client")


async def test_a_pod_gets_a_token_as_the_client_that_a_rule_names(checkout: Workload) -> None:
    answer = await checkout.ask(scope="api1")
    assert claims_in(answer["access_token"])["client_id"] == "checkout"


async def test_the_same_token_counts_until_it_expires(checkout: Workload, clock: Clock) -> None:
    token = checkout.token()
    assert [(await checkout.ask(token)).status for _ in range(3)] == [200, 200, 200]
    clock.forward(hours=1, minutes=5)
    assert (await checkout.ask(token)).refusal == REFUSED


async def test_a_client_id_may_be_sent_if_it_is_that_of_the_rule(checkout: Workload) -> None:
    assert (await checkout.ask(client_id="checkout")).status == 200
    assert (await checkout.ask(client_id="deployer")).refusal == REFUSED


async def test_a_rule_makes_clients_with_the_settings_of_its_template(
    service: RunningService, cart: Workload
) -> None:
    token = (await cart.ask(scope="api1"))["access_token"]
    answer = await service.introspect(token)
    assert (answer["client_id"], answer["sub"]) == ("shop.cart", "shop.cart")


async def test_an_api_introspects_with_its_own_token(
    service: RunningService, cart: Workload, orders: Workload
) -> None:
    token = (await cart.ask(scope="orders"))["access_token"]
    path, form = "/connect/introspect", {"token": token, **orders.credentials()}
    assert (await service.post(path, **form))["active"] is True
    assert (await service.post(path, **form, client_id="orders"))["active"] is True
    assert (await service.post(path, **form, client_id="api1")).refusal == REFUSED


async def test_an_answer_to_an_api_is_not_remembered_beyond_its_own_token(
    service: RunningService, cart: Workload, orders: Workload, clock: Clock
) -> None:
    token = (await cart.ask(scope="orders"))["access_token"]
    form = {"token": token, **orders.credentials(exp=timedelta(minutes=1))}
    assert (await service.post("/connect/introspect", **form))["active"] is True
    clock.forward(minutes=5)
    assert (await service.post("/connect/introspect", **form)).refusal == REFUSED


async def test_the_log_names_a_workload_that_no_rule_fits(
    service: RunningService, platform: Platform
) -> None:
    with capture_logs() as logged:
        answer = await pod(service, platform, "elsewhere", "stranger").ask()
    assert answer.refusal == REFUSED
    (line,) = [line for line in logged if line["event"] == "no rule fits the workload"]
    assert line["sub"] == "system:serviceaccount:elsewhere:stranger"


async def test_an_api_is_no_client(orders: Workload) -> None:
    assert (await orders.ask()).refusal == REFUSED


async def test_an_api_is_no_client_of_its_name(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    secret = {"sha256": hashed("orders")}
    config["clients"].append(workload_client("orders", client_secrets=[secret]))
    service = await start(config)
    assert (await service.token("orders", grant_type="client_credentials")).status == 200
    assert (await pod(service, platform, "apis", "orders").ask()).refusal == REFUSED


async def test_made_clients_introspect_and_revoke_their_own_tokens_only(
    service: RunningService, cart: Workload, platform: Platform
) -> None:
    token = (await cart.ask(scope="api1"))["access_token"]
    stranger = pod(service, platform, "shop", "stranger")
    form = {"token": token, **stranger.credentials()}
    assert (await service.post("/connect/introspect", **form)).json == {"active": False}
    await service.post("/connect/revocation", **form)
    assert await service.is_active(token)
    await service.post("/connect/revocation", token=token, **cart.credentials())
    assert not await service.is_active(token)


async def test_a_request_is_pushed_by_a_workload(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    uri = "https://checkout.example/callback"
    by_name = {client["client_id"]: client for client in config["clients"]}
    by_name["checkout"] |= {"allowed_grant_types": ["authorization_code"], "redirect_uris": [uri]}
    service = await start(config)
    form = {"response_type": "code", "scope": "api1", "redirect_uri": uri}
    form |= {"code_challenge": "c" * 43, "code_challenge_method": "S256"}
    sent: dict[str, Any] = form | pod(service, platform, "shop", "checkout").credentials()
    assert (await service.post("/connect/par", **sent)).status == 201


async def test_template_is_not_a_client(service: RunningService, platform: Platform) -> None:
    named = pod(service, platform, "shop", "shop-workload")
    token = (await named.ask(scope="api1"))["access_token"]
    assert (await service.introspect(token))["client_id"] == "shop.shop-workload"
    query = "?client_id=shop-workload&response_type=code&redirect_uri=https://x.example"
    assert (await service.get("/connect/authorize" + query)).status == 400
    answer = await service.token(("shop-workload", ""), grant_type="client_credentials")
    assert answer.refusal == REFUSED


@pytest.mark.usefixtures("one_store")
async def test_tokens_end_with_the_rule_that_made_their_client(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    service = await start(config)
    token = (await pod(service, platform, "shop", "cart").ask(scope="api1"))["access_token"]
    assert await service.is_active(token)
    del config["workload_issuers"][0]["rules"][1]
    service.reload(config)
    assert not await service.is_active(token)


BAD: dict[str, dict[str, Any]] = {
    "of nobody": {"sub": "system:serviceaccount:bank:checkout"},
    "of a user": {"sub": "alice"},
    "of a longer subject": {"sub": "system:serviceaccount:shop:cart:x"},
    "of an upper case name": {"sub": "system:serviceaccount:shop:CART"},
    "without a subject": {"sub": None},
    "of another issuer": {"iss": "https://other.example"},
    "for another audience": {"aud": ["https://kubernetes.default.svc"]},
    "for other audiences too": {"aud": ["https://localhost", "self"]},
    "without an audience": {"aud": None},
    "that has expired": {"exp": timedelta(hours=-1)},
    "without an end": {"exp": None},
    "that ends in words": {"exp": "soon"},
    "that lives too long": {"exp": timedelta(hours=2)},
    "that is not valid yet": {"nbf": timedelta(hours=1)},
    "that comes from the future": {"iat": timedelta(hours=1), "exp": timedelta(hours=2)},
    "of the type at+jwt": {"header": {"typ": "at+jwt"}},
    "with critical parameters": {"header": {"crit": ["x"], "x": 1}},
    "of another key": {"number": 1, "header": {"kid": "unknown"}},
    "of another key with a known id": {"number": 1},
}


@pytest.mark.rfc("8725#3.1", "8725#3.8", "8725#3.9", "8725#3.11", "7523#3")
@pytest.mark.parametrize("changes", BAD.values(), ids=BAD.keys())
@pytest.mark.usefixtures("one_store")
async def test_a_token_is_refused(
    checkout: Workload, platform: Platform, changes: dict[str, Any]
) -> None:
    if changes.get("number") and "header" not in changes:
        changes = {**changes, "header": {"kid": platform.keys[0].kid}}
    if changes.get("aud") == ["https://localhost", "self"]:
        changes = {"aud": ["https://other.example", checkout.service.issuer]}
    assert (await checkout.ask_with(**changes)).refusal == REFUSED


@pytest.mark.rfc("8725#3.1")
@pytest.mark.parametrize("alg", ["none", "HS256", "PS256"])
@pytest.mark.usefixtures("one_store")
async def test_an_algorithm_is_refused_that_is_not_the_issuers(
    checkout: Workload, alg: str
) -> None:
    head, _, rest = checkout.token(header={"typ": "JWT"}).partition(".")
    forged = urlsafe_b64encode(b'{"alg":"%s","typ":"JWT"}' % alg.encode()).rstrip(b"=").decode()
    assert head != forged
    assert (await checkout.ask(f"{forged}.{rest}")).refusal == REFUSED


@pytest.mark.rfc("8725#3.10")
async def test_keys_in_the_header_are_ignored(checkout: Workload) -> None:
    async with publishing() as server:
        header = {"jku": server.url, "kid": "theirs"}
        assert (await checkout.ask_with(number=1, header=header)).refusal == REFUSED
        assert server.asked == []


async def test_a_token_is_refused_with_the_type_of_jwt_svids(checkout: Workload) -> None:
    assert (await checkout.ask(client_assertion_type=JWT_SPIFFE)).refusal == REFUSED
    assert (await checkout.ask(client_assertion_type="jwt")).refusal == REFUSED


async def test_a_token_of_more_than_16_kib_is_refused(checkout: Workload) -> None:
    assert (await checkout.ask_with(padding="x" * 16384)).refusal == REFUSED


@pytest.mark.rfc("6749#2.3")
async def test_a_workload_sends_no_second_credential(checkout: Workload) -> None:
    answer = await checkout.service.token(
        ("machine", "x"), grant_type="client_credentials", **checkout.credentials()
    )
    assert answer.refusal == (400, "invalid_request")


async def test_a_client_of_a_rule_has_no_other_way_in(checkout: Workload) -> None:
    answer = await checkout.service.token(
        None, grant_type="client_credentials", client_id="checkout"
    )
    assert answer.refusal == REFUSED


async def test_keys_are_read_with_the_token_of_this_service(
    platform: Platform, checkout: Workload
) -> None:
    platform.token = CLUSTER_TOKEN
    assert (await checkout.ask()).status == 200
    assert platform.asked[-2:] == [METADATA, JWKS]


async def test_the_token_file_is_read_each_time(
    platform: Platform, checkout: Workload, token_file: Path, clock: Clock
) -> None:
    platform.token = "a newer token"
    assert (await checkout.ask()).refusal == REFUSED
    token_file.write_text(platform.token)  # noqa: ASYNC240 - a few bytes
    clock.forward(seconds=published_keys.PAUSE + 1)
    assert (await checkout.ask()).status == 200


async def test_a_token_file_that_is_gone_is_no_server_error(
    checkout: Workload, token_file: Path
) -> None:
    token_file.unlink()  # noqa: ASYNC240 - as above
    assert (await checkout.ask()).refusal == REFUSED


async def test_keys_are_read_once_for_all_workloads(
    platform: Platform, checkout: Workload, cart: Workload
) -> None:
    for _ in range(2):
        assert (await checkout.ask()).status == (await cart.ask()).status == 200
    assert platform.asked.count(JWKS) == 1


async def test_the_audit_log_has_the_pod_and_the_node(
    checkout: Workload, capsys: pytest.CaptureFixture[str]
) -> None:
    await checkout.ask()
    bound = checkout.claims["kubernetes.io"]
    logged = capsys.readouterr().err
    (line,) = [line for line in logged.splitlines() if '"token_issued"' in line]
    assert f'"sub":"{checkout.claims["sub"]}"' in line
    assert f'"pod":"{bound["pod"]["name"]}","pod_uid":"{bound["pod"]["uid"]}"' in line
    assert '"node":"node-1"' in line


async def test_discovery_names_the_method_where_there_are_workloads(
    service: RunningService,
) -> None:
    metadata = (await service.get("/.well-known/openid-configuration")).json
    for endpoint in ("token", "introspection", "revocation"):
        assert "workload" in metadata[f"{endpoint}_endpoint_auth_methods_supported"]


OTHER_AUDIENCE = {"audience": "urn:tokens", "allow_other_audiences": True}


class TestWithAnotherAudience:
    """`audience` and `allow_other_audiences` say what `aud` may be."""

    @pytest.fixture
    def issuer(self) -> dict[str, Any]:
        return OTHER_AUDIENCE

    async def test_other_values_are_allowed_with_it(self, checkout: Workload) -> None:
        assert (await checkout.ask_with(aud=["urn:tokens", "other"])).status == 200
        assert (await checkout.ask_with(aud="urn:tokens")).status == 200
        assert (await checkout.ask()).refusal == REFUSED


async def test_an_api_asks_for_a_check_with_its_own_token(
    service: RunningService, cart: Workload, orders: Workload, checkout: Workload
) -> None:
    token = (await cart.ask(scope="orders"))["access_token"]

    async def status(shown: str) -> int:
        headers = {"Authorization": f"Bearer {token}", "X-Check-Authorization": f"Bearer {shown}"}
        return (await service.get("/connect/check/orders", headers=headers)).status

    assert await status(orders.token()) == 200
    assert await status(orders.token(aud="https://other.example")) == 401
    assert await status(checkout.token()) == 401
