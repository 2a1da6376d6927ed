"""The MCP SDK for Python: a client with an ID-JAG reaches an MCP server, which introspects (MCP enterprise-managed authorization)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import httpx2
import jwt
import uvicorn
from mcp import Client
from mcp.client.auth import OAuthTokenError
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

from tests.interop.addresses import ISSUER, MCP_SERVER, WORKPLACE
from tests.interop.mcp_client.agents import run_agents
from tests.interop.steps import Steps

IDP = "https://as.partner.example"
RESOURCE = f"{MCP_SERVER}/mcp"


@dataclass
class Introspection:
    """The server's view of a token (RFC 7662)."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Ask the service as the API that the server is."""
        credentials = httpx2.BasicAuth(quote(RESOURCE, safe=""), "mcp-secret")
        async with httpx2.AsyncClient(auth=credentials) as http:
            answer = await http.post(f"{ISSUER}/connect/introspect", data={"token": token})
        claims: dict[str, Any] = answer.json()
        if not claims["active"]:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims["scope"].split(),
            resource=claims["aud"],
            subject=claims["sub"],
            expires_at=claims["exp"],
        )


@asynccontextmanager
async def mcp_server() -> AsyncIterator[None]:
    """An MCP server with one tool, for tokens with the scope."""
    auth = AuthSettings(
        issuer_url=ISSUER,
        resource_server_url=RESOURCE,
        required_scopes=["tools.read"],
        validate_token_resource=True,
    )
    server = MCPServer("interop", log_level="ERROR", token_verifier=Introspection(), auth=auth)

    @server.tool()  # type: ignore[untyped-decorator] # mypy does not see the SDK
    def whoami() -> str:
        """Return the subject of the token."""
        token = get_access_token()
        return str(token.subject) if token else "nobody"

    port = urlsplit(MCP_SERVER).port or 80
    app = server.streamable_http_app(host="localhost")
    running = uvicorn.Server(uvicorn.Config(app, "localhost", port, log_level="warning"))
    task = asyncio.create_task(running.serve())
    while not running.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.05)
    yield
    running.should_exit = True
    with suppress(asyncio.CancelledError):
        await task


@dataclass
class Storage:
    """Tokens, in memory."""

    tokens: Any = None
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> None:
        return None

    async def set_client_info(self, client_info: Any) -> None:
        """The client is configured."""


def id_jag(audience: str, resource: str, **changes: Any) -> str:
    """The ID-JAG of the enterprise's identity provider."""
    key = jwt.PyJWK(json.loads(Path(WORKPLACE, "signing-key.json").read_text()))
    now = int(time.time())
    claims = {
        "iss": IDP,
        "sub": "their-alice",
        "aud": audience,
        "client_id": "mcp-client",
        "resource": resource,
        "scope": "tools.read",
        "jti": uuid4().hex,
        "iat": now,
        "exp": now + 300,
    }
    headers = {"typ": "oauth-id-jag+jwt", "kid": key.key_id}
    return jwt.encode(claims | changes, key.key, algorithm="ES256", headers=headers)


async def call(method: Any, **changes: Any) -> tuple[str, Storage]:
    """Call the tool as a client that has no token yet."""
    storage = Storage()

    async def provide(audience: str, resource: str) -> str:
        storage.asked.append((audience, resource))
        return id_jag(audience, resource, **changes)

    auth = IdentityAssertionOAuthProvider(
        server_url=RESOURCE,
        storage=storage,
        client_id="mcp-client",
        client_secret="mcp-client-secret",
        issuer=ISSUER,
        assertion_provider=provide,
        scope="tools.read",
        token_endpoint_auth_method=method,
    )
    async with (
        httpx2.AsyncClient(auth=auth) as http,
        Client(streamable_http_client(RESOURCE, http_client=http)) as client,
    ):
        result = await client.call_tool("whoami", {})
    return str(result.content[0].text), storage


def is_refusal(error: BaseException) -> bool:
    """Whether the SDK was refused with invalid_grant, however deep that is."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_refusal(one) for one in error.exceptions)
    cause = error.__cause__
    found = isinstance(error, OAuthTokenError) and "invalid_grant" in str(error)
    return found or (cause is not None and is_refusal(cause))


@contextmanager
def suppress_refusal() -> Iterator[None]:
    """Fail unless the block ends in a refusal."""
    try:
        yield
    except Exception as error:
        if is_refusal(error):
            return
        raise
    raise AssertionError("not refused")


async def main(steps: Steps) -> None:
    """Everything, against one MCP server."""
    async with mcp_server():
        for method in ("client_secret_post", "client_secret_basic"):
            with steps.step(f"{method}: an ID-JAG opens an MCP server"):
                subject, storage = await call(method)
                assert subject == "partner-jag:their-alice"
                assert storage.asked == [(ISSUER, RESOURCE)]
                assert storage.tokens.refresh_token is None
        for name, changes in (
            ("another client", {"client_id": "web"}),
            ("another server", {"aud": "https://other.example"}),
            ("nobody trusted", {"iss": "https://stranger.example"}),
        ):
            with steps.step(f"an ID-JAG of {name} is refused"), suppress_refusal():
                await call("client_secret_post", **changes)
    await run_agents(steps)
    steps.finish()


asyncio.run(main(Steps()))
