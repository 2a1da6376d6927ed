"""Commands of Redis as values; records and indexes make those on their keys, and this file those on plain keys.

Several commands that must be executed together, such as a write and its expiry, are a script: only that
is complete on a connection that dies in the middle of a write, in a Cluster, and on Redis 6.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")
STEP = 50
"""Records that are read or commands that are sent at once: some milliseconds of work."""

Command = tuple[str | bytes | int, ...]
"""A command of Redis with its arguments, as a value: one atomic change or look at one key."""

T_co = TypeVar("T_co", covariant=True)

SLOWER = 5
"""Seconds by which a client has to wait longer each time that it polls too early (RFC 8628 §3.5)."""

TOLERANCE = 1
"""Seconds by which a poll may be early: times are whole seconds, and clocks of replicas differ. One in the second of the last is too early."""

LINGERS = 60
"""Seconds that an index outlives its last member: clocks of replicas differ."""

COUNT = """\
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count"""

COUNT_EACH = """\
local counts = {}
for i, key in ipairs(KEYS) do
  counts[i] = tonumber(redis.call('GET', key) or '0') + ARGV[2]
  if counts[i] > tonumber(ARGV[i + 2]) then return i end
end
for i, key in ipairs(KEYS) do
  redis.call('SET', key, string.format('%.0f', counts[i]), 'EX', ARGV[1])
end
return 0"""

UNCOUNT_EACH = """\
for _, key in ipairs(KEYS) do
  local count = tonumber(redis.call('GET', key) or '0') - ARGV[1]
  if count > 0 then
    redis.call('SET', key, string.format('%.0f', count), 'KEEPTTL')
  else
    redis.call('DEL', key)
  end
end"""

PACE = """\
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
local interval, last, early, attempt = string.match(value, '"(%d+) (%d+) (%d) (.+)"')
if attempt == ARGV[4] then return tonumber(early) end
local now = tonumber(ARGV[1])
interval, early = tonumber(interval), 0
if now - tonumber(last) < math.max(interval - tonumber(ARGV[2]), 1) then
  interval, early = interval + tonumber(ARGV[3]), 1
end
redis.call('SET', KEYS[1], string.format('"%d %d %d %s"', interval, now, early, ARGV[4]), 'KEEPTTL')
return early"""

COUNT_GUESS = """\
local value = redis.call('GET', KEYS[1]) or '0 0'
local count, locked_until = string.match(value, '(%d+) (%d+)')
local now, every = tonumber(ARGV[1]), tonumber(ARGV[2])
if now < tonumber(locked_until) then return 0 end
local seconds, until_then = 0, 0
count = count + 1
if count % every == 0 then
  seconds = tonumber(ARGV[math.min(3 + count / every, #ARGV)])
  until_then = now + seconds
end
redis.call('SET', KEYS[1], string.format('%d %d', count, until_then), 'EX', seconds + ARGV[3])
return count"""

PUT_NEW_FOR = """\
if not redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2], 'NX') then return 0 end
redis.call('DEL', KEYS[2])
return 1"""

REPLACE = """\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1"""

DROP = """\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])"""

LENGTHEN = """\
local left = redis.pcall('TTL', KEYS[1])
if type(left) == 'table' or left < tonumber(ARGV[1]) then
  return redis.call('EXPIRE', KEYS[1], ARGV[1])
end
return 1"""
"""The effect of EXPIRE with GT, for which Redis 6 is too old; a table is an error, from a Redis that permits no TTL."""

_END = f"""
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then redis.call('EXPIRE', KEYS[1], math.max(last[2] - ARGV[1], 0) + {LINGERS}) end"""
"""The index lives as long as the member that expires last."""

INDEX_ADD = f"""\
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[3]){_END}
return redis.call('ZCARD', KEYS[1])"""

INDEX_ADD_IF = f"""\
if redis.call('EXISTS', KEYS[2]) ~= tonumber(ARGV[4]) then return -1 end
if KEYS[3] then redis.call(ARGV[5], KEYS[3], unpack(ARGV, 6)) end
{INDEX_ADD}"""

INDEX_KEEP = f"""\
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  redis.call('ZADD', KEYS[1], ARGV[2], member)
end{_END}"""

INDEX_PAGE = """\
local low = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[1], '+inf')
local high = redis.call('ZCOUNT', KEYS[1], ARGV[1], '+inf')
while low < high do
  local middle = math.floor((low + high) / 2)
  local found = redis.call('ZRANGE', KEYS[1], -middle - 1, -middle - 1)
  if found[1] < ARGV[2] then high = middle else low = middle + 1 end
end
return redis.call('ZRANGE', KEYS[1], -low - ARGV[3], -low - 1, 'WITHSCORES')"""
"""Members of the same score are in the order of their bytes: where a page begins among them is searched by halves."""

ENQUEUE = """\
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. (ARGV[1] - ARGV[3]))
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])"""

TAKE = """\
local due = redis.call('ZADD', KEYS[1], 'XX', 'INCR', 0, ARGV[3])
if not due or tonumber(due) > tonumber(ARGV[1]) then return 0 end
if not redis.call(ARGV[4], KEYS[2], unpack(ARGV, 5)) then return 0 end
redis.call('ZADD', KEYS[1], 'XX', ARGV[2], ARGV[3])
return 1"""
"""The first command reads the score as ZSCORE does, which the Redis user documented earlier may not run."""


class Read(msgspec.Struct, Generic[T_co], frozen=True, gc=False):
    """One key to read, and the function that decodes its value."""

    key: str
    decode: Callable[[bytes], T_co]


def extend(key: str, ttl: int) -> Command:
    """Give a key that is there a new time to live; a key that is gone stays gone."""
    return ("EXPIRE", key, max(ttl, 1))


def lengthen(key: str, ttl: int) -> Command:
    """Give a key that is there at least this time to live; answers whether it is there, and else it stays gone."""
    return ("EVAL", LENGTHEN, 1, key, max(ttl, 1))


def drop(key: str) -> Command:
    """Remove a key."""
    return ("DEL", key)


def count(key: str, ttl: int) -> Command:
    """Add to a counter that lasts `ttl` seconds from its first use; answers the new count."""
    return ("EVAL", COUNT, 1, key, max(ttl, 1))


def count_each(limits: Mapping[str, int], ttl: int, amount: int) -> Command:
    """Add to counters of one slot, unless one has no room; answers the position of the first such from 1 on, else 0."""
    return ("EVAL", COUNT_EACH, len(limits), *limits, max(ttl, 1), amount, *limits.values())


def uncount_each(keys: Collection[str], amount: int) -> Command:
    """Take from counters of one slot, none of which falls below zero."""
    return ("EVAL", UNCOUNT_EACH, len(keys), *keys, amount)


def count_guess(key: str, now: int, *, every: int, locks: Sequence[int], kept: int) -> Command:
    """Count a guess unless there is a lock; each `every` of them begins the next lock, the last one of which is repeated.

    Answers how many there are, 0 while it is locked. They are forgotten `kept` seconds after the last one and its lock.
    """
    return ("EVAL", COUNT_GUESS, 1, key, now, every, kept, *locks)


def new_pace(interval: int) -> str:
    """Return the record by which polls are paced: the interval, and the time, judgement and id of the last one."""
    return f"{interval} 0 0 none"


def pace(key: str, now: int, attempt: str) -> Command:
    """Note a poll where polls are paced; answers 1 if it is too early, so that the interval is longer from now on."""
    return ("EVAL", PACE, 1, key, now, TOLERANCE, SLOWER, attempt)


def uncount(key: str) -> Command:
    """Take one off a counter, which does not fall below zero."""
    return uncount_each((key,), 1)


def replace(key: str, old: bytes | None, new: bytes) -> Command:
    """Put a value in the place of `old`, for the time that it has left; answers whether `old` was there.

    With None nothing must be stored yet, and the value stays.
    """
    if old is None:
        return ("SET", key, new, "NX")
    return ("EVAL", REPLACE, 1, key, old, new)


def drop_value(key: str, old: bytes) -> Command:
    """Remove a key that still has this value; answers whether it had."""
    return ("EVAL", DROP, 1, key, old)


def key_of(command: Command) -> str | None:
    """Return the key that a command is about; in a script it comes after the text and the number of keys.

    Further keys of a script lie in the same slot of a Cluster.
    """
    if command[0] == "PING":
        return None
    return str(command[3 if command[0] == "EVAL" else 1])


def steps(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Return the items, so many at a time as one step has; each step must wait for the store."""
    return (items[first : first + STEP] for first in range(0, len(items), STEP))
