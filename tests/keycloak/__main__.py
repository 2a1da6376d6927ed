"""A real Keycloak as a provider of users, with back-channel logout, and as a trusted issuer (RFC 7523 §2.1, RFC 8693).

The kit for APIs is tried with it, too.

`make keycloak-test` runs this; Maven brings Keycloak's distribution. CI does not: Keycloak takes a minute to start.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from click import echo

from tests.driving.abroad import abroad
from tests.driving.ports import lasting_ports
from tests.driving.program import program_running
from tests.interop.steps import Steps
from tests.keycloak.api_kit import check_api_kit
from tests.keycloak.running import install, keycloak_running

HERE = Path(__file__).parent
GRANT = "urn:ietf:params:oauth:grant-type:"
ACCESS_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:jwt"


class Journey:
    """A client that has tokens of Keycloak's, and brings them to the service."""

    def __init__(self, realm: str, service: str) -> None:
        self.realm, self.service = realm, service
        self.http = httpx2.Client(timeout=30)

    def sign_in(self, client: str = "their-app", **form: str) -> dict[str, Any]:
        """Alice's tokens of Keycloak."""
        usual = {
            "grant_type": "password",
            "username": "alice",
            "password": "alice",
            "client_id": client,
            "client_secret": f"{client}-secret",
            "scope": "openid email",
        }
        answer = self.http.post(f"{self.realm}/protocol/openid-connect/token", data=usual | form)
        answer.raise_for_status()
        tokens: dict[str, Any] = answer.json()
        return tokens

    def ask(self, grant_type: str, **form: str) -> tuple[int, Mapping[str, Any]]:
        """A token request to the service."""
        sent = {"grant_type": GRANT + grant_type, **form}
        credentials = ("courier", "courier-secret")
        answer = self.http.post(f"{self.service}/connect/token", data=sent, auth=credentials)
        return answer.status_code, answer.json()

    def introspect(self, token: str, api: str) -> Mapping[str, Any]:
        """The introspection response for an API."""
        url, credentials = f"{self.service}/connect/introspect", (api, f"{api}-secret")
        claims: dict[str, Any] = self.http.post(url, data={"token": token}, auth=credentials).json()
        return claims


def run(steps: Steps, journey: Journey) -> None:
    """Everything that a client with tokens of Keycloak's can do."""
    token = journey.sign_in()["access_token"]
    with steps.step("an access token of Keycloak's is an assertion, once"):
        status, answer = journey.ask("jwt-bearer", assertion=token, scope="api1")
        assert status == httpx2.codes.OK, answer
        claims = journey.introspect(answer["access_token"], "api1")
        assert claims["sub"].startswith("keycloak:"), claims
        assert (claims["idp"], claims["email"]) == ("keycloak", "alice@partner.example")
        refused = journey.ask("jwt-bearer", assertion=token)
        assert refused[1]["error"] == "invalid_grant"
    with steps.step("the same token is a subject token, as often as it is needed"):
        exchanged = {"subject_token": token, "subject_token_type": ACCESS_TOKEN_TYPE}
        for _ in range(2):
            status, answer = journey.ask("token-exchange", scope="api2", **exchanged)
            assert status == httpx2.codes.OK, answer
            assert journey.introspect(answer["access_token"], "api2")["active"]
    for name, other in (
        ("a token for others", journey.sign_in("their-other-app")["access_token"]),
        ("an ID token", journey.sign_in()["id_token"]),
        ("a refresh token", journey.sign_in()["refresh_token"]),
    ):
        with steps.step(f"{name} is refused"):
            status, answer = journey.ask("jwt-bearer", assertion=other)
            assert (status, answer["error"]) == (400, "invalid_grant"), answer


async def sign_in_and_out(steps: Steps, issuer: str, realm: str) -> None:
    """Everything that a person with an account at Keycloak can do."""
    address = "alice@partner.example"
    async with abroad(issuer, realm.partition("/realms")[0]) as person:
        with steps.step(
            "a user of Keycloak signs in by the address; the service by private_key_jwt"
        ):
            page = await person.sign_in(address, username="alice", password="alice")
            claims = await person.claims(page.parameters["code"])
            assert (claims["idp"], claims["email"]) == ("staff", address), claims
        with steps.step("the session serves the next request"):
            assert "code" in (await person.app.authorize(prompt="none")).parameters
        with steps.step("to change second factors the user signs in anew, and comes back"):
            login = await person.here.get("/account/login?return_to=/account/security")
            sent = await person.here.get(login.provider_links["staff"])
            form = await person.there.get(sent.url)
            back = await person.there.submit(form, password="alice")
            assert (await person.here.get(back.url)).path == "/account/security"
        with steps.step("Keycloak's back-channel logout ends the session"):
            asked = await person.there.get(f"{realm}/protocol/openid-connect/logout")
            await person.there.submit(asked)
            assert await person.is_signed_out()


def main() -> None:
    """Start both, and try everything."""
    steps = Steps()
    ports = lasting_ports(2)
    issuer = f"http://localhost:{ports[0]}"
    with TemporaryDirectory(prefix="keycloak-") as folder:
        home = install()
        echo(home.name)
        imported = home / "data/import"
        imported.mkdir(parents=True)
        written = (HERE / "realm.json").read_text().replace("ISSUER", issuer)
        (imported / "realm.json").write_text(written)
        with keycloak_running(home, ports[1], "partner") as url:
            realm = f"{url}/realms/partner"
            environ = {"ISSUER": issuer, "REALM": realm}
            flags = ("--port", str(ports[0]))
            config = Path(shutil.copy(HERE / "config.yaml", folder))
            with program_running(config, flags, environ) as service:
                service.url()
                run(steps, Journey(realm, issuer))
                asyncio.run(sign_in_and_out(steps, issuer, realm))
                service.event("provider_logout_received")
            check_api_kit(realm, steps)
    steps.finish()


main()
