"""A realm of a real Keycloak is taken over at the same address: all that its clients and users could do there they do here.

`make keycloak-test` runs this, in minutes. The applications run on while the server is replaced, and their settings stay.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from tests.conftest import ENCRYPTION_KEY, redis_running
from tests.driving.chromium import headless_chromium
from tests.driving.ports import lasting_ports
from tests.driving.program import SERVICE, program_running
from tests.interop.listening import listening
from tests.interop.steps import Steps
from tests.keycloak.running import export, install, keycloak_running
from tests.keycloak.takeover.applications import build, pages, programs_running
from tests.keycloak.takeover.browsing import JOURNEYS, ONLY_HERE, Journeys, visit
from tests.keycloak.takeover.parties import ADMIN, Addresses, Passkey
from tests.keycloak.takeover.realm import NAME, TWIN, Keycloak
from tests.keycloak.takeover.requests import REQUESTS, Server, keeps_its_keys, signs_in

ENVIRON = {
    "KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN["username"],
    "KC_BOOTSTRAP_ADMIN_PASSWORD": ADMIN["password"],
}
NOT_TAKEN = {
    "a client of SAML",
    "its subjects are pairwise, and computed otherwise here",
}
"""All that the report may say of this realm."""


async def do_everything(
    steps: Steps, server: Server, passkey: Passkey, where: str, journeys: Journeys = JOURNEYS
) -> dict[str, object]:
    """Make all requests and journeys; the results by name, of those that went well."""
    results: dict[str, object] = {}
    for name, ask in REQUESTS.items():
        with steps.step(f"{where}: {name}"):
            results[name] = await asyncio.to_thread(ask, server)
    async with headless_chromium() as browser, listening(pages(server.at), server.at.pages):
        for name, journey in journeys.items():
            with steps.step(f"{where}: {name}"):
                results[name] = await visit(browser, server, passkey, journey)
    return results


def compare(steps: Steps, before: dict[str, object], now: dict[str, object]) -> None:
    """Applications see now what they saw before."""
    for name, seen in before.items():
        with steps.step(f"the same as before: {name}"):
            assert now.get(name) == seen, (
                f"\nbefore {json.dumps(seen)}\nnow    {json.dumps(now.get(name))}"
            )


def take_over(folder: Path, exported: Path, at: Addresses) -> Path:
    """Import the realm, and return the configuration."""
    out = folder / "out"
    command = [*SERVICE, "import", "keycloak", str(exported), "--out", str(out)]
    done = subprocess.run(
        [*command, "--issuer", at.issuer, "--report", "json"],
        check=False,
        capture_output=True,
        text=True,
    )
    report = json.loads(done.stdout)
    assert {row["reason"] for row in report["not_taken"]} == NOT_TAKEN, report["not_taken"]
    config = out / "config.yaml"
    keyed = config.read_text().replace("signing:", f"signing:\n  encryption_key: {ENCRYPTION_KEY}")
    config.write_text(keyed)
    return config


@contextmanager
def service_running(folder: Path, config: Path, at: Addresses) -> Iterator[None]:
    """The service in the place of Keycloak, with second factors in its store."""
    with redis_running(folder) as (store, _):
        config.write_text(f"{config.read_text()}store: {{url: '{store}'}}\n")
        factors = str(config.parent / "factors.json")
        load = [*SERVICE, "factors", "load", factors, "--config", str(config)]
        subprocess.run(load, check=True)
        with program_running(config, ("--port", str(at.port)), {}) as program:
            program.url()
            yield


def run(steps: Steps, folder: Path, at: Addresses) -> None:
    """Everything at Keycloak, and then everything here."""
    home, server, passkey = install(), Server(at), Passkey()
    with ExitStack() as programs:
        with keycloak_running(home, at.port, "master", **ENVIRON) as keycloak:
            Keycloak(keycloak).build(at, passkey)
            programs.enter_context(programs_running(at, folder / "programs.log"))
            before = asyncio.run(do_everything(steps, server, passkey, "at Keycloak"))
            keys, token = set(keeps_its_keys(server)), server.sign_in("alice")["access_token"]
        export(home, NAME, folder / "export")
        config = take_over(folder, folder / "export", at)
        with service_running(folder, config, at):
            both = {**JOURNEYS, **ONLY_HERE}
            now = asyncio.run(do_everything(steps, server, passkey, "here", both))
            with steps.step("a hash of PBKDF2 with SHA-1, which Keycloak has not replaced"):
                signs_in(server, f"dave{TWIN}")
            with steps.step("the keys of before are published, and a token of before is valid"):
                assert keys <= set(keeps_its_keys(server))
                assert server.introspect("stock", token)["active"]
                assert server.userinfo(token)[0] == httpx2.codes.OK
    compare(steps, before, now)


def main() -> None:
    """Build what is needed, and try everything twice."""
    steps = Steps()
    build()
    names = ("server", "pages", "spring", "proxy")
    ports = zip(names, lasting_ports(len(names)), strict=True)
    at = Addresses(**{name: f"http://localhost:{port}" for name, port in ports})
    with TemporaryDirectory(prefix="takeover-") as folder:
        run(steps, Path(folder), at)
    steps.finish()


if __name__ == "__main__":
    main()
