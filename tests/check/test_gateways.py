"""The files of examples/gateways in the real programs: what passes, what is refused, and what callers cannot forge."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.client import NOT_FOUND
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, web

from service.model.handle import new_handle, new_selector
from tests.check.traefik import serving_by
from tests.conftest import Start
from tests.driving.dpop import DpopKey
from tests.driving.listening import listening
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import SECONDS
from tests.driving.service import RunningService, claims_in

pytestmark = [
    pytest.mark.rfc("6750#3", "9449#7"),
    pytest.mark.needs("nginx", "haproxy", "caddy", "import envoy"),
    pytest.mark.usefixtures("one_store"),
]

FILES = Path(__file__).parents[2] / "examples/gateways"
COMMANDS = {
    "nginx.conf": ["nginx", "-p", ".", "-e", "stderr", "-c", "nginx.conf"],
    "haproxy.cfg": ["haproxy", "-db", "-q", "-f", "haproxy.cfg"],
    "Caddyfile": ["caddy", "run", "--adapter", "caddyfile", "--config", "Caddyfile"],
    "envoy.yaml": [
        *(sys.executable, "-m", "envoy._main", "-c", "envoy.yaml", "--disable-hot-restart"),
        *("--concurrency", "1", "--log-level", "error"),
    ],
}
TEMPORARY = " ".join(
    f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
)
"""Folders of nginx, which otherwise are those of its package."""
TRAEFIK = "traefik.yaml"
"""A stand-in does what it says; see tests/check/traefik.py. `make traefik-test` builds the program, which takes its place."""
PROGRAM = REPOSITORY / "build/bin/traefik"
FORGED = {
    "X-Token-Subject": "root",
    "X-Token-Client": "root",
    "X-Token-Scope": "everything",
    "Txn-Token": "forged",
}


async def show_headers(request: web.Request) -> web.Response:
    """The API: it tells what reached it."""
    shown = [*FORGED, "Authorization", "X-Check-Authorization"]
    return web.json_response(
        {name: request.headers[name] for name in shown if name in request.headers}
    )


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


@asynccontextmanager
async def proxying(
    name: str, folder: Path, service: str, config: dict[str, Any]
) -> AsyncIterator[str]:
    """A real proxy with its file of the examples, at other ports, before a service at this URL and an API."""
    port, (own,) = service.rpartition(":")[2], lasting_ports(1)
    async with listening(show_headers) as api:
        ports = {"8080": port, "3002": api.rpartition(":")[2], "3001": own}.items()
        here = {
            **{f"127.0.0.1:{there}": f"127.0.0.1:{now}" for there, now in ports},
            **{f"port_value: {there}": f"port_value: {now}" for there, now in ports},
            "access_log off;": f"access_log off; {TEMPORARY}",
        }
        if config["api_resources"][0].get("check") == {"token": "jwt"}:
            here["request_headers_to_remove: [authorization]"] = ""  # as Envoy's file says
        for file in FILES.iterdir():
            text = file.read_text()
            for there, now in here.items():
                text = text.replace(there, now)
            (folder / file.name).write_text(text)
        url = f"http://127.0.0.1:{own}"
        if name == TRAEFIK and not PROGRAM.exists():
            async with serving_by((folder / name).read_text(), port=own):
                yield url
            return
        with running(*program(name, folder, own)) as process:
            await until_listening(own, process)
            if name == TRAEFIK:
                await until_routed(url)
            yield url


def program(name: str, folder: Path, port: int) -> tuple[list[str], Path]:
    """The command, and the folder that it runs in: beside its file Traefik would take this for its static configuration, too."""
    if name != TRAEFIK:
        return COMMANDS[name], folder
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    options = [f"--providers.file.filename={folder / name}"]
    return [str(PROGRAM), *options, f"--entrypoints.api.address=127.0.0.1:{port}"], elsewhere


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    environ = os.environ | {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    process = subprocess.Popen(command, cwd=folder, env=environ)
    try:
        yield process
    finally:
        process.kill()
        process.wait(SECONDS)


async def until_listening(port: int, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            assert process.poll() is None
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.close()
            return


async def until_routed(url: str) -> None:
    """Wait until Traefik, which listens before it has read its file, knows where requests go."""
    async with asyncio.timeout(SECONDS):
        while True:
            status, *_ = await ask(url)
            if status != NOT_FOUND:
                return
            await asyncio.sleep(0.05)


async def ask(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
    """The status, what the API saw, and the challenge."""
    async with (
        ClientSession() as http,
        http.request(method, url, headers={**FORGED, **headers}) as answer,
    ):
        seen = await answer.json() if answer.status == 200 else {}
        return answer.status, seen, answer.headers.get("WWW-Authenticate", "")


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


@pytest.mark.parametrize("away", ["service", "store"])
@pytest.mark.parametrize("name", [*COMMANDS, TRAEFIK])
async def test_while_the_service_or_its_store_is_away_nothing_passes(
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


class TestTokens:
    """What the API gets in place of the caller's token, and never what the caller has sent under that name."""

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
