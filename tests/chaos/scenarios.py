"""All scenarios, in the order in which they run: a fault, the store that it needs, and what it excuses.

To add one: a function in store_faults.py, user_faults.py or service_faults.py, and an entry here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.store.engine.connection import TRUST
from tests.chaos.answers import Kind
from tests.chaos.fault import Fault
from tests.chaos.service_faults import (
    key_rotated,
    registry_reloaded,
    replica_drained,
    replica_killed,
)
from tests.chaos.stage import Stage
from tests.chaos.store_faults import (
    cluster_master_killed,
    redis_frozen,
    redis_full,
    redis_restarted,
    redis_slow,
    sentinel_failover,
    tracking_table_full,
)
from tests.chaos.stores import distant_redis, one_redis, sentinels, three_masters
from tests.chaos.user_faults import (
    database_frozen,
    database_killed,
    directory_frozen,
    directory_killed,
    people_in_directory,
    people_in_postgres,
)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One fault under load."""

    run: Callable[[Stage[Any]], Awaitable[None]]
    open_store: Callable[[Path], AbstractContextManager[Any]] = one_redis
    """Scenarios that follow one another on the same kind of store share it, and the replicas."""
    users_of: Callable[[Any], Mapping[str, object]] = lambda _: {}
    """What `users` in the configuration says, by what open_store has opened; nothing leaves the file's users."""
    store_settings: Mapping[str, object] = field(default_factory=dict)
    """What `store` in the configuration says besides."""
    tracked: bool = False
    """Whether introspection keeps what it reads (`store.tracking: on`), so that an end may be seen a little later."""
    only_in_full: bool = False
    """Whether a short run leaves it out."""
    excuses: Mapping[str, Any] = field(default_factory=dict)
    """What its callers may be told; see Fault."""

    @property
    def name(self) -> str:
        """Its name on the command line and in the report."""
        name = self.run.__name__.replace("_", "-")
        return f"{name}-tracked" if self.tracked else name

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything that `store` in the configuration says besides."""
        return {**self.store_settings, **({"tracking": "on"} if self.tracked else {})}

    def fault(self) -> Fault:
        """A fault that has not begun."""
        return Fault(**self.excuses, seen_within=TRUST if self.tracked else 0)


GONE = frozenset({Kind.BALANCER, Kind.CONNECTION})
"""What a caller sees of a process that died with its request."""
AWAY = frozenset({Kind.UNAVAILABLE})
"""The service says so itself: the balancer goes on asking, because the replicas stay ready."""

HEALTHY = {"timeout": "5s"}
"""Where Redis is to answer all, a busy machine has more time for it, and yet less than its callers have patience."""

SCENARIOS: Sequence[Scenario] = (
    Scenario(run=replica_killed, store_settings=HEALTHY, excuses={"honest": GONE}),
    Scenario(run=replica_drained, store_settings=HEALTHY),
    Scenario(run=registry_reloaded, store_settings=HEALTHY),
    Scenario(run=key_rotated, store_settings=HEALTHY),
    Scenario(run=redis_frozen, excuses={"honest": AWAY, "store_is_away": True}),
    Scenario(run=redis_restarted, excuses={"honest": AWAY, "store_is_away": True}),
    Scenario(
        run=redis_full,
        excuses={"honest": AWAY, "spared": frozenset({"check", "introspect"})},
    ),
    Scenario(run=redis_slow, open_store=distant_redis, store_settings=HEALTHY),
    *(
        Scenario(
            run=fault,
            open_store=opened,
            users_of=lambda opened: opened.users,
            excuses={
                "honest": AWAY,
                "spared": frozenset({"client_credentials", "revoke"}),
            },
            only_in_full=fault is directory_killed,
        )
        for opened, faults in (
            (people_in_postgres, (database_killed, database_frozen)),
            (people_in_directory, (directory_killed, directory_frozen)),
        )
        for fault in faults
    ),
    *(
        Scenario(
            run=sentinel_failover,
            open_store=sentinels,
            store_settings={"wait_for_replicas": 1},
            excuses={"honest": AWAY, "loses": True, "waits": True, "patience": 10},
            tracked=tracked,
            only_in_full=not tracked,
        )
        for tracked in (False, True)
    ),
    *(
        Scenario(
            run=cluster_master_killed,
            open_store=three_masters,
            excuses={"honest": AWAY, "loses": True, "patience": 10},
            tracked=tracked,
            only_in_full=not tracked,
        )
        for tracked in (False, True)
    ),
    Scenario(run=redis_frozen, excuses={"honest": AWAY, "store_is_away": True}, tracked=True),
    Scenario(run=tracking_table_full, store_settings=HEALTHY, tracked=True),
    Scenario(
        run=redis_slow,
        open_store=distant_redis,
        store_settings=HEALTHY,
        tracked=True,
        only_in_full=True,
    ),
)
