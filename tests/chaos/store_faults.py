"""Faults of the store: each happens while the load goes on, and is mended afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.chaos.answers import Kind
from tests.chaos.stage import Stage
from tests.chaos.stores import DistantRedis
from tests.driving.redis_servers import RedisCluster, SentinelSet, TcpRedis

FROZEN = 3
"""Seconds."""
ROOM = 16 * 1024
"""Bytes that a full Redis has left at first."""
DELAY = 0.15
"""Seconds by which a slow Redis answers later."""
FEW_KEYS, MANY_KEYS = 10, 1_000_000
"""How many keys a Redis remembers for those who have read them: in the fault, and usually."""
UNHEARD = 0.3
"""Seconds before its death in which a master was alone."""


async def redis_restarted(stage: Stage[TcpRedis]) -> None:
    """Redis dies, and comes back with all that it had acknowledged."""
    with stage.fault.lasting():
        stage.store.kill()
        await asyncio.sleep(stage.effort.outage)
        await asyncio.to_thread(stage.store.start)


async def redis_frozen(stage: Stage[TcpRedis]) -> None:
    """Redis keeps its connections and says nothing, as on a machine that swaps, or behind a broken link."""
    with stage.fault.lasting():
        stage.store.freeze()
        try:
            await asyncio.sleep(FROZEN)
        finally:
            stage.store.thaw()


async def redis_full(stage: Stage[TcpRedis]) -> None:
    """Redis has no memory left and refuses to write; what is there can still be read."""
    answers = stage.site.ledger.answers
    with stage.store.client() as redis:
        redis.config_set("maxmemory-policy", "noeviction")
        with stage.fault.lasting():
            redis.config_set("maxmemory", redis.info("memory")["used_memory"] + ROOM)
            await stage.until(
                lambda: any(each.kind is Kind.UNAVAILABLE for each in answers),
                seconds=10,
                what="writing is refused",
            )
            await stage.hold()
            redis.config_set("maxmemory", 0)


async def tracking_table_full(stage: Stage[TcpRedis]) -> None:
    """Redis may remember hardly any key that was read, so that it gives most of them up at once."""
    with stage.store.client() as redis:
        redis.config_set("tracking-table-max-keys", FEW_KEYS)
        with stage.fault.lasting():
            await stage.hold()
        redis.config_set("tracking-table-max-keys", MANY_KEYS)


async def redis_slow(stage: Stage[DistantRedis]) -> None:
    """Each answer of Redis takes its time, but less than `store.timeout`: all is slow, and nothing fails."""
    with stage.fault.lasting():
        stage.store.link.delay = DELAY
        await stage.hold()
        stage.store.link.delay = 0


async def sentinel_failover(stage: Stage[SentinelSet]) -> None:
    """The master dies, and the sentinels let a replica take over that has not heard all."""
    master, replicas = await asyncio.to_thread(lambda: (stage.store.master, stage.store.replicas))
    await _lose(stage, master, replicas)


async def cluster_master_killed(stage: Stage[RedisCluster]) -> None:
    """A third of the slots has no master until its replica takes over, which has not heard all."""
    await _lose(stage, stage.store.masters[0], stage.store.replicas[:1])


async def _lose(stage: Stage[Any], master: TcpRedis, replicas: Sequence[TcpRedis]) -> None:
    """Kill a master after a moment in which no replica heard of what it acknowledged."""
    with stage.fault.lasting():
        for replica in replicas:
            replica.freeze()
        try:
            master.tell(
                "CLIENT", "KILL", "TYPE", "replica"
            )  # or they would hear it from the socket
            await asyncio.sleep(UNHEARD)
            master.kill()
        finally:
            for replica in replicas:
                replica.thaw()
    await stage.hold()
