"""A real dex as the provider of a service: home realm discovery, PKCE, its ID token, and an account that is linked (OIDC Core §3.1).

`make dex-test` builds dex's server from the Go module proxy, in a minute of two cores, and runs this. CI does not. The version is
the newest that the proxy has; it knows no back-channel logout.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from click import echo

from tests.dex.running import answering
from tests.driving.abroad import Abroad, abroad
from tests.driving.browser import Page
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import program_running
from tests.interop.steps import Steps

HERE = Path(__file__).parent
PROGRAM = REPOSITORY / "build/bin/dex-server"
ADDRESS = "alice@partner.example"
ADD = "/account/security/add"


def build() -> None:
    """Compile dex's server; go.sum has the hashes of what it is built from."""
    subprocess.run(["go", "build", "-C", str(HERE), "-o", str(PROGRAM), "."], check=True)


@contextmanager
def dex_running(port: int, redirect_uri: str) -> Iterator[str]:
    """The issuer of a dex with one client and one user, once its metadata can be read."""
    issuer = f"http://localhost:{port}"
    flags = ["-listen", f"127.0.0.1:{port}", "-issuer", issuer, "-redirect-uri", redirect_uri]
    with answering([str(PROGRAM), *flags], issuer):
        yield issuer


async def sign_in_there(person: Abroad, sent: Page) -> Page:
    """Fill in dex's form, which a page here has sent the browser to; the page that it comes back to."""
    form = await person.there.get(sent.url)
    assert "password" in dict(form.forms[0].fields), (
        form.text
    )  # dex asks, although it has asked before
    back = await person.there.submit(form, login=ADDRESS, password="alice-password")
    return await person.here.get(back.url)


async def ask_for_new_logins(steps: Steps, person: Abroad, provider: str) -> None:
    """All by which a login anew is asked for; this dex has no `auth_time`, so that nothing proves how old a login is."""
    new = {"prompt": "login", "max_age": "0"}
    with steps.step("dex signs in again where the client wants that (prompt=login)"):
        sent = await person.app.authorize(prompt="login", acr_values="idp:dex")
        assert sent.url.startswith(provider)
        assert new.items() <= sent.parameters.items()
        form = await person.there.get(sent.url)
        back = await person.there.submit(form, login=ADDRESS, password="alice-password")
        assert "code" in (await person.here.get(back.url)).parameters
        assert (await person.here.get(back.url)).status == 400  # the answer counts once
    with steps.step("a login just now is recent enough for max_age, without dex"):
        page = await person.app.authorize(prompt="none", max_age="600")
        assert "code" in page.parameters
    for max_age in ("0", "600"):
        with steps.step(
            f"max_age={max_age} is asked of dex, and nobody signed in without auth_time"
        ):
            person.here.forget_cookies()
            sent = await person.app.authorize(max_age=max_age, acr_values="idp:dex")
            assert sent.parameters["max_age"] == max_age
            refused = await sign_in_there(person, sent)
            assert refused.text_of("login-error").startswith("dex did not sign you in")
            assert (await person.app.authorize(prompt="none")).error == "login_required"
    with steps.step("to change second factors the user signs in anew, and comes back"):
        login = await person.here.get(ADD)
        assert login.path == "/account/login"
        sent = await person.here.get(login.provider_links["dex"])
        assert new.items() <= sent.parameters.items()
        assert (await sign_in_there(person, sent)).has("totp-secret")
        assert (await person.here.get(ADD)).path == "/account/login"  # which follows no login


async def run(steps: Steps, issuer: str, provider: str) -> None:
    """Everything that a person with an account at dex can do."""
    async with abroad(issuer, provider) as person:
        with steps.step("a user of dex signs in by the address, to the account with the same one"):
            page = await person.sign_in(ADDRESS, login=ADDRESS, password="alice-password")
            claims = await person.claims(page.parameters["code"])
            assert (claims["sub"], claims["idp"], claims["email"]) == ("818727", "dex", ADDRESS)
        with steps.step("the session serves the next request"):
            assert "code" in (await person.app.authorize(prompt="none")).parameters
        await ask_for_new_logins(steps, person, provider)
        with steps.step("who gives dex a wrong password stays there"):
            sent = await person.app.authorize(prompt="login", acr_values="idp:dex")
            form = await person.there.get(sent.url)
            stayed = await person.there.submit(form, login=ADDRESS, password="wrong")
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
