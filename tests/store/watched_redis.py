"""A Redis whose every command and every key is looked at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from redis import Redis

LASTING = frozenset({"ts:keys"})
"""What has no end: the signing keys. (Registered clients have a lifetime in these tests.)"""

LASTING_KINDS = frozenset({"fa", "po"})
"""What has no end until people remove it: their second factors, and whose passkey each is."""

HARMLESS = """
    GET EXISTS PING INFO HELLO AUTH CLIENT SELECT CONFIG COMMAND WATCH UNWATCH MULTI EXEC EVAL SCAN PTTL ECHO
    ZRANGE ZRANGEBYSCORE ZCOUNT ZCARD DEL ZREM ZREMRANGEBYSCORE EXPIRE MONITOR FLUSHALL WAIT
"""
"""Commands that make no key."""


@dataclass
class Watched:
    """The commands and keys that were seen."""

    redis: Redis
    endless: list[str] = field(default_factory=list)
    """Commands that would make a key without an end, outside of a script."""
    seen: set[str] = field(default_factory=set)
    """Kinds of keys that were written, by their names in the table of stores."""

    def without_end(self) -> set[str]:
        """The keys that have none now."""
        ending = [key for key in self.keys() - LASTING if kind_of(key) not in LASTING_KINDS]
        asking = self.redis.pipeline(transaction=False)
        for key in ending:
            asking.pttl(key)
        return {key for key, left in zip(ending, asking.execute(), strict=True) if left == -1}

    def keys(self) -> set[str]:
        """All that is there."""
        return {key.decode() for key in self.redis.scan_iter(count=1000)}

    def note(self, command: str, *, scripted: bool) -> None:
        """Check whether a command makes a key without an end; a script is executed as a whole."""
        name, *arguments = command.split(" ")
        told = {argument.upper() for argument in arguments}
        if name in {"SET", "ZADD", "INCR"}:
            self.seen.add(kind_of(arguments[0]))
        if name in HARMLESS.split() or (name == "ZADD" and "XX" in told):
            return
        ends = name == "SET" and told & {"EX", "KEEPTTL"}
        lasts = arguments[0] in LASTING or kind_of(arguments[0]) in LASTING_KINDS
        if not (scripted or ends or lasts):
            self.endless.append(command)


def kind_of(key: str) -> str:
    """`ts:{…}:az` is an az."""
    return key.partition("}:" if "}" in key else ":")[2].partition(":")[0]


@contextmanager
def watched(url: str) -> Iterator[Watched]:
    """Listen to every command from now on."""
    with Redis.from_url(url) as redis:
        watching, ready = Watched(redis), threading.Event()

        def listen() -> None:
            with Redis.from_url(url).monitor() as monitor:  # type: ignore[no-untyped-call]
                ready.set()
                for told in monitor.listen():
                    if told["command"] == "ECHO over":
                        return
                    watching.note(told["command"], scripted=told["client_type"] == "lua")

        listening = threading.Thread(target=listen, daemon=True)
        listening.start()
        assert ready.wait(10)
        yield watching
        redis.echo("over")
        listening.join(10)
