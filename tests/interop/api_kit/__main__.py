"""The kit for APIs at this service and at node-oidc-provider: an API over TLS, asked by clients with tokens of each kind."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx2
import pytest
from aiohttp import web
from oauth_resource_server import ClientSecret, ExchangeRefused, Request, ResourceServer
from oauth_resource_server.aiohttp import CALLER, Guard
from oauth_resource_server.testing import DpopKey

from tests.driving.ports import lasting_ports
from tests.interop.addresses import ISSUER, MUTUAL_TLS, WORKPLACE
from tests.interop.listening import listening
from tests.interop.steps import Steps

PEERS = Path(__file__).parents[3] / "benchmarks/peers/node_oidc_provider/node_modules"
SUBJECT = "818727"
CERTIFIED, STRANGER = (Path(WORKPLACE, name) for name in ("web-certified.pem", "stranger.pem"))


@dataclass
class Client:
    """A client that gets tokens, and asks the API."""

    token_endpoint: str
    api: str

    async def token(
        self,
        client_id: str,
        form: Mapping[str, str],
        *,
        proof: str | None = None,
        certificate: Path | None = None,
    ) -> str:
        """Return an access token for a client with a secret, or with a certificate."""
        sent = {**form, "client_id": client_id}
        sent |= {} if certificate else {"client_secret": f"{client_id}-secret"}
        headers = {"DPoP": proof} if proof else {}
        async with new_client(certificate) as http:
            answer = await http.post(self.token_endpoint, data=sent, headers=headers)
        assert answer.status_code == httpx2.codes.OK, answer.text
        token: str = answer.json()["access_token"]
        return token

    async def bound_token(self, key: DpopKey, client_id: str, form: Mapping[str, str]) -> str:
        """Return an access token that is bound to a key."""
        proof = key.proof("POST", self.token_endpoint, "", ath=None)
        return await self.token(client_id, form, proof=proof)

    async def ask(
        self,
        token: str,
        certificate: Path | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> httpx2.Response:
        """Return what the API answers."""
        async with new_client(certificate) as http:
            return await http.get(self.api, headers={"Authorization": f"Bearer {token}", **headers})


def new_client(certificate: Path | None) -> httpx2.AsyncClient:
    """Return an HTTP client that shows a certificate, or none."""
    trust = ssl.create_default_context(cafile=str(Path(WORKPLACE, "server.pem")))
    if certificate is not None:
        trust.load_cert_chain(certificate)
    return httpx2.AsyncClient(verify=trust)


@asynccontextmanager
async def api_running(port: int, server: ResourceServer, scope: str) -> AsyncIterator[None]:
    """Run an API that says who calls; it asks for certificates, and takes them of any authority here."""
    guard = Guard(server)

    @guard(scope)
    async def show(request: web.Request) -> web.Response:
        caller = request[CALLER]
        return web.json_response({"subject": caller.subject, "client": caller.client_id})

    tls = ssl.create_default_context(
        ssl.Purpose.CLIENT_AUTH, cafile=str(Path(WORKPLACE, "client-ca.pem"))
    )
    tls.verify_mode = ssl.CERT_OPTIONAL
    tls.load_cert_chain(Path(WORKPLACE, "loopback.pem"))
    app = web.Application()
    app.add_routes([web.get("/orders", show), guard.metadata_route()])
    async with listening(app, f"https://localhost:{port}", tls):
        yield
    await server.aclose()


async def takes_tokens(
    client: Client, steps: Steps, form: dict[str, str], introspects: str
) -> None:
    """Accept the tokens of a machine, and refuse everything near them."""
    with steps.step(f"{introspects}: a token for the API is accepted"):
        token = await client.token("machine", form)
        answer = await client.ask(token)
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"subject": "machine", "client": "machine"}
    with steps.step(f"{introspects}: a token that was changed is refused"):
        answer = await client.ask(token[:-3] + "abc")
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    key = DpopKey()
    with steps.step(f"{introspects}: a bound token is accepted with its proof, once"):
        bound = await client.bound_token(key, "machine", form)
        headers = key.headers("GET", client.api, bound)
        assert (await client.ask(bound, headers=headers)).status_code == 200
        answer = await client.ask(bound, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_dpop_proof")
        assert (await client.ask(bound)).status_code == 401


async def at_the_service(steps: Steps) -> None:
    """Everything, at this service."""
    ports = lasting_ports(1)
    url = f"https://localhost:{ports[0]}/orders"
    client = Client(f"{ISSUER}/connect/token", url)
    api1, api2 = (
        ResourceServer(
            ISSUER, audience=name, url=url, credentials=ClientSecret(name, f"{name}-secret")
        )
        for name in ("api1", "api2")
    )
    grant = {"grant_type": "client_credentials", "scope": "api1"}
    async with api_running(ports[0], api1, "api1"):
        await takes_tokens(client, steps, grant, "the service, JWT")
        await knows_revocations(client, steps, grant)
        await checks_certificates(client, steps, grant)
        await calls_the_next_api(client, steps, api1, api2)


async def knows_revocations(client: Client, steps: Steps, grant: dict[str, str]) -> None:
    """A reference token ends when it is revoked."""
    with steps.step("the service: a reference token is accepted until it is revoked"):
        token = await client.token("machine-reference", grant)
        assert (await client.ask(token)).json()["subject"] == "machine-reference"
        async with httpx2.AsyncClient() as http:
            credentials = ("machine-reference", "machine-reference-secret")
            await http.post(f"{ISSUER}/connect/revocation", data={"token": token}, auth=credentials)
        assert (await client.ask(token)).status_code == 401


async def checks_certificates(client: Client, steps: Steps, grant: dict[str, str]) -> None:
    """A token that is bound to a certificate needs it in the TLS connection (RFC 8705 §3)."""
    with steps.step("the service: a token bound to a certificate is accepted with it only"):
        at_proxy = Client(f"{MUTUAL_TLS}/connect/token", client.api)
        token = await at_proxy.token("machine-certified", grant, certificate=CERTIFIED)
        assert (await client.ask(token, CERTIFIED)).status_code == 200
        assert (await client.ask(token, STRANGER)).status_code == 401
        assert (await client.ask(token)).status_code == 401


async def calls_the_next_api(
    client: Client, steps: Steps, api1: ResourceServer, api2: ResourceServer
) -> None:
    """API 1 gets tokens for API 2, on behalf of Alice."""
    form = {"grant_type": "password", "username": "alice", "password": "alice", "scope": "api1"}
    caller = await api1.authenticate(bearer(await client.token("front-end", form)))
    for name, audience in {"delegation": None, "token exchange": "api2"}.items():
        with steps.step(f"the service: API 2 sees the user and API 1, by {name}"):
            token = await api1.on_behalf_of(caller, "api2", audience=audience)
            assert token == await api1.on_behalf_of(caller, "api2", audience=audience)
            seen = await api2.authenticate(bearer(token))
            assert (seen.subject, seen.claims["act"]) == (SUBJECT, {"sub": "api1"})
    name = "the service: a scope that API 1 may not have is refused"
    with steps.step(name), pytest.raises(ExchangeRefused, match="invalid_scope"):
        await api1.on_behalf_of(caller, "tools.read")
    await api2.aclose()


async def at_node_oidc_provider(steps: Steps) -> None:
    """JWTs and opaque tokens of another issuer."""
    provider_port, *ports = lasting_ports(3)
    issuer = f"http://localhost:{provider_port}"
    command = [PEERS / ".bin/node", Path(__file__).with_name("provider.mjs"), PEERS]
    process = await asyncio.create_subprocess_exec(
        *command, str(provider_port), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        while b"listening" not in (said := await process.stdout.readline()):
            assert said, "node-oidc-provider has not started"
        for port, name in zip(ports, ("jwt", "opaque"), strict=True):
            url = f"https://localhost:{port}/orders"
            server = ResourceServer(
                issuer,
                audience=f"urn:{name}",
                url=url,
                credentials=ClientSecret("api", "api-secret"),
            )
            form = {"grant_type": "client_credentials", "resource": f"urn:{name}"}
            async with api_running(port, server, "orders.read"):
                client = Client(f"{issuer}/token", url)
                whole = form | {"scope": "orders.read"}
                await takes_tokens(client, steps, whole, f"node-oidc-provider, {name}")
                await refuses_others(client, steps, form, name)
    finally:
        process.terminate()
        await process.wait()


async def refuses_others(client: Client, steps: Steps, form: dict[str, str], name: str) -> None:
    """Tokens without the scope, and for the other API."""
    with steps.step(f"node-oidc-provider, {name}: a token without the scope gets 403"):
        token = await client.token("machine", {**form, "scope": "orders.write"})
        assert (await client.ask(token)).status_code == 403
    with steps.step(f"node-oidc-provider, {name}: a token for another API is refused"):
        other = form | {"resource": "urn:jwt" if name == "opaque" else "urn:opaque"}
        token = await client.token("machine", {**other, "scope": "orders.read"})
        assert (await client.ask(token)).status_code == 401


def bearer(token: str) -> Request:
    """Return a request with a token."""
    return Request(method="GET", path="/", headers=[("authorization", f"Bearer {token}")])


async def main() -> None:
    """Try both issuers."""
    steps = Steps()
    await at_the_service(steps)
    await at_node_oidc_provider(steps)
    steps.finish()


asyncio.run(main())
