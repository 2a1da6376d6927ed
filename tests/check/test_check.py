"""A proxy asks whether it may pass a request on to an API (RFC 6750 §3, RFC 9449 §7, RFC 9470 §3)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from service.events.tokens import TokenChecked
from service.model.handle import new_handle, new_selector
from tests.conftest import Clock, Start
from tests.driving.authority import self_signed
from tests.driving.dpop import DpopKey
from tests.driving.raw import exchange
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, basic

pytestmark = pytest.mark.rfc("6750#3", "9470#3")

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A proxy on loopback; api1's answers may be used again for a minute, and it has named checks."""
    config["server"] = {"trusted_proxies": ["127.0.0.1", "::1"]}
    api = config["api_resources"][0]
    api["check"] = {"cache": "1m"}
    api["checks"] = {
        "read": {"scope": ["api1.read"]},
        "anything": {},
        "strong": {"acr": "urn:example:strong", "max_age": "1m"},
    }
    config["authentication_contexts"] = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "urn:example:strong", "amr": ["pwd", "otp"]},
    ]
    client_in(config, "frontend")["access_token_lifetime"] = "5m"
    client_in(config, "opaque")["allowed_scopes"].append("api1.read")
    return config


@pytest.fixture
async def token(service: RunningService) -> str:
    return str((await service.user_token())["access_token"])


async def check(
    service: RunningService,
    token: str | None,
    path: str = "api1",
    *,
    method: str = "GET",
    scheme: str = "Bearer",
    **headers: str,
) -> Answer:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        sent["Authorization"] = f"{scheme} {token}"
    return await service.request(method, f"/connect/check/{path}", headers=sent)


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
@pytest.mark.parametrize("method", METHODS)
async def test_a_good_token_passes_with_any_method(
    service: RunningService, client: str, method: str
) -> None:
    token = (await service.user_token(client, "openid api1 api1.read api2"))["access_token"]
    answer = await check(service, token, method=method)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["X-Token-Subject"] == "818727"
    assert answer.headers["X-Token-Client"] == client
    assert answer.headers["X-Token-Scope"] == "api1 api1.read"
    assert answer.headers["Vary"] == "Authorization"


async def test_a_body_of_any_type_is_not_read(service: RunningService, token: str) -> None:
    answer = await service.request(
        "POST",
        "/connect/check/api1",
        data=b"\xff" * 200_000,
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/x-anything"},
    )
    assert answer.status == 200


async def test_without_a_token_one_is_asked_for(service: RunningService) -> None:
    answer = await check(service, None, "api1?scope=api1.read")
    assert answer.status == 401
    bearer, _, dpop = answer.headers["WWW-Authenticate"].partition(", DPoP ")
    assert bearer == f'Bearer realm="{service.issuer}", scope="api1.read"'
    assert "scope" not in dpop
    assert "error=" not in answer.headers["WWW-Authenticate"]
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("spoiled", ["nonsense", "at_" + "x" * 65, "é", "a.b.c"])
async def test_a_token_that_is_none_is_refused(service: RunningService, spoiled: str) -> None:
    answer = await check(service, spoiled)
    assert answer.refusal == (401, "invalid_token")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


async def test_a_revoked_token_is_refused(service: RunningService, token: str) -> None:
    await service.post("/connect/revocation", auth="frontend", token=token)
    assert (await check(service, token)).refusal == (401, "invalid_token")


async def test_a_token_of_another_api_is_refused(service: RunningService) -> None:
    token = (await service.user_token(scope="api2"))["access_token"]
    assert (await check(service, token)).refusal == (401, "invalid_token")
    assert (await check(service, token, "api2")).status == 200


@pytest.mark.parametrize("path", ["api1?scope=api1.read", "api1/read", "api1/read/orders/7"])
async def test_a_missing_scope_is_named(service: RunningService, token: str, path: str) -> None:
    answer = await check(service, token, path)
    assert answer.refusal == (403, "insufficient_scope")
    assert 'scope="api1.read"' in answer.headers["WWW-Authenticate"]
    wider = (await service.user_token(scope="api1 api1.read"))["access_token"]
    assert (await check(service, wider, path)).status == 200


async def test_a_scope_of_another_api_does_not_count(service: RunningService) -> None:
    token = (await service.user_token(scope="api1 api2"))["access_token"]
    assert (await check(service, token, "api1?scope=api1+api2")).refusal[0] == 403


@pytest.mark.rfc("9470#3")
@pytest.mark.parametrize(
    "path", ["api1?acr=urn:example:strong&max_age=60", "api1/strong", "api1/strong/?scope=api1"]
)
async def test_a_stronger_sign_in_is_asked_for(
    service: RunningService, token: str, path: str
) -> None:
    answer = await check(service, token, path)
    assert answer.refusal == (401, "insufficient_user_authentication")
    challenge = answer.headers["WWW-Authenticate"]
    assert 'acr_values="urn:example:strong", max_age=60' in challenge


@pytest.mark.rfc("9470#3")
async def test_an_old_sign_in_is_not_enough(
    service: RunningService, token: str, clock: Clock
) -> None:
    assert (await check(service, token, "api1?max_age=30")).status == 200
    clock.forward(seconds=31)
    answer = await check(service, token, "api1?max_age=30")
    assert answer.refusal == (401, "insufficient_user_authentication")
    assert (await check(service, token, "api1?acr=password")).status == 200


async def test_a_client_for_itself_has_no_sign_in(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope="api1")
    token = answer["access_token"]
    assert (await check(service, token)).headers["X-Token-Subject"] == "machine"
    assert (await check(service, token, "api1?max_age=60")).status == 401


@pytest.mark.parametrize(
    ("path", "seconds"),
    [("api1", 60), ("api1?max_age=20", 20), ("api1?max_age=3600", 60), ("api2", 0)],
)
async def test_an_answer_may_be_used_again_for_as_long_as_it_is_true(
    service: RunningService, clock: Clock, path: str, seconds: int
) -> None:
    token = (await service.user_token(scope="api1 api2"))["access_token"]
    answer = await check(service, token, path)
    told = answer.headers["Cache-Control"]
    assert told in {f"private, max-age={seconds}", f"private, max-age={max(seconds - 1, 0)}"}
    clock.forward(seconds=270)
    if "max_age=20" not in path:
        left = int((await check(service, token, path)).headers["Cache-Control"].split("=")[1])
        assert left <= min(30, seconds)


async def test_event_says_of_each_check_whether_it_passed_or_why_not(
    service: RunningService, token: str, events: list[object]
) -> None:
    for path in ("api1", "api1?scope=api1.read", "api1?max_age=soon"):
        await check(service, token, path)
    await check(service, "nonsense")
    results = [event.result for event in events if isinstance(event, TokenChecked)]
    assert results == ["passed", "insufficient_scope", "temporarily_unavailable", "invalid_token"]


@pytest.mark.rfc("9449#7")
async def test_a_bound_token_needs_a_proof_for_the_original_request(
    service: RunningService,
) -> None:
    key = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
    token = answer["access_token"]
    url = "https://shop.example/orders/7"

    async def ask(proof_of: str = url, method: str = "PUT", **headers: str) -> Answer:
        proof = key.proof("", method, access_token=token, htu=proof_of)
        return await check(service, token, scheme="DPoP", DPoP=proof, **headers)

    nginx = {"X_Original_URL": f"{url}?page=2", "X_Original_Method": "PUT"}
    traefik = {
        "X_Forwarded_Proto": "https",
        "X_Forwarded_Host": "shop.example",
        "X_Forwarded_Uri": "/orders/7?page=2",
        "X_Forwarded_Method": "PUT",
    }
    for headers in (nginx, traefik):
        answer = await ask(**headers)
        assert answer.status == 200
        assert answer.headers["Cache-Control"] == "private, max-age=0"
        assert (await ask("https://shop.example/orders/8", **headers)).status == 401
        assert (await ask(method="GET", **headers)).status == 401
        assert (await ask(f"{service.issuer}/connect/check/api1", **headers)).status == 401
        assert (await check(service, token, **headers)).refusal == (401, "invalid_token")
    for wrong in ("https://shop.example:99999/", "https://shop.example/a b"):
        told = {"X_Original_URL": wrong, "X_Original_Method": "PUT"}
        assert [(await ask(htu, **told)).status for htu in ("no URL", wrong)] == [401, 200]
    envoy = {"Host": "shop.example", "X_Forwarded_Proto": "https"}
    proof = key.proof("", "PUT", access_token=token, htu=url)
    path = "api1/anything/orders/7"
    sent = {"scheme": "DPoP", "method": "PUT", "DPoP": proof, **envoy}
    assert (await check(service, token, path, **sent)).status == 200
    assert (await check(service, token, path, **sent)).refusal[0] == 401  # used before


@pytest.mark.rfc("9449#4.3")
async def test_the_origin_of_a_proof_is_that_of_the_apis_url(
    config: dict[str, Any], start: Start
) -> None:
    config["api_resources"][0]["url"] = "https://API.example.com:443/v1"
    service = await start(config)
    key = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
    token = answer["access_token"]

    async def ask(htu: str, path: str = "api1", **headers: str) -> int:
        proof = key.proof("", "GET", access_token=token, htu=htu)
        return (await check(service, token, path, scheme="DPoP", DPoP=proof, **headers)).status

    theirs, ours = "https://evil.example/v1/orders", "https://api.example.com/v1/orders"
    forwarded = {"X_Forwarded_Host": "evil.example", "X_Forwarded_Proto": "http"}
    for told in (
        {"X_Original_URL": f"{theirs}?page=2"},
        {"X_Original_URL": "/v1/orders?next=https://evil.example/", "Host": "evil.example"},
        {"X_Forwarded_Uri": "/v1/orders?page=2", **forwarded},
    ):
        assert (await ask(theirs, **told), await ask(ours, **told)) == (401, 200)
    envoy = "api1/anything/v1/orders"
    assert (await ask(theirs, envoy, Host="evil.example"), await ask(ours, envoy)) == (401, 200)


@pytest.mark.parametrize(
    "name",
    [
        *("X-Original-URL", "X-Original-Method", "X-Forwarded-Uri", "X-Forwarded-Method"),
        *("X-Forwarded-Host", "X-Forwarded-Proto", "X-Check-Authorization"),
    ],
)
async def test_what_a_proxy_tells_twice_is_refused(
    service: RunningService, token: str, name: str
) -> None:
    value = basic("api1", "api1-secret") if name == "X-Check-Authorization" else "/orders"
    headers = [("Authorization", f"Bearer {token}"), (name, value)]
    once = await service.request("GET", "/connect/check/api1", headers=headers)
    twice = await service.request("GET", "/connect/check/api1", headers=[*headers, (name, value)])
    assert (once.status, twice.status) == (200, 401)


@pytest.mark.parametrize(
    "query",
    [
        *("scope=a&scope=b", "max_age=soon", "max_age=-1", "acr=a&acr=a", "scopes=api1.read"),
        *(
            "Scope=a",
            "scope=%00",
            "scope=a%0D%0Ab",
            "acr=%7F",
            "acr=%22",
            "scope=a%C3%A9",
            "acr=%1b",
        ),
    ],
)
async def test_a_check_that_is_set_up_wrongly_fails_closed(
    service: RunningService, token: str, query: str
) -> None:
    answer = await check(service, token, f"api1?{query}")
    assert answer.refusal == (503, "temporarily_unavailable")


@pytest.mark.parametrize("path", ["api9", "", "api1/unknown", "api1/unknown/orders", "API1", "%00"])
async def test_an_unknown_api_or_check_is_not_found(
    service: RunningService, token: str, path: str
) -> None:
    answer = await check(service, token, path)
    assert (answer.status, answer.body) == (404, b"")


async def test_a_named_check_ignores_the_query_of_the_caller(
    service: RunningService, token: str
) -> None:
    assert (await check(service, token, "api1/anything?scope=a&scope=b&max_age=x")).status == 200
    assert (await check(service, token, "api1/read?scope=api1")).status == 403


async def test_a_query_that_cannot_be_read_is_logged(
    service: RunningService, token: str, capfd: pytest.CaptureFixture[str]
) -> None:
    await check(service, token, "api1?scope=a&scope=b")
    assert "the query of a check cannot be understood" in "".join(capfd.readouterr())


@pytest.mark.parametrize("path", ["api1", "api1?scope=api1.read", "api9", "api1?scope=a&scope=a"])
@pytest.mark.parametrize("shown", [True, False], ids=["with a token", "without"])
async def test_every_answer_depends_on_the_token(
    service: RunningService, token: str, path: str, shown: bool
) -> None:
    answer = await check(service, token if shown else None, path)
    assert answer.headers["Vary"] == "Authorization"
    assert answer.status in {200, 401, 403, 404, 503}


@pytest.mark.usefixtures("one_store")
@pytest.mark.parametrize("method", ["PROPFIND", "HEAD"])
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("HTTP/1.1|Expect: nonsense", 401),
        ("HTTP/1.1|Expect: 200-ok, \xe9", 401),
        ("HTTP/1.1|Transfer-Encoding: gzip, chunked", 401),
        ("HTTP/1.0|Transfer-Encoding: chunked", 401),
        ("HTTP/1.1" + f"|X: {'x' * 40_000}" * 2, 401),
        ("HTTP/1.1|Expect: 100-continue|Content-Length: 0", 200),
        ("HTTP/1.1|Upgrade: websocket", 200),
        ("HTTP/1.1|Content-Encoding: nonsense|Content-Type: nonsense", 200),
    ],
    ids=lambda value: repr(value)[:48],
)
async def test_however_a_request_is_sent_the_answer_is_one_that_proxies_know(
    service: RunningService, token: str, method: str, sent: str, status: int
) -> None:
    version, *headers = sent.split("|")
    line, always = f"{method} /connect/check/api1 {version}", ["Host: x", "Connection: close"]
    head = [line, *always, f"Authorization: Bearer {token}", *filter(None, headers), "", ""]
    body = "0\r\n\r\n" if "chunked" in sent else ""
    answer = await exchange(urlsplit(service.issuer).port, ("\r\n".join(head) + body).encode())
    assert answer.split()[1] == b"%d" % status


@pytest.mark.usefixtures("one_store")
async def test_what_cannot_be_read_is_refused_before_the_check(service: RunningService) -> None:
    port = urlsplit(service.issuer).port
    for sent in (
        b"BREW /connect/check/api1 HTTP/1.1",
        b"GET /connect/check/api1 HTTP/1.1\r\nbroken",
    ):
        assert (await exchange(port, sent + b"\r\nHost: x\r\n\r\n")).split()[1] == b"400"


@pytest.mark.usefixtures("one_store")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_named_check_takes_a_path_of_any_length(
    service: RunningService, token: str, method: str
) -> None:
    path = "api1/anything/" + "orders/" * 1000
    for headers in ({}, {"Expect": "100-continue"}):  # in the fast lane, and not
        assert (await check(service, token, path, method=method, **headers)).status == 200


@pytest.mark.parametrize("sent", ["Bearer", "Bearer  ", "Bearer a b", "Basic eDp5", "x" * 5000])
async def test_credentials_of_any_form_are_refused_with_401(
    service: RunningService, sent: str
) -> None:
    answer = await service.get("/connect/check/api1", headers={"Authorization": sent})
    assert answer.status == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


async def test_values_of_headers_are_percent_encoded(start: Start, config: dict[str, Any]) -> None:
    config["api_resources"][0]["scopes"].append("100%")
    names = {"client_id": "the shop %", "allowed_scopes": ["api1", "100%"]}
    config["clients"].append(client_in(config, "machine") | names)
    config["users"]["list"].append(
        config["users"]["list"][0] | {"sub": "Zoe K. 1%", "username": "zoe"}
    )
    service = await start(config)
    form = {"grant_type": "client_credentials", "scope": "api1 100%"}
    answer = await service.token(("the shop %", "machine-secret"), **form)
    told = (await check(service, answer["access_token"])).headers
    assert (told["X-Token-Client"], told["X-Token-Scope"]) == ("the%20shop%20%25", "100%25 api1")
    form = {"username": "zoe", "password": "alice-password", "scope": "api1"}
    answer = await service.token("frontend", grant_type="password", **form)
    told = (await check(service, answer["access_token"])).headers
    assert told["X-Token-Subject"] == "Zoe%20K.%201%25"


@pytest.mark.rfc("8705#3")
async def test_a_token_that_is_bound_to_a_certificate_needs_it(
    start: Start, config: dict[str, Any]
) -> None:
    own = self_signed("CN=app")
    config["server"]["client_certificate_header"] = "Client-Cert"
    client_in(config, "machine")["tls_client_certificate_bound_access_tokens"] = True
    service = await start(config)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    token = (await service.token("machine", headers=own.headers(), **form))["access_token"]
    answer = await check(service, token, **own.headers())
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "private, max-age=0")
    for shown in ({}, self_signed("CN=app").headers()):
        assert (await check(service, token, **shown)).refusal == (401, "invalid_token")


async def test_head_is_answered_without_a_body(service: RunningService, token: str) -> None:
    assert (await check(service, token, method="HEAD")).status == 200
    assert (await check(service, None, method="HEAD")).status == 401


class TestStrangers:
    """A peer that is not a trusted proxy, or has no permission, learns nothing, whatever the token."""

    @pytest.fixture(params=["trusted_proxies", "gateways"])
    def config(self, config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
        config["server"][request.param] = ["192.0.2.1"]
        return config

    async def test_they_get_an_empty_401(self, service: RunningService, token: str) -> None:
        for path in ("api1", "api9", "api1/unknown"):
            for shown in (token, "nonsense", None):
                answer = await check(service, shown, path)
                assert (answer.status, answer.body) == (401, b"")
                assert "WWW-Authenticate" not in answer.headers

    async def test_with_the_credentials_of_the_api_they_are_answered(
        self, service: RunningService, token: str
    ) -> None:
        async def ask(credentials: str) -> int:
            return (await check(service, token, X_Check_Authorization=credentials)).status

        assert await ask(basic("api1", "api1-secret")) == 200
        for wrong in (
            basic("api1", "wrong"),
            basic("api2", "api2-secret"),  # another API
            basic("frontend", "frontend-secret"),  # no API
            "Basic !",
            "Bearer " + token,
        ):
            assert await ask(wrong) == 401

    @pytest.mark.rfc("9449#7")
    async def test_with_them_the_original_request_is_believed(
        self, service: RunningService
    ) -> None:
        key = DpopKey(service.issuer)
        form = {"grant_type": "client_credentials", "scope": "api1"}
        answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
        token, url = answer["access_token"], "https://shop.example/orders/7"
        proof = key.proof("", "PUT", access_token=token, htu=url)
        sent = {"DPoP": proof, "X_Original_URL": url, "X_Original_Method": "PUT"}
        assert (await check(service, token, scheme="DPoP", **sent)).body == b""
        sent["X_Check_Authorization"] = basic("api1", "api1-secret")
        assert (await check(service, token, scheme="DPoP", **sent)).status == 200


async def test_answers_are_counted_by_api(service: RunningService, token: str) -> None:
    await check(service, token)
    await check(service, "nonsense")
    metrics = service.features.shared.metrics.render().decode()
    assert 'token_service_token_checks_total{api="api1",result="passed"} 1.0' in metrics
    assert 'token_service_token_checks_total{api="api1",result="invalid_token"} 1.0' in metrics
    endpoints = [line for line in metrics.splitlines() if "/connect/check/" in line]
    assert endpoints
    assert all('endpoint="/connect/check/"' in line for line in endpoints)


@pytest.mark.usefixtures("one_store")
async def test_nothing_passes_while_the_store_is_unavailable(
    start: Start, config: dict[str, Any]
) -> None:
    service = await start(config | {"store": {"url": "redis://127.0.0.1:1", "timeout": "1s"}})
    token = new_handle("access_token", new_selector()).text
    assert (await check(service, token)).refusal == (503, "temporarily_unavailable")
