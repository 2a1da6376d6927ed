"""Sends bytes as they are, which no HTTP client would send."""

from __future__ import annotations

import asyncio

SECONDS = 30
"""How long anything here may take at most."""


async def exchange(port: int | None, *pieces: bytes, ends: bool = False) -> bytes:
    """Send the pieces, each as a packet of its own, and read until the service closes; `ends` if the client sends no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for number, piece in enumerate(pieces):
            if number:
                await asyncio.sleep(0.02)
            writer.write(piece)
            await writer.drain()
        if ends:
            writer.write_eof()
        return await asyncio.wait_for(reader.read(), SECONDS)
    finally:
        writer.close()
