"""The files of examples/gateways in the real programs, before a service and an API."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http.client import NOT_FOUND
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web

from tests.check.traefik import serving_by
from tests.driving import proxy_programs
from tests.driving.listening import listening
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import SECONDS

FILES = REPOSITORY / "examples/gateways"
TRAEFIK = "traefik.yaml"
"""A stand-in does what it says; see tests/check/traefik.py. `make traefik` builds the program, which takes its place."""
FORGED = {
    "X-Token-Subject": "root",
    "X-Token-Client": "root",
    "X-Token-Scope": "everything",
    "Txn-Token": "forged",
}
SPELT_OTHERWISE = {
    "X_Token_Subject": "root",
    "X-Token_Client": "root",
    "x_token-scope": "everything",
    "Txn_Token": "forged",
}
"""Names that WSGI and CGI take for those with dashes."""
TLS = {
    "nginx.conf": (
        "listen 127.0.0.1:3001;",
        "listen 127.0.0.1:3001 ssl; ssl_certificate SERVER; ssl_certificate_key SERVER; ssl_verify_client optional_no_ca;",
    ),
    "haproxy.cfg": (
        "bind 127.0.0.1:3001",
        "bind 127.0.0.1:3001 ssl crt SERVER ca-file SERVER verify optional ca-ignore-err all crt-ignore-err all",
    ),
    "Caddyfile": (
        "http://127.0.0.1:3001 {",
        "https://localhost:3001 {\n\ttls SERVER SERVER {\n\t\tclient_auth {\n\t\t\tmode request\n\t\t}\n\t}",
    ),
    "envoy.yaml": (
        "- filters:",
        """- transport_socket:
            name: envoy.transport_sockets.tls
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
              common_tls_context:
                tls_certificates: [{certificate_chain: {filename: SERVER}, private_key: {filename: SERVER}}]
                validation_context: {trust_chain_verification: ACCEPT_UNTRUSTED}
          filters:""",
    ),
}
"""What makes a file's listener ask callers for their certificates; see docs/gateways.md."""


async def show_headers(request: web.Request) -> web.Response:
    """The API: it tells what reached it."""
    shown = [*FORGED, *SPELT_OTHERWISE, "Authorization", "X-Check-Authorization"]
    return web.json_response(
        {name: request.headers[name] for name in shown if name in request.headers}
    )


@asynccontextmanager
async def proxying(
    name: str, folder: Path, service: str, config: dict[str, Any], *, server: Path | None = None
) -> AsyncIterator[str]:
    """A real proxy with its file of the examples, at other ports, before a service at this URL and an API.

    With the certificate of a server it asks callers for theirs.
    """
    port, (own,) = service.rpartition(":")[2], lasting_ports(1)
    async with listening(show_headers) as api:
        ports = {"8080": port, "3002": api.rpartition(":")[2], "3001": own}.items()
        plain, tls = TLS[name] if server else ("", "")
        here = {
            plain: tls.replace("SERVER", str(server)),
            **{f"127.0.0.1:{there}": f"127.0.0.1:{now}" for there, now in ports},
            "localhost:3001": f"localhost:{own}",
            **{f"port_value: {there}": f"port_value: {now}" for there, now in ports},
            "daemon off;": "daemon off; master_process off;",  # a worker would outlive a kill
            "access_log off;": f"access_log off; {proxy_programs.TEMPORARY}",
        }
        if config["api_resources"][0].get("check") == {"token": "jwt"}:
            here["request_headers_to_remove: [authorization]"] = ""  # as Envoy's file says
        for file in FILES.iterdir():
            text = file.read_text()
            for there, now in here.items():
                text = text.replace(there, now) if there else text
            (folder / file.name).write_text(text)
        url = f"https://localhost:{own}" if server else f"http://127.0.0.1:{own}"
        if name == TRAEFIK and not proxy_programs.TRAEFIK.exists():
            async with serving_by((folder / name).read_text(), port=own):
                yield url
            return
        with running(*program(name, folder, own)) as process:
            await until_listening(own, process)
            if name == TRAEFIK:
                await until_routed(url)
            yield url


def program(name: str, folder: Path, port: int) -> tuple[list[str], Path]:
    """The command, and the folder that it runs in: in the file's own folder Traefik would take this for its static configuration, too."""
    if name != TRAEFIK:
        return proxy_programs.COMMANDS[name], folder
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    options = [f"--providers.file.filename={folder / name}"]
    return [
        str(proxy_programs.TRAEFIK),
        *options,
        f"--entrypoints.api.address=127.0.0.1:{port}",
    ], elsewhere


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
            with suppress(ConnectionError):
                await writer.wait_closed()
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
        http.request(method, url, headers={**FORGED, **SPELT_OTHERWISE, **headers}) as answer,
    ):
        seen = await answer.json() if answer.status == 200 else {}
        return answer.status, seen, answer.headers.get("WWW-Authenticate", "")
