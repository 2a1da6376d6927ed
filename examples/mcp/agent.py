"""An agent that signs its user in at the MCP server: AGENT_URL is its client_id, or it registers itself."""

from __future__ import annotations

import asyncio
import json
import os

from fastmcp import Client
from fastmcp.client.auth import OAuth

SERVER = f"http://localhost:{os.environ.get('MCP_PORT', '3001')}/mcp"


async def main() -> None:
    """Call a tool; the first call opens a browser."""
    auth = OAuth(
        client_name="Example agent",
        additional_client_metadata={"application_type": "native"},
        client_metadata_url=os.environ.get("AGENT_URL"),
        callback_host="127.0.0.1",
    )
    async with Client(SERVER, auth=auth) as client:
        result = await client.call_tool("whoami")
    print(json.dumps(result.data))


if __name__ == "__main__":
    asyncio.run(main())
