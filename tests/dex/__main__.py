"""A real dex as the provider of a service: home realm discovery, PKCE, its ID token, and an account that is linked (OIDC Core §3.1).

`make dex-test` builds dex's server from the Go module proxy, in a minute of two cores, and runs this. CI does not. The version is
the newest that the proxy has; it knows no back-channel logout.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from click import echo

from tests.driving.abroad import abroad
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import program_running
from tests.interop.steps import Steps

HERE = Path(__file__).parent
PROGRAM = REPOSITORY / "build/bin/dex-server"
PATIENCE = 60
"""Seconds until dex answers."""


def build() -> None:
    """Compile dex's server; go.sum has the hashes of what it is built from."""
    subprocess.run(["go", "build", "-C", str(HERE), "-o", str(PROGRAM), "."], check=True)


@contextmanager
def dex_running(port: int, redirect_uri: str) -> Iterator[str]:
    """The issuer of a dex with one client and one user, once its metadata can be read."""
    issuer = f"http://localhost:{port}"
    flags = ["-listen", f"127.0.0.1:{port}", "-issuer", issuer, "-redirect-uri", redirect_uri]
    process = subprocess.Popen([str(PROGRAM), *flags])
    try:
        until = time.monotonic() + PATIENCE
        while not _answers(f"{issuer}/.well-known/openid-configuration"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield issuer
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return bool(httpx2.get(url).status_code == httpx2.codes.OK)
    except httpx2.HTTPError:
        return False


async def run(steps: Steps, issuer: str, provider: str) -> None:
    """Everything that a person with an account at dex can do."""
    address = "alice@partner.example"
    async with abroad(issuer, provider) as person:
        with steps.step("a user of dex signs in by the address, to the account with the same one"):
            page = await person.sign_in(address, login=address, password="alice-password")
            claims = await person.claims(page.parameters["code"])
            assert (claims["sub"], claims["idp"], claims["email"]) == ("818727", "dex", address)
        with steps.step("the session serves the next request"):
            assert "code" in (await person.app.authorize(prompt="none")).parameters
        with steps.step("dex signs in again where the client wants that"):
            sent = await person.app.authorize(prompt="login", acr_values="idp:dex")
            assert sent.url.startswith(provider)
            form = await person.there.get(sent.url)
            back = await person.there.submit(form, login=address, password="alice-password")
            assert "code" in (await person.here.get(back.url)).parameters
            assert (await person.here.get(back.url)).status == 400  # the answer counts once
        with steps.step("who gives dex a wrong password stays there"):
            sent = await person.app.authorize(prompt="login", acr_values="idp:dex")
            form = await person.there.get(sent.url)
            stayed = await person.there.submit(form, login=address, password="wrong")
            assert stayed.url.startswith(provider)


def main() -> None:
    """Build dex, start both, and try everything."""
    steps = Steps()
    ports = lasting_ports(2)
    issuer = f"http://localhost:{ports[0]}"
    echo("building dex")
    build()
    with (
        TemporaryDirectory(prefix="dex-") as folder,
        dex_running(ports[1], f"{issuer}/connect/idp/dex/callback") as provider,
    ):
        config = Path(shutil.copy(HERE / "config.yaml", folder))
        environ = {"ISSUER": issuer, "PROVIDER": provider}
        with program_running(config, ("--port", str(ports[0])), environ) as service:
            service.url()
            asyncio.run(run(steps, issuer, provider))
    steps.finish()


main()
