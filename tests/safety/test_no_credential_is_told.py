"""Whole flows, at the loudest log level: no credential is in the output, the metrics, the traces or Redis (RFC 9700 §4.3, RFC 6819 §5.1.4.1)."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from redis import Redis

from tests.clients.signing import SECRET, Signer
from tests.conftest import ENCRYPTION_KEY
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.collector import Collector, collector_running
from tests.driving.registering import bearer, register
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.safety.wire import Wire

pytestmark = [pytest.mark.rfc("9700#4.3", "6819#5.1.4.1"), pytest.mark.needs("redis-server")]


@dataclass
class Observed:
    """A service in a process of its own, and all that can be seen of it."""

    app: ClientApp
    wire: Wire
    output: Path
    store: Redis
    collector: Collector

    async def metrics(self) -> str:
        """The counters."""
        return (await self.app.service.get("/metrics")).body.decode()

    async def traces(self) -> str:
        """The exported spans, up to now."""
        await self.app.service.get("/connect/checksession")
        self.collector.wait_for("GET /connect/checksession")
        return self.collector.text

    def dump(self) -> str:
        """Every key of the store with its value."""
        found = []
        for key in self.store.scan_iter():
            kind = self.store.type(key)
            value: Any = self.store.get(key) if kind == b"string" else self.store.zrange(key, 0, -1)
            found.append(f"{key.decode()} {value}")
        return "\n".join(found)


INITIAL = "an-initial-access-token"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Clients register themselves by a token; one of the file's own signs assertions."""
    client_in(config, "machine")["client_secrets"].append({"value": SECRET})
    config["registration"] = {
        "enabled": True,
        "allowed_scopes": ["openid", "api1"],
        "initial_access_token_sha256": [sha256(INITIAL.encode()).hexdigest()],
    }
    return config


@pytest.fixture
def collector() -> Iterator[Collector]:
    """The place of spans."""
    with collector_running() as collector:
        yield collector


@pytest.fixture
def program(
    config: dict[str, Any], mortal_redis: tuple[str, Any], tmp_path: Path, collector: Collector
) -> Iterator[Path]:
    """The service as an operator runs it, at log level debug; the file that holds its output."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config["issuer"] = f"http://localhost:{port}"
    config["server"] = {"shutdown_grace": "1s"}
    config["store"] = {"url": mortal_redis[0]}
    config["signing"]["encryption_key"] = ENCRYPTION_KEY
    file, output = tmp_path / "config.yaml", tmp_path / "output"
    file.write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "service", "serve", "--config", str(file), "--port", str(port)]
    environ = os.environ | {"SERVICE_LOG_LEVEL": "debug", "TMPDIR": str(tmp_path)}
    environ |= collector.environ
    with output.open("wb") as writing:
        process = subprocess.Popen(command, stdout=writing, stderr=writing, env=environ)
    while "listening on" not in output.read_text():
        assert process.poll() is None, output.read_text()
        time.sleep(0.05)
    yield output
    process.terminate()
    process.wait(30)


@pytest.fixture
async def observed(
    config: dict[str, Any], program: Path, mortal_redis: tuple[str, Any], collector: Collector
) -> AsyncIterator[Observed]:
    """The running service, listened to from all sides."""
    wire = Wire()
    browser = Browser(config["issuer"])
    await browser.close()
    async with wire.session() as http, wire.session() as browser.session:
        service = RunningService(issuer=config["issuer"], http=http, features=cast("Any", None))
        with Redis.from_url(mortal_redis[0]) as store:
            yield Observed(ClientApp(service, browser), wire, program, store, collector)


async def sign_in(app: ClientApp) -> dict[str, Any]:
    """Wrong password first, then the right one; a code, redeemed and refreshed."""
    page = await app.authorize(scope="openid email api1 offline_access")
    page = await app.browser.log_in(page, password="not-alices-password")
    page = await app.browser.log_in(page)
    tokens = await app.redeem(page.parameters["code"])
    return (await app.refresh(tokens["refresh_token"])).json


async def use(app: ClientApp, tokens: dict[str, Any]) -> None:
    """Everything that a token is good for."""
    service, access = app.service, tokens["access_token"]
    reference = (await service.user_token("opaque", "openid api1 offline_access")).json
    for token in (access, reference["access_token"], "not-a-token"):
        await service.introspect(token)
        await service.get("/connect/userinfo", headers={"Authorization": f"Bearer {token}"})
        await service.post("/connect/userinfo", access_token=token)
        await service.token("api1", grant_type="delegation", token=token, scope="api2")
    await app.authorize(prompt="login", id_token_hint=tokens["id_token"], login_hint="alice")
    assertion = await (machine := Signer(service, "machine", "HS256")).assertion()
    for proof in (assertion, assertion, await machine.assertion(number=1)):
        await machine.ask(proof, token=access)


async def register_clients(app: ClientApp) -> None:
    """One with a hashed secret, one whose secret has to be known; read, changed and misused."""
    for algorithm in ({}, {"id_token_signed_response_alg": "HS256"}):
        told = await register(app.service, token=INITIAL, **algorithm)
        place = str(told["registration_client_uri"]).removeprefix(app.service.issuer)
        own = bearer(told["registration_access_token"])
        await app.service.get(place, headers=own)
        changed = {name: told[name] for name in ("client_id", "client_secret", "redirect_uris")}
        await app.service.request("PUT", place, json=changed, headers=own)
        await app.service.get(f"{place}/{told['registration_access_token']}", headers=own)
        await app.service.get(place, headers=bearer(told["client_secret"]))
        await register(app.service, token=told["client_secret"])


async def misuse(app: ClientApp, tokens: dict[str, Any]) -> None:
    """Credentials where they do not belong, and wrong ones."""
    service, access = app.service, tokens["access_token"]
    await service.get(f"/connect/userinfo?access_token={access}")
    await service.get(f"/no/such/page/{access}")
    await service.post("/connect/token?client_id=web&client_secret=web-secret", raw="")
    await service.token(("web", "not-the-secret"), grant_type="client_credentials")
    await service.post("/connect/token", client_id="web", client_secret="not-this-one")
    await service.token("web", grant_type="authorization_code", code=access, code_verifier="x" * 50)
    await service.token("frontend", grant_type="password", username="alice", password="x" * 300)
    await service.post("/connect/token", raw=f"password=twice-told&password={access}")
    await app.authorize(redirect_uri=f"https://evil.example/{access}")
    await app.authorize(request=access)


async def confuse(app: ClientApp, credential: str) -> None:
    """A credential in every place that is meant for something else."""
    service = app.service
    for name in ("grant_type", "scope", "client_id", "resource", "username", "code", "anything"):
        usual: dict[str, Any] = {
            "grant_type": "password",
            "username": "alice",
            "password": "alice-password",
        }
        await service.token("frontend", **usual | {name: credential})
        await service.post("/connect/token", **usual | {name: credential})
    await service.token((credential, "web-secret"), grant_type="password")
    await service.post("/connect/introspect", auth=(credential, credential), token=credential)
    for name in (*app.parameters(), "prompt", "ui_locales", "acr_values", "login_hint", "display"):
        await app.authorize(**{name: credential})
    for name in ("client_name", "grant_types", "scope", "token_endpoint_auth_method", "jwks_uri"):
        await register(service, token=INITIAL, **{name: credential})
        await register(service, token=INITIAL, **{name: [credential]})
    await app.browser.get(f"/account/login?request={credential}&csrf={credential}")
    await app.browser.get(f"/connect/endsession?client_id={credential}&state={credential}")


async def finish(app: ClientApp, tokens: dict[str, Any], first_refresh_token: str) -> None:
    """Reuse, revocation, logout."""
    await app.refresh(first_refresh_token)
    await app.service.post("/connect/revocation", auth="web", token=tokens["access_token"])
    page = await app.browser.get(f"/connect/endsession?id_token_hint={tokens['id_token']}x")
    await app.browser.submit(page)


async def test_no_credential_is_told(observed: Observed) -> None:
    tokens = await sign_in(observed.app)
    await use(observed.app, tokens)
    await register_clients(observed.app)
    await misuse(observed.app, tokens)
    dumped = observed.dump()
    await finish(observed.app, tokens, tokens["refresh_token"])
    dumped += observed.dump()
    # Last, for a code keeps its nonce, whatever stands in it.
    await confuse(observed.app, (await observed.app.tokens())["access_token"][-80:])
    metrics, traces = await observed.metrics(), await observed.traces()
    output = observed.output.read_text()
    credentials = observed.wire.credentials()
    assert len(credentials) > 30
    assert "token_issued" in output
    assert "token_service_tokens_issued" in metrics
    assert "sign ES256" in traces
    assert {one for one in credentials if one in output + metrics + traces} == set()
    assert {one for one in credentials if one in dumped} == set()


async def test_a_stolen_dump_holds_no_usable_token(observed: Observed) -> None:
    tokens = await sign_in(observed.app)
    dumped = observed.dump()
    assert tokens["access_token"] not in dumped
    assert re.findall(r"\b(?:ac|at|rt|ss|ra)_[\w-]{65}|eyJ[\w-]+\.eyJ", dumped) == []
    assert re.findall(r'"(?:d|p|q)":|PRIVATE KEY|argon2|secret', dumped) == []
