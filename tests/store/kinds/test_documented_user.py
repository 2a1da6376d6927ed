"""The ACL user of docs/operations/redis.md may do all that the service does, and nothing to the keys of others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from service.store import verbs
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.opening import open_store
from service.store.verbs import Read
from tests.driving.redis_servers import RedisCluster, cluster
from tests.store.kinds.documented import acl_rules

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    """A Cluster with replicas, in which everybody knows the user."""
    rules = ["--user", "token-service", "on", ">secret", *acl_rules()]
    rules += ["--user", "former", "on", ">secret", *acl_rules("-ttl")]
    with cluster(tmp_path_factory.mktemp("documented"), *rules, replicas=1) as started:
        yield started


@pytest.fixture
async def kv(replicated: RedisCluster) -> AsyncIterator[KeyValue]:
    """The store, as that user has it."""
    url = replicated.url.replace("://", "://token-service:secret@")
    opened = open_store(url, timeout=30, wait_for_replicas=1)
    yield opened
    await opened.close()


async def test_the_documented_user_may_run_all_commands_in_a_cluster(kv: KeyValue) -> None:
    for number in range(10):
        await kv.write(
            ("SET", f"ts:{{{number}}}:k", b"1", "EX", 60), verbs.count("ts:{n}:n", 60), durable=True
        )
    assert await kv.read(*[Read(f"ts:{{{number}}}:k", int) for number in range(10)]) == (1,) * 10
    assert len([key async for key in kv.find_keys("ts:*:k")]) == 10
    assert await kv.replace("ts:lasting", old=None, new=b"1")
    assert await kv.replace("ts:lasting", old=b"1", new=b"2")
    memory = await kv.read_memory()
    assert memory is not None
    assert memory.evicting_policy is None


async def test_the_documented_user_may_not_touch_other_keys(kv: KeyValue) -> None:
    with pytest.raises(StoreUnavailable):
        await kv.write(("SET", "other:{x}:k", b"1", "EX", 60))
    assert not kv.circuit_open


async def test_the_user_that_was_documented_before_may_prolong_an_authorization(
    replicated: RedisCluster, kv: KeyValue
) -> None:
    former = open_store(replicated.url.replace("://", "://former:secret@"), timeout=30)
    await former.write(("SET", "ts:{x}:long", b"1", "EX", 60), verbs.lengthen("ts:{x}:long", 3600))
    (left,) = await kv.write(("TTL", "ts:{x}:long"))
    assert left > 60
    await former.close()
