"""A real dex is taken over at the same address: what its clients and users could do there they do here, with the same subjects.

`make dex-test` builds dex as it is today from the Go module proxy, in minutes, and runs this. CI does not.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import httpx2
from click import echo
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.dex.running import answering
from tests.driving.browser import Browser
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import SERVICE, program_running
from tests.driving.service import claims_in
from tests.interop.steps import Steps

WHOLE = Path(__file__).parent / "whole"
PROGRAM = REPOSITORY / "build/bin/dex"
APP = ("example-app", "ZXhhbXBsZS1hcHAtc2VjcmV0")
CALLBACK = "http://127.0.0.1:5555/callback"
ADDRESS = "ADMIN@example.com"
SCOPE = "openid profile email groups federated:id offline_access"
USER = (
    "sub",
    "name",
    "preferred_username",
    "email",
    "email_verified",
    "groups",
    "federated_claims",
)
"""The claims that an application knows a user by."""


def build() -> None:
    """Compile dex, unless it is there; go.sum has the hashes of what it is built from."""
    if not PROGRAM.exists():
        command = ["go", "build", "-C", str(WHOLE), "-o", str(PROGRAM)]
        subprocess.run([*command, "github.com/dexidp/dex/cmd/dex"], check=True)


class Application:
    """An application that only knows dex's paths."""

    def __init__(self, issuer: str) -> None:
        """Remember where the server is, whichever it is."""
        self.issuer = issuer

    async def sign_in(self, scope: str = SCOPE) -> Mapping[str, Any]:
        """Sign the user in at the server's own page, and redeem the code."""
        browser = Browser(self.issuer.removesuffix("/dex"))
        request = {"client_id": APP[0], "redirect_uri": CALLBACK, "response_type": "code"}
        query = urlencode({**request, "scope": scope, "state": "s", "nonce": "n"})
        page = await browser.get(f"{self.issuer}/auth?{query}")
        if "login" in dict(page.forms[0].fields):  # dex's page
            back = await browser.submit(page, login=ADDRESS, password="password")
        else:
            back = await browser.log_in(page, ADDRESS, password="password")
        await browser.close()
        form = {"code": back.parameters["code"], "redirect_uri": CALLBACK}
        return self._post("/token", APP, grant_type="authorization_code", **form)

    def device(self) -> Mapping[str, Any]:
        """Ask for a device code."""
        return self._post("/device/code", None, client_id="television", scope="openid")

    def userinfo(self, access_token: str) -> Mapping[str, Any]:
        """Ask for the user of an access token."""
        headers = {"Authorization": f"Bearer {access_token}"}
        return _body(httpx2.get(f"{self.issuer}/userinfo", headers=headers))

    def public_keys(self) -> Mapping[str, Any]:
        """The keys at dex's address of them."""
        return _body(httpx2.get(f"{self.issuer}/keys"))

    def _post(self, path: str, auth: tuple[str, str] | None, **form: str) -> Mapping[str, Any]:
        return _body(httpx2.post(f"{self.issuer}{path}", data=form, auth=auth))


def _body(answer: httpx2.Response) -> Mapping[str, Any]:
    assert answer.status_code == httpx2.codes.OK, answer.text
    body: Mapping[str, Any] = answer.json()
    return body


def take_over(config: Path, keys: Path, out: Path) -> None:
    """Import what dex was configured by; the file of keys is its JWKS."""
    options = ["--jwks", str(keys), "--out", str(out)]
    done = subprocess.run([*SERVICE, "import", "dex", str(config), *options], check=False)
    assert done.returncode == 0
    subprocess.run([*SERVICE, "check", str(out / "config.yaml")], check=True)


async def try_everything(steps: Steps, app: Application, before: Mapping[str, Any]) -> None:
    """Repeat here the steps that were done at dex; `before` is the answer of dex."""
    with steps.step("the user keeps the password and all claims, sub among them"):
        answer = await app.sign_in()
        known, now = claims_in(before["id_token"]), claims_in(answer["id_token"])
        assert {name: now.get(name) for name in USER} == {name: known[name] for name in USER}
        assert now["exp"] - now["iat"] == known["exp"] - known["iat"] == 7200
        assert app.userinfo(answer["access_token"])["sub"] == known["sub"]
    with steps.step("a peer gets access tokens for the client that trusts it"):
        tokens = await app.sign_in("openid audience:server:client_id:kubernetes")
        assert claims_in(tokens["access_token"])["aud"] == "kubernetes"
    with steps.step("a device gets its codes"):
        assert app.device()["expires_in"] == 300
    with steps.step("tokens of dex are verified by the keys that are published here"):
        keys = KeySet.import_key_set(dict(app.public_keys()))  # type: ignore[arg-type]
        assert jwt.decode(before["id_token"], keys).claims["sub"] == known["sub"]


def main() -> None:
    """Run dex, end it, and run this service in its place."""
    steps = Steps()
    echo("building dex")
    build()
    (port,) = lasting_ports(1)
    issuer = f"http://localhost:{port}/dex"
    app = Application(issuer)
    with TemporaryDirectory(prefix="dex-") as folder:
        config = Path(folder, "dex.yaml")
        config.write_text((WHOLE / "config.yaml").read_text().replace("PORT", str(port)))
        keys = Path(folder, "jwks.json")
        with answering([str(PROGRAM), "serve", str(config)], issuer):
            before = asyncio.run(app.sign_in())
            app.device()
            keys.write_text(json.dumps(app.public_keys()))
        out = Path(folder, "out")
        take_over(config, keys, out)
        with program_running(out / "config.yaml", ("--port", str(port)), {}) as service:
            service.url()
            asyncio.run(try_everything(steps, app, before))
    sys.stdout.flush()
    steps.finish()


if __name__ == "__main__":
    main()
