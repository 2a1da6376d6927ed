"""The applications of the realm, which run on while the server at their issuer is another one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
from aiohttp import web

from tests.driving.process import REPOSITORY
from tests.driving.program import eventually
from tests.keycloak.takeover.parties import Addresses, secret_of

HERE = Path(__file__).parent
PROXY = REPOSITORY / "build/bin/oauth2-proxy"
PATIENCE = 400
JAR = REPOSITORY / "build/takeover-spring/shop-1.jar"


def build() -> None:
    """Install what the pages need, and build the programs."""
    subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=HERE / "pages", check=True
    )
    module = str((HERE / "oauth2_proxy").relative_to(REPOSITORY))
    subprocess.run([REPOSITORY / "scripts/go-tools", module], check=True)
    command = ["mvn", "--batch-mode", "--quiet", "package"]
    subprocess.run(command, cwd=HERE / "spring", check=True)


@contextmanager
def programs_running(at: Addresses, log: Path) -> Iterator[None]:
    """The program in Spring and oauth2-proxy, once they have read the server's metadata."""
    with ExitStack() as running, log.open("wb") as said:
        for command, environ in (_spring(at), _proxy(at)):
            process = subprocess.Popen(
                command, stdout=said, stderr=said, env={**os.environ, **environ}
            )
            running.callback(process.wait, 60)
            running.callback(process.terminate)
        for origin in (at.spring, at.proxy):
            try:
                eventually(partial(_answers, origin), PATIENCE)
            except AssertionError as error:
                raise ChildProcessError(log.read_text()) from error
        yield


def _answers(origin: str) -> bool:
    try:
        return bool(httpx2.get(f"{origin}/api/caller", timeout=60))
    except httpx2.HTTPError:
        return False


def pages(at: Addresses) -> web.Application:
    """Two pages with libraries, and at any other path one for what is sent to a redirect URI."""
    app = web.Application()

    async def settings(_: web.Request) -> web.Response:
        return web.json_response({"server": at.server})

    async def page(request: web.Request) -> web.StreamResponse:
        file = HERE / f"pages/{request.path.strip('/').replace('/', '-')}.html"
        icon = '<link rel="icon" href="data:,">'
        return (
            web.FileResponse(file)
            if file.exists()
            else web.Response(text=icon, content_type="text/html")
        )

    app.router.add_get("/settings.json", settings)
    app.router.add_static("/lib", HERE / "pages/node_modules")
    app.router.add_get("/{path:.*}", page)
    return app


def _spring(at: Addresses) -> tuple[list[str], dict[str, str]]:
    environ = {"ISSUER": at.issuer, "SECRET": secret_of("spring")}
    return ["java", "-jar", str(JAR), f"--server.port={_port(at.spring)}"], environ


def _proxy(at: Addresses) -> tuple[list[str], dict[str, str]]:
    options = {
        "provider": "keycloak-oidc",
        "oidc-issuer-url": at.issuer,
        "client-id": "proxy",
        "client-secret": secret_of("proxy"),
        "cookie-secret": "0123456789abcdef",
        "cookie-secure": "false",
        "redirect-url": f"{at.proxy}/oauth2/callback",
        "code-challenge-method": "S256",
        "email-domain": "*",
        "allowed-role": "manager",
        "upstream": "static://200",
        "http-address": f"localhost:{_port(at.proxy)}",
        "skip-provider-button": "true",
    }
    return [str(PROXY), *(f"--{name}={value}" for name, value in options.items())], {}


def _port(origin: str) -> int:
    return urlsplit(origin).port or 0
