"""Agents that nobody has registered reach the MCP server of examples/mcp: FastMCP's client, and the MCP SDK's."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import uvicorn
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from tests.driving.ports import lasting_ports
from tests.interop.addresses import ERRANDS, WORKPLACE
from tests.interop.steps import Steps

EXAMPLE = Path(__file__).parents[3] / "examples/mcp"
CALLBACK = f"{ERRANDS}/callback"
ALICE = {"subject": "818727", "scopes": ["offline_access", "tools.read"]}
"""As docs/mcp.md shows it."""
PATIENCE = 60


class Storage:
    """Tokens and the client's registration, in memory."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client_info: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client_info

    async def set_client_info(self, client_info: Any) -> None:
        self.client_info = client_info


class Documents:
    """The agents' metadata documents, by https."""

    def __init__(self, port: int) -> None:
        self.origin = f"https://localhost:{port}"
        self.fetched: list[str] = []
        self._port = port

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Answer for as long as the block lasts."""
        app = Starlette(routes=[Route("/{name}", self._show)])
        file = str(Path(WORKPLACE, "loopback.pem"))
        config = uvicorn.Config(
            app, "localhost", self._port, log_level="warning", ssl_certfile=file
        )
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.05)
        yield
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await task

    async def _show(self, request: Request) -> JSONResponse:
        self.fetched.append(request.url.path)
        document = {
            "client_id": self.origin + request.url.path,
            "client_name": "Agent",
            "redirect_uris": ["http://127.0.0.1/callback", CALLBACK],
            "grant_types": ["authorization_code", "refresh_token"],
        }
        return JSONResponse(document)


@contextmanager
def example(documents: str) -> Iterator[Mapping[str, str]]:
    """The service and the MCP server of the example, as processes; the environment that tells where they are."""
    service, server = lasting_ports(2)
    scopes = "  allowed_scopes: [tools.read, offline_access]\n"
    allowed = f"{scopes}  allowed_hosts: ['{urlsplit(documents).netloc}']\n"
    trusted = f"outgoing:\n  ca_file: {WORKPLACE}/server.pem\n  allowed_networks: [127.0.0.0/8]\n"
    config = Path(WORKPLACE, "agents.yaml")
    text = (EXAMPLE / "config.yaml").read_text()
    config.write_text(text.replace(scopes, allowed, 1) + "\n" + trusted)
    environ = os.environ | {"SERVICE_PORT": str(service), "MCP_PORT": str(server)}
    serve = (os.environ["PYTHON"], "-m", "service", "serve", "--config", str(config))
    with (
        running(service, *serve, "--port", str(service), environ=environ),
        running(server, sys.executable, str(EXAMPLE / "server.py"), environ=environ),
    ):
        yield environ


@contextmanager
def running(port: int, *command: str, environ: Mapping[str, str]) -> Iterator[None]:
    """Run a process that listens on this port, for as long as the block lasts."""
    log = Path(WORKPLACE, f"{port}.log")
    with log.open("wb") as said:
        process = subprocess.Popen(command, env=environ, stdout=said, stderr=said)
    try:
        until = time.monotonic() + PATIENCE
        while not _is_listening(port):
            if process.poll() is not None or time.monotonic() > until:
                raise ChildProcessError(log.read_text())
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def _is_listening(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


def call_by_fastmcp(environ: Mapping[str, str], person: str, agent_url: str | None) -> Any:
    """Run the agent of the example, whose browser is the person's; what it prints at last."""
    browser = f"{sys.executable} {Path(__file__).with_name('browser.py')} %s &"
    own = {**environ, "BROWSER": browser, "PERSON": person}
    own |= {"AGENT_URL": agent_url} if agent_url else {}
    log = Path(WORKPLACE, f"{person}.log")
    with log.open("wb") as said:  # not a pipe, which the browser would keep open
        command = [sys.executable, str(EXAMPLE / "agent.py")]
        status = subprocess.run(
            command, env=own, stdout=said, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False
        ).returncode
    assert status == 0, log.read_text()
    return json.loads(next(line for line in log.read_text().splitlines() if line.startswith("{")))


async def call_by_sdk(server: str, agent_url: str | None) -> tuple[Any, Storage]:
    """Call the tool by the SDK, whose browser is the person's."""
    storage, arrived = Storage(), list[str]()

    async def send_person(url: str) -> None:
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            form = {"person": "agent", "url": url}
            arrived.append((await http.post(f"{ERRANDS}/visit", data=form)).json()["url"])

    async def read_answer() -> AuthorizationCodeResult:
        answer = {name: value[0] for name, value in parse_qs(urlsplit(arrived[-1]).query).items()}
        return AuthorizationCodeResult(
            code=answer["code"], state=answer.get("state"), iss=answer.get("iss")
        )

    auth = OAuthClientProvider(
        server_url=server,
        client_metadata=OAuthClientMetadata(
            client_name="SDK agent",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
            application_type="native",
        ),
        storage=storage,
        redirect_handler=send_person,
        callback_handler=read_answer,
        client_metadata_url=agent_url,
    )
    async with (
        httpx2.AsyncClient(auth=auth, timeout=PATIENCE) as http,
        Client(streamable_http_client(server, http_client=http)) as client,
    ):
        result = await client.call_tool("whoami", {})
    return json.loads(result.content[0].text), storage


async def run_agents(steps: Steps) -> None:
    """Everything, by both libraries, with a document and by registration."""
    (port,) = lasting_ports(1)
    documents = Documents(port)
    async with documents.served():
        starting = example(documents.origin)
        environ = await asyncio.to_thread(starting.__enter__)
        try:
            await _call_by_all(steps, documents, environ)
        finally:
            await asyncio.to_thread(starting.__exit__, None, None, None)


async def _call_by_all(steps: Steps, documents: Documents, environ: Mapping[str, str]) -> None:
    server = f"http://localhost:{environ['MCP_PORT']}/mcp"
    with steps.step("FastMCP registers itself and calls a tool"):
        assert await asyncio.to_thread(call_by_fastmcp, environ, "fastmcp", None) == ALICE
    with steps.step("FastMCP comes with the URL of its document and calls a tool"):
        url = f"{documents.origin}/fastmcp.json"
        assert await asyncio.to_thread(call_by_fastmcp, environ, "fastmcp-by-url", url) == ALICE
        assert "/fastmcp.json" in documents.fetched
    with steps.step("the SDK registers itself and calls a tool"):
        result, storage = await call_by_sdk(server, None)
        assert result == ALICE, result
        assert storage.client_info.client_id.startswith("dc_")
    with steps.step("the SDK comes with the URL of its document and calls a tool"):
        url = f"{documents.origin}/sdk.json"
        result, storage = await call_by_sdk(server, url)
        assert result == ALICE, result
        assert storage.client_info.client_id == url
        assert "/sdk.json" in documents.fetched
        assert storage.tokens.refresh_token is not None
