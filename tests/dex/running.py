"""A dex that runs, by either of the two programs that are built from its modules."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import httpx2

PATIENCE = 60
"""Seconds until dex answers."""


@contextmanager
def answering(command: Sequence[str], issuer: str) -> Generator[None]:
    """Run a command until the end of the block, which begins once the metadata of its issuer can be read."""
    process = subprocess.Popen(command)
    try:
        until = time.monotonic() + PATIENCE
        while not _answers(f"{issuer}/.well-known/openid-configuration"):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return bool(httpx2.get(url).status_code == httpx2.codes.OK)
    except httpx2.HTTPError:
        return False
