"""The files of examples/gateways in the real programs: what passes, what is refused, and what callers cannot forge."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from service.model.handle import new_handle, new_selector
from tests.check.gateways import TRAEFIK, ask, proxying
from tests.conftest import Start
from tests.driving.dpop import DpopKey
from tests.driving.listening import listening
from tests.driving.ports import lasting_ports
from tests.driving.proxy_programs import COMMANDS
from tests.driving.service import RunningService, claims_in

pytestmark = [
    pytest.mark.rfc("6750#3", "9449#7"),
    pytest.mark.needs("nginx", "haproxy", "caddy", "import envoy"),
    pytest.mark.usefixtures("one_store"),
]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["server"] = {"trusted_proxies": ["127.0.0.1"]}
    config["api_resources"][0]["checks"] = {"call": {"scope": ["api1"]}}  # which Envoy names
    return config


@pytest.fixture(params=[*COMMANDS, TRAEFIK])
async def gateway(
    request: pytest.FixtureRequest,
    service: RunningService,
    config: dict[str, Any],
    tmp_path: Path,
) -> AsyncIterator[str]:
    """The URL of a real proxy with its file, before the service and an API."""
    async with proxying(request.param, tmp_path, service.issuer, config) as url:
        yield url


async def test_the_gateway_lets_pass_what_the_token_allows(
    service: RunningService, gateway: str
) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    orders = f"{gateway}/orders/7?page=2"
    told = {"X-Token-Subject": "818727", "X-Token-Client": "frontend", "X-Token-Scope": "api1"}
    for method in ("GET", "POST"):
        assert await ask(orders, method, Authorization=f"Bearer {token}") == (200, told, "")
    status, _, challenge = await ask(orders)
    assert (status, challenge.startswith("Bearer realm=")) == (401, True)
    status, _, challenge = await ask(orders, Authorization="Bearer nonsense")
    assert (status, 'error="invalid_token"' in challenge) == (401, True)
    read_only = (await service.user_token(scope="api1.read"))["access_token"]
    status, _, challenge = await ask(orders, Authorization=f"Bearer {read_only}")
    assert (status, 'scope="api1"' in challenge) == (403, True)
    for name in ("X-Check-Authorization", "X-Original-URL", "X-Forwarded-Uri"):
        status, *_ = await ask(orders, **{name: "https://elsewhere.example/"})
        assert status == 401
    await service.post("/connect/revocation", auth="frontend", token=token)
    assert (await ask(orders, Authorization=f"Bearer {token}"))[0] == 401


async def test_the_gateway_lets_pass_a_proof_for_the_callers_own_url(
    service: RunningService, gateway: str
) -> None:
    key = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
    token = answer["access_token"]

    async def send(url: str, *, forged: str | None = None, htu: str | None = None) -> int:
        proof = key.proof("", "PUT", access_token=token, htu=htu or url)
        claimed = {"X-Original-URL": forged, "X-Forwarded-Uri": "/other"} if forged else {}
        sent = {"Authorization": f"DPoP {token}", "DPoP": proof, **claimed}
        return (await ask(url, "PUT", **sent))[0]

    orders, other = f"{gateway}/orders/7", f"{gateway}/other"
    assert await send(orders) == 200
    assert await send(orders, htu=other) == 401
    assert await send(orders, htu=other, forged=other) == 401


async def test_the_gateway_takes_no_proof_for_a_host_that_the_caller_names(
    service: RunningService, gateway: str
) -> None:
    key = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
    token, orders = answer["access_token"], f"{gateway}/orders/7"
    for scheme in ("http", "https"):
        proof = key.proof("", "GET", access_token=token, htu=f"{scheme}://evil.example/orders/7")
        sent = {"Authorization": f"DPoP {token}", "DPoP": proof, "Host": "evil.example"}
        async with ClientSession() as http, http.get(orders, headers=sent) as told:
            assert "X-Token" not in await told.text()


@pytest.mark.parametrize("away", ["service", "store"])
@pytest.mark.parametrize("name", [*COMMANDS, TRAEFIK])
async def test_nothing_passes_while_the_service_or_its_store_is_unavailable(
    start: Start, config: dict[str, Any], tmp_path: Path, name: str, away: str
) -> None:
    config["store"] = {"url": "redis://127.0.0.1:1", "timeout": "1s"}
    url = f"http://127.0.0.1:{lasting_ports(1)[0]}"
    if away == "store":
        url = (await start(config)).issuer
    async with proxying(name, tmp_path, url, config) as gateway:
        token = new_handle("access_token", new_selector()).text
        status, _, _ = await ask(f"{gateway}/orders", Authorization=f"Bearer {token}")
        assert status in {500, 502, 503}


@pytest.mark.parametrize("name", [*COMMANDS, TRAEFIK])
async def test_an_answer_that_is_not_one_of_a_check_is_a_refusal(
    config: dict[str, Any], tmp_path: Path, name: str
) -> None:
    answers, given = [400, 431, 413, 302], list[int]()
    status = 503  # whoever waits for the gateway's start may be checked, too

    async def answer(_: web.Request) -> web.Response:
        given.append(status)
        return web.Response(status=status)

    async with (
        listening(answer) as url,
        proxying(name, tmp_path, url, config) as gateway,
        ClientSession() as http,
    ):
        for status in answers:
            refused = await http.get(f"{gateway}/orders", allow_redirects=False)
            assert refused.status == {"nginx.conf": 500, "haproxy.cfg": 503}.get(name, status)
        assert [each for each in given if each != 503] == answers


class TestTokens:
    """Return the token that the API gets in place of the caller's, and never one that the caller sent under that name."""

    @pytest.fixture(params=["jwt", "txn_token"])
    def config(self, config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
        config["api_resources"][0]["check"] = {"token": request.param}
        config["trust_domains"] = [{"name": "shop.example", "scopes": ["api1"]}]
        return config

    async def test_the_api_gets_its_own_token(
        self, service: RunningService, gateway: str, config: dict[str, Any]
    ) -> None:
        token = (await service.user_token(scope="api1"))["access_token"]
        status, seen, _ = await ask(f"{gateway}/orders", Authorization=f"Bearer {token}")
        assert status == 200
        is_jwt = config["api_resources"][0]["check"]["token"] == "jwt"
        name, absent = ("Authorization", "Txn-Token")[:: 1 if is_jwt else -1]
        own = claims_in(seen[name].removeprefix("Bearer "))
        assert (own["sub"], own["aud"]) == ("818727", "api1" if is_jwt else "shop.example")
        assert token not in seen[name]
        assert absent not in seen


class TestNonces:
    """Proofs need a nonce of the service, which the caller learns through the gateway (RFC 9449 §9)."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        return config | {"dpop": {"nonce": "always"}}

    async def test_the_gateway_passes_on_the_nonce_that_a_proof_needs(
        self, service: RunningService, gateway: str
    ) -> None:
        key, url = DpopKey(service.issuer), f"{gateway}/orders/7"
        form = {"grant_type": "client_credentials", "scope": "api1", "auth": "machine"}
        refused = await service.post("/connect/token", headers=key.header(), **form)
        proved = key.header(nonce=refused.headers["DPoP-Nonce"])
        token = (await service.post("/connect/token", headers=proved, **form))["access_token"]

        async def send(nonce: str | None) -> tuple[int, str, str]:
            proof = key.proof("", "GET", access_token=token, htu=url, nonce=nonce)
            headers = {"Authorization": f"DPoP {token}", "DPoP": proof}
            async with ClientSession() as http, http.get(url, headers=headers) as told:
                challenge = told.headers.get("WWW-Authenticate", "")
                return told.status, challenge, told.headers.get("DPoP-Nonce", "")

        status, challenge, nonce = await send(None)
        assert (status, 'error="use_dpop_nonce"' in challenge) == (401, True)
        assert (await send(nonce))[0] == 200
