"""What can go wrong between this service and Redis, by the names of redis-py."""

from __future__ import annotations

from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeout

__all__ = [
    "TROUBLE",
    "UNREACHABLE",
    "ConnectionLost",
    "NotAsked",
    "NotReplicated",
    "Overwhelmed",
    "RedisError",
    "ResponseError",
]

UNREACHABLE = (ConnectionLost, RedisTimeout, OSError)
"""Redis was not there, or has not answered; it may or may not have done what it was asked."""

TROUBLE = (RedisError, OSError)
"""Everything; asyncio's TimeoutError is an OSError."""


class NotAsked(ConnectionLost):
    """Redis has not answered lately, so it was not asked."""


class Overwhelmed(RedisError):
    """Too much is waiting for Redis already; nothing was asked."""


class NotReplicated(RedisError):
    """Fewer replicas than are configured have confirmed a write in time; the master has done it."""
