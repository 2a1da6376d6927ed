"""The embedded store: fakeredis in this process, for a first look and for tests."""

from __future__ import annotations

from typing import Any

from fakeredis import FakeAsyncRedis


def embedded_redis() -> Any:
    """A Redis of this process's own, empty, and gone when the process ends."""
    return FakeAsyncRedis()
