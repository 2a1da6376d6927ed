"""The recipes of docs/mutual-tls.md, in real proxies with real certificates (RFC 8705 §6.5, RFC 9440 §2.4)."""

from __future__ import annotations

import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession, TCPConnector

from tests.conftest import Start
from tests.driving.authority import DAY, Certified, root, self_signed
from tests.driving.certificate import certified
from tests.driving.ports import lasting_ports
from tests.driving.program import SECONDS, eventually
from tests.driving.service import RunningService, claims_in
from tests.mutual_tls.conftest import certified_client

pytestmark = [
    pytest.mark.rfc("8705#6.5", "9440#2.4"),
    pytest.mark.needs("nginx", "haproxy"),
    pytest.mark.usefixtures("one_store"),
]

DOCUMENT = Path(__file__).parents[2] / "docs/mutual-tls.md"
HEADERS = {"nginx": "X-SSL-Cert", "haproxy": "Client-Cert"}
NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxied;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{recipe}
}}
"""
HAPROXY = """\
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
{recipe}
"""


def recipe(program: str) -> str:
    """The block of the document in the proxy's language."""
    (found,) = re.findall(f"```{program}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    return str(found)


@dataclass(frozen=True)
class Proxied:
    """The service behind a proxy."""

    url: str
    server: Path
    folder: Path

    async def ask(
        self,
        client_id: str,
        shown: Certified | None,
        headers: dict[str, str] | None = None,
        path: str = "/connect/token",
    ) -> tuple[int, dict[str, Any]]:
        """Ask for a token on a connection of its own, with this certificate; 0 if TLS refuses it."""
        context = ssl.create_default_context(cafile=str(self.server))
        if shown is not None:
            context.load_cert_chain(shown.write(self.folder / "client.pem"))
        form = {"grant_type": "client_credentials", "scope": "api1", "client_id": client_id}
        async with ClientSession(connector=TCPConnector(ssl=context)) as http:
            try:
                async with http.post(self.url + path, data=form, headers=headers) as response:
                    is_json = response.content_type == "application/json"
                    return response.status, await response.json() if is_json else {}
            except ClientError:
                return 0, {}


@contextmanager
def proxy_running(program: str, folder: Path, upstream: str, authority: str) -> Iterator[Proxied]:
    """The proxy with its recipe, at another port, with other files and before another server."""
    (port,) = lasting_ports(1)
    server = certified(folder)
    text = recipe(program)
    for name, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("bind :443", f"bind 127.0.0.1:{port}"),
        ("127.0.0.1:8080", upstream),
        ("/etc/nginx/server.pem", str(server)),
        ("/etc/haproxy/server.pem", str(server)),
        ("/etc/haproxy/client-ca.pem", authority),
    ):
        text = text.replace(name, here)
    assert "/etc/" not in text
    file = folder / f"{program}.conf"
    file.write_text(
        {"nginx": NGINX, "haproxy": HAPROXY}[program].format(folder=folder, recipe=text)
    )
    command = {
        "nginx": ["nginx", "-p", str(folder), "-e", str(folder / "nginx.log"), "-c", str(file)],
        "haproxy": ["haproxy", "-db", "-q", "-f", str(file)],
    }[program]
    process = subprocess.Popen(command)
    try:
        eventually(lambda: process.poll() is not None or _listens(port, server))
        assert process.poll() is None
        yield Proxied(f"https://localhost:{port}", server, folder)
    finally:
        process.kill()
        process.wait(SECONDS)


def _listens(port: int, server: Path) -> bool:
    try:
        ssl.get_server_certificate(("localhost", port), ca_certs=str(server), timeout=SECONDS)
    except OSError:
        return False
    return True


@pytest.fixture
def own() -> Certified:
    """The certificate of the client `till`."""
    return self_signed("CN=till")


@pytest.fixture(params=HEADERS)
def program(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def config(config: dict[str, Any], program: str, own: Certified) -> dict[str, Any]:
    config["server"]["client_certificate_header"] = HEADERS[program]
    keys = {"self_signed_certificates": [own.pem]}
    method = "self_signed_tls_client_auth"
    certified_client(config, "till", token_endpoint_auth_method=method, **keys)
    for client in config["clients"]:
        client["tls_client_certificate_bound_access_tokens"] = client["client_id"] in {
            "shop",
            "till",
        }
    return config


@pytest.fixture
async def service(start: Start, config: dict[str, Any]) -> RunningService:
    return await start(config)


@pytest.fixture
async def proxied(
    service: RunningService, program: str, tmp_path: Path, authority_file: str
) -> AsyncIterator[Proxied]:
    upstream = service.issuer.removeprefix("http://").replace("localhost", "127.0.0.1")
    with proxy_running(program, tmp_path, upstream, authority_file) as running:
        yield running


async def test_a_certificate_gets_through(
    proxied: Proxied, shop: Certified, own: Certified
) -> None:
    for client_id, shown in (("shop", shop), ("till", own)):
        status, answer = await proxied.ask(client_id, shown)
        assert status == 200
        assert claims_in(answer["access_token"])["cnf"] == {"x5t#S256": shown.thumbprint}


async def test_without_a_certificate_the_client_is_refused(proxied: Proxied) -> None:
    status, answer = await proxied.ask("shop", None)
    assert (status, answer["error"]) == (401, "invalid_client")


@pytest.mark.parametrize("name", ["Client-Cert", "X-SSL-Cert", "client_cert", "X_SSL_CERT"])
async def test_a_made_up_header_does_not_get_through(
    proxied: Proxied, shop: Certified, name: str
) -> None:
    value = shop.headers()["Client-Cert"] if "lient" in name else shop.escaped()["X-SSL-Cert"]
    for shown in (None, self_signed("CN=shop,O=Example")):
        status, answer = await proxied.ask("shop", shown, {name: value})
        assert (status, answer["error"]) == (401, "invalid_client")


async def test_a_made_up_header_does_not_spoil_a_certificate(
    proxied: Proxied, shop: Certified
) -> None:
    made_up = dict.fromkeys(("Client-Cert", "X-SSL-Cert", "Client-Cert-Chain"), "malformed")
    assert (await proxied.ask("shop", shop, made_up))[0] == 200
    assert (await proxied.ask("shop", None, made_up))[0] == 401


REFUSED: dict[str, Callable[[Certified], Certified]] = {
    "expired": lambda ca: ca.issue(since=-3 * DAY, until=-DAY),
    "of another authority": lambda _: root("CN=root").issue(),
    "self-signed": lambda _: self_signed("CN=shop,O=Example"),
    "of another client": lambda ca: ca.issue("CN=mallory,O=Example"),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
async def test_a_wrong_certificate_is_refused(
    proxied: Proxied, authority: Certified, make: Callable[[Certified], Certified]
) -> None:
    status, answer = await proxied.ask("shop", make(authority))
    # nginx refuses what has expired itself, by a page of its own
    assert (status, answer.get("error", "a page")) in {(401, "invalid_client"), (400, "a page")}


async def test_a_new_certificate_gets_through_at_once(
    proxied: Proxied, authority: Certified, own: Certified
) -> None:
    assert (await proxied.ask("shop", authority.issue()))[0] == 200
    assert (await proxied.ask("till", self_signed("CN=renewed", key=own.key)))[0] == 200
