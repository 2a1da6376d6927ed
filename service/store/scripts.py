"""Scripts for several commands that must be executed together, such as a write and its expiry.

Only a script is complete on a connection that dies in the middle of a write, in a Cluster, and on Redis 6.2.
"""

from __future__ import annotations

LINGERS = 60
"""Seconds that an index outlives its last member: clocks of replicas differ."""

COUNT = """\
local count, amount = 0, tonumber(ARGV[2])
for _ = 1, amount do count = redis.call('INCR', KEYS[1]) end
if count == amount then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
return count"""

REPLACE = """\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1"""

_END = f"""
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
if last[2] then redis.call('EXPIRE', KEYS[1], math.max(last[2] - ARGV[1], 0) + {LINGERS}) end"""
"""The index lives as long as the member that expires last."""

INDEX_ADD = f"""\
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3]){_END}
return redis.call('ZCARD', KEYS[1])"""

INDEX_KEEP = f"""\
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  redis.call('ZADD', KEYS[1], ARGV[2], member)
end{_END}"""

ENQUEUE = """\
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. (ARGV[1] - ARGV[3]))
redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])"""
