"""What can go wrong between this service and Redis."""

from __future__ import annotations

from redis import exceptions

ConnectionLost = exceptions.ConnectionError
RedisError = exceptions.RedisError
ResponseError = exceptions.ResponseError

UNREACHABLE = (ConnectionLost, exceptions.TimeoutError, OSError)
"""Redis was not there, or has not answered; it may or may not have executed the commands."""

TROUBLE = (RedisError, OSError)
"""Everything; asyncio's TimeoutError is an OSError."""


class NotAsked(ConnectionLost):
    """Redis has not answered lately, so nothing was sent."""


class Overwhelmed(RedisError):
    """Too many commands wait for Redis already; nothing was sent."""


class NotReplicated(RedisError):
    """Fewer replicas than are configured have confirmed a write in time; the master has executed it."""
