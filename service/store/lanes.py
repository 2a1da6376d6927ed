"""A queue whose messages about one thing go one after the other: only the first of each lane is ever due."""

from __future__ import annotations

import msgspec

from service.clock import clock
from service.store.records import Queue
from service.store.verbs import Command

SIZE = """\
local function size_of(member)
  return tonumber(string.match(member, '^[^.]*[.][^.]*[.](%d+)[.]')) or 0
end
"""

LANE_ADD = (
    SIZE
    + """\
local now, member, ttl = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[5])
local expired = '(' .. (now - ttl)
local bytes, size = tonumber(redis.call('GET', KEYS[4]) or 0), size_of(member)
for _, one in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', expired)) do
  bytes = bytes - size_of(one)
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', expired)
local count = redis.call('ZCARD', KEYS[3])
if count == 0 then bytes = 0 end
if redis.call('EXISTS', KEYS[5]) == 0
    and (count >= tonumber(ARGV[3]) or bytes + size > tonumber(ARGV[4])) then
  return 0
end
redis.call(ARGV[6], KEYS[5], unpack(ARGV, 7))
bytes = bytes + size * redis.call('ZADD', KEYS[3], 'NX', now, member)
redis.call('SET', KEYS[4], bytes)
local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
redis.call('ZADD', KEYS[2], 'NX', (last[2] or 0) + 1, member)
local head = redis.call('ZRANGE', KEYS[2], 0, 0)
redis.call('ZADD', KEYS[1], 'NX', now, head[1])
for i = 1, 4 do redis.call('EXPIRE', KEYS[i], ttl) end
return 1"""
)
"""A head that waits for its next attempt keeps its time, because of NX."""

LANE_REMOVE = (
    SIZE
    + """\
redis.call('ZREM', KEYS[1], ARGV[2])
redis.call('ZREM', KEYS[2], ARGV[2])
if redis.call('ZREM', KEYS[3], ARGV[2]) == 1 then
  local bytes = tonumber(redis.call('GET', KEYS[4]) or 0)
  redis.call('SET', KEYS[4], bytes - size_of(ARGV[2]), 'EX', ARGV[3])
end
local head = redis.call('ZRANGE', KEYS[2], 0, 0)
if head[1] then
  redis.call('ZADD', KEYS[1], 'NX', ARGV[1], head[1])
  redis.call('EXPIRE', KEYS[1], ARGV[3])
end
return 1"""
)


class Lanes(msgspec.Struct, frozen=True):
    """A queue of the heads of lanes, with all that wait behind them.

    A member is `place.lane.size.rest`: so many members of so many bytes may wait for one place, and those of one lane are in order.
    All keys are in one slot, and each change is one script, so that no crash leaves a lane without its head.
    """

    heads: Queue
    limit: int
    """Members that may wait for one place."""
    bytes_limit: int
    """Bytes that these may have in all."""

    @property
    def selector(self) -> str:
        return self.heads.selector

    def append(self, member: str, record: Command) -> Command:
        """Add a member at the end of its lane, and run the command that writes its record; answers 0 if the place is full."""
        keys = (*self._keys(member), record[1])
        limits = (self.limit, self.bytes_limit, self.heads.ttl)
        noted = (clock(), member, *limits, record[0], *record[2:])
        return ("EVAL", LANE_ADD, len(keys), *keys, *noted)

    def add(self, member: str, *, seconds: int = 0) -> Command:
        """Let the head of a lane be due in so many seconds."""
        return self.heads.defer(member, seconds=seconds)

    def defer(self, member: str, *, seconds: int) -> Command:
        return self.heads.defer(member, seconds=seconds)

    def revive(self, member: str, record: Command) -> tuple[Command, ...]:
        """Add a member that has left its lane at its end; a head is due now."""
        return self.append(member, record), self.heads.defer(member, seconds=0)

    def take(self, member: str, *, seconds: int, lease: Command) -> Command:
        return self.heads.take(member, seconds=seconds, lease=lease)

    def due(self, *, at_most: int) -> Command:
        return self.heads.due(at_most=at_most)

    def count(self) -> Command:
        return self.heads.count()

    def first(self, *, start: int, count: int) -> Command:
        return self.heads.first(start=start, count=count)

    def remove(self, member: str) -> Command:
        """Remove a member; the next one of its lane is due now."""
        keys = self._keys(member)
        return ("EVAL", LANE_REMOVE, len(keys), *keys, clock(), member, self.heads.ttl)

    def count_waiting(self, place: str) -> Command:
        """Ask how many members wait for a place, heads and others."""
        return ("ZCARD", self._waiting(place))

    def _keys(self, member: str) -> tuple[str, str, str, str]:
        place, lane, _ = member.split(".", 2)
        heads = self.heads.key
        return heads, f"{heads}l:{place}.{lane}", self._waiting(place), f"{heads}b:{place}"

    def _waiting(self, place: str) -> str:
        return f"{self.heads.key}w:{place}"
