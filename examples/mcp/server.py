"""An MCP server with one tool, for users who have allowed the scope tools.read."""

from __future__ import annotations

import os

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

ISSUER = f"http://localhost:{os.environ.get('SERVICE_PORT', '8080')}"
PORT = int(os.environ.get("MCP_PORT", "3001"))
ORIGIN = f"http://localhost:{PORT}"

tokens = JWTVerifier(
    jwks_uri=f"{ISSUER}/.well-known/jwks.json",
    issuer=ISSUER,
    audience=f"{ORIGIN}/mcp",
    algorithm="ES256",
    required_scopes=["tools.read"],
)
auth = RemoteAuthProvider(tokens, authorization_servers=[ISSUER], base_url=ORIGIN)
server = FastMCP("example", auth=auth)


@server.tool
def whoami() -> dict[str, object]:
    """Return whose token it is, and what it allows."""
    token = get_access_token()
    if token is None:
        return {}
    return {"subject": token.claims["sub"], "scopes": token.scopes}


if __name__ == "__main__":
    server.run(transport="http", host="localhost", port=PORT, show_banner=False)
