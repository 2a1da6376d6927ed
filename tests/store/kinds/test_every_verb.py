"""Every verb on every kind of store: what it answers, that it bears repetition, and that its keys are in one slot."""

from __future__ import annotations

from inspect import isfunction
from typing import get_type_hints

import pytest
from redis.crc import key_slot

from service.clock import clock
from service.model.authorization import Spent
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.lanes import Lanes
from service.store.records import Index, Queue, Records, used_once, was_won
from service.store.verbs import Command, Read
from tests.driving.redis_servers import RedisCluster

pytestmark = pytest.mark.needs("redis-server")

NOW = clock()
LATER = NOW + 3600

RECORDS = Records("ts", "x", str)
CODES = used_once(RECORDS)
INDEX = Index("ts", "i", 100)
QUEUE = Queue("ts", "q", "q", 600)
LANES = Lanes(Queue("ts", "lanes", "q", 600), 2, 1000)

SAMPLES: dict[str, Command] = {
    "verbs.extend": verbs.extend(RECORDS.key("v"), 60),
    "verbs.lengthen": verbs.lengthen(RECORDS.key("v"), 60),
    "verbs.drop": verbs.drop(RECORDS.key("v")),
    "verbs.count": verbs.count(RECORDS.key("count"), 60),
    "verbs.count_each": verbs.count_each(
        {RECORDS.key("count", "a"): 9, RECORDS.key("count", "b"): 9}, 60, 2
    ),
    "verbs.uncount_each": verbs.uncount_each(
        [RECORDS.key("count", "a"), RECORDS.key("count", "b")], 2
    ),
    "verbs.uncount": verbs.uncount(RECORDS.key("count")),
    "verbs.count_guess": verbs.count_guess(
        RECORDS.key("count_guesses"), LATER, every=5, locks=[60, 120], kept=60
    ),
    "verbs.pace": verbs.pace(RECORDS.key("pace"), LATER, "attempt"),
    "verbs.replace": verbs.replace(RECORDS.key("v"), b'"old"', b'"new"'),
    "verbs.drop_value": verbs.drop_value(RECORDS.key("v"), b'"old"'),
    "Records.put": RECORDS.put("new", "r", ttl=60),
    "Records.put_lasting": RECORDS.put_lasting("new", "r"),
    "Records.put_new": RECORDS.put_new("new", "r", ttl=60),
    "Records.put_new_for": RECORDS.put_new_for(
        "new", "r", ttl=60, used_up=RECORDS.key("r", "used")
    ),
    "Records.swap": RECORDS.swap("new", "r", ttl=60),
    "Records.rewrite": RECORDS.rewrite("new", "r"),
    "Records.extend": RECORDS.extend("r", ttl=60),
    "Records.lengthen": RECORDS.lengthen("r", ttl=60),
    "Records.exists": RECORDS.exists("r"),
    "Records.drop": RECORDS.drop("r"),
    "Index.add": INDEX.add("i", "new", expires_at=LATER),
    "Index.add_if": INDEX.add_if(
        *("i", "new"),
        expires_at=LATER,
        source=RECORDS.key("i"),
        exists=False,
        write=RECORDS.put("new", "i", "of", ttl=60),
    ),
    "Index.keep": INDEX.keep("i", expires_at=LATER),
    "Index.members": INDEX.members("i"),
    "Index.first": INDEX.first("i", count=5),
    "Index.last": INDEX.last("i", count=5),
    "Index.count": INDEX.count("i"),
    "Index.exist": INDEX.exist("i", ["of", "other"]),
    "Index.page": INDEX.page("i", None, count=5),
    "Index.remove": INDEX.remove("i", "old"),
    "Index.drop": INDEX.drop("i"),
    "Queue.add": QUEUE.add("new", seconds=3600),
    "Queue.defer": QUEUE.defer("old", seconds=3600),
    "Queue.take": QUEUE.take("old", seconds=60, lease=RECORDS.put_new("", "q", "lease", ttl=60)),
    "Queue.due": QUEUE.due(at_most=5),
    "Queue.count": QUEUE.count(),
    "Queue.first": QUEUE.first(start=0, count=5),
    "Queue.remove": QUEUE.remove("old"),
    "Lanes.append": LANES.append("p.l.new", RECORDS.put("new", "lanes", "p.l.new", ttl=60)),
    "Lanes.add": LANES.add("p.l.old", seconds=3600),
    "Lanes.defer": LANES.defer("p.l.old", seconds=3600),
    "Lanes.take": LANES.take(
        "p.l.old", seconds=60, lease=RECORDS.put_new("", "lanes", "lease", ttl=60)
    ),
    "Lanes.due": LANES.due(at_most=5),
    "Lanes.count": LANES.count(),
    "Lanes.first": LANES.first(start=0, count=5),
    "Lanes.count_waiting": LANES.count_waiting("p"),
    "Lanes.remove": LANES.remove("p.l.old"),
}
"""One command of each verb."""


def every_verb() -> set[str]:
    """The functions that make a command, by the names of the module or class that they belong to."""
    places: dict[str, object] = {"verbs": verbs, "Records": Records, "Index": Index}
    places |= {"Queue": Queue, "Lanes": Lanes}
    return {
        f"{place}.{name}"
        for place, owner in places.items()
        for name, found in vars(owner).items()
        if isfunction(found) and get_type_hints(found).get("return") == Command
    }


def test_every_verb_has_a_sample() -> None:
    assert every_verb() == SAMPLES.keys()


def key_of(command: Command) -> str:
    """Return the key that a command is about."""
    return str(command[3 if command[0] == "EVAL" else 1])


async def prepare(kv: KeyValue, key: str) -> None:
    """Store something of the right kind under a key."""
    await kv.write(verbs.drop(key))
    if key.endswith((":i", ":q", ":qw:p")):
        await kv.write(("ZADD", key, NOW + 3500, "old"))
    elif "pace" in key:
        await kv.write(RECORDS.put(verbs.new_pace(5), "pace", ttl=30))
    elif "count" not in key:
        await kv.write(("SET", key, b'"old"', "EX", 30))


async def content(kv: KeyValue, key: str) -> object:
    """Return what a key holds."""
    if key.endswith((":i", ":q", ":qw:p")):
        return await kv.write(
            ("ZRANGEBYSCORE", key, f"({NOW}", "+inf"), ("ZCOUNT", key, f"({NOW + 3550}", "+inf")
        )
    return await kv.read(Read(key, bytes))


COUNTERS = {"verbs.count", "verbs.count_each", "verbs.count_guess"}


@pytest.mark.parametrize("verb", SAMPLES)
async def test_a_verb_may_be_repeated_when_its_answer_was_lost(kv: KeyValue, verb: str) -> None:
    command = SAMPLES[verb]
    key = key_of(command)
    await prepare(kv, key)
    await kv.write(command)
    once = await content(kv, key)
    await kv.write(command)
    # A counter goes on, which refuses a caller one request earlier; nothing else sees a difference.
    assert (await content(kv, key) == once) is (verb not in COUNTERS)


async def test_counters_are_counted_in_their_order_up_to_the_full_one(kv: KeyValue) -> None:
    narrow, wide, after = [RECORDS.key("limits", name) for name in ("narrow", "wide", "after")]
    await kv.write(*map(verbs.drop, (narrow, wide, after)))
    limits = {narrow: 10**13, wide: 5 * 10**12, after: 10**13}
    answers = [await kv.write(verbs.count_each(limits, 60, 2 * 10**12)) for _ in range(3)]
    assert answers == [[0], [0], [2]]
    counts = [await kv.get(key) for key in (narrow, wide, after)]
    assert counts == [b"4000000000000"] * 3


async def test_no_counter_falls_below_zero(kv: KeyValue) -> None:
    counter = RECORDS.key("n")
    await kv.write(verbs.drop(counter), verbs.count(counter, 60), verbs.uncount(counter))
    await kv.write(verbs.uncount(counter), verbs.uncount(counter))
    assert await kv.write(verbs.count(counter, 60)) == [1]


async def test_each_verb_answers_as_it_says(kv: KeyValue) -> None:
    counter = RECORDS.key("n")
    await kv.write(*[RECORDS.drop(one) for one in "abn"], INDEX.drop("d"))
    new = await kv.write(RECORDS.put_new("1", "a", ttl=60), RECORDS.put_new("2", "a", ttl=60))
    assert list(map(bool, new)) == [True, False]
    swapped = await kv.write(RECORDS.swap("3", "a", ttl=60), RECORDS.swap("3", "b", ttl=60))
    assert swapped == [b'"1"', None]
    there = await kv.write(RECORDS.exists("a"), RECORDS.exists("b"), verbs.count(counter, 60))
    assert there == [1, 0, 1]
    added = await kv.write(
        INDEX.add("d", "m", expires_at=LATER),
        INDEX.members("d"),
        RECORDS.drop("a"),
    )
    assert added == [1, [b"m"], 1]


async def test_what_is_queued_is_taken_only_while_it_is_due_and_not_leased(kv: KeyValue) -> None:
    lease = RECORDS.put_new("", "q", "lease", ttl=60)
    take, leased = QUEUE.take("m", seconds=60, lease=lease), RECORDS.exists("q", "lease")
    free = RECORDS.drop("q", "lease")
    *_, due, again, there = await kv.write(free, QUEUE.add("m"), take, take, leased)
    assert (due, again, there) == (1, 0, 1)
    *_, given_back = await kv.write(free, QUEUE.add("m", seconds=5), take)
    *_, others = await kv.write(lease, QUEUE.add("m"), take)
    *_, removed, there = await kv.write(free, QUEUE.remove("m"), take, leased)
    assert (given_back, others, removed, there) == (0, 0, 0, 0)


async def test_the_next_member_of_a_lane_is_due_when_the_one_before_it_is_removed(
    kv: KeyValue,
) -> None:
    lanes = Lanes(Queue("ts", "lanes", "due", 600), 3, 1000)
    members = ("p.a.1", "p.a.2", "p.b.1", "p.b.2")
    records = [RECORDS.put("", "lanes", one, ttl=60) for one in members]
    added = await kv.write(*map(lanes.append, members, records), lanes.count_waiting("p"))
    assert added == [1, 1, 1, 0, 3]
    assert (await kv.write(lanes.due(at_most=9))) == [[b"p.a.1", b"p.b.1"]]
    later = lanes.add("p.a.1", seconds=60)
    again = lanes.append("p.a.1", records[0])
    assert (await kv.write(later, again, lanes.due(at_most=9)))[2] == [b"p.b.1"]
    removed = await kv.write(*map(lanes.remove, ("p.a.1", "p.b.1")), lanes.due(at_most=9))
    assert removed[2] == [b"p.a.2"]
    revived = await kv.write(*lanes.revive("p.b.2", records[3]), lanes.due(at_most=9))
    assert revived[2] == [b"p.a.2", b"p.b.2"]


@pytest.mark.parametrize("exists", [True, False])
async def test_a_record_is_added_only_while_its_source_exists_or_only_while_it_does_not(
    kv: KeyValue, exists: bool
) -> None:
    there, gone = RECORDS.put("", "w", "source", ttl=60), RECORDS.drop("w", "source")
    right, wrong = (there, gone) if exists else (gone, there)
    add = INDEX.add_if(
        *("w", "m"),
        expires_at=LATER,
        source=RECORDS.key("w", "source"),
        exists=exists,
        write=RECORDS.put("1", "w", "new", ttl=60),
    )
    look = (RECORDS.exists("w", "new"), INDEX.members("w"))
    await kv.write(INDEX.drop("w"), RECORDS.drop("w", "new"))
    assert (await kv.write(wrong, add, *look))[1:] == [-1, 0, []]
    assert (await kv.write(right, add, *look))[1:] == [1, 1, [b"m"]]


async def test_a_record_is_lengthened_and_never_shortened(kv: KeyValue) -> None:
    left: Command = ("TTL", RECORDS.key("longer"))
    _, longer, short, shorter, same, unknown, gone = await kv.write(
        RECORDS.put("", "longer", ttl=60),
        RECORDS.lengthen("longer", ttl=3600),
        left,
        RECORDS.lengthen("longer", ttl=60),
        left,
        RECORDS.lengthen("unknown", ttl=60),
        RECORDS.exists("unknown"),
    )
    assert 3590 < short <= 3600
    assert 3590 < same <= 3600
    assert (longer, shorter, unknown, gone) == (1, 1, 0, 0)


async def test_a_member_is_never_noted_for_a_shorter_time(kv: KeyValue) -> None:
    *_, members = await kv.write(
        INDEX.drop("longer"),
        INDEX.add("longer", "m", expires_at=LATER),
        INDEX.add("longer", "m", expires_at=NOW),
        INDEX.members("longer"),
    )
    assert members == [b"m"]


async def test_an_early_poll_makes_the_interval_longer(kv: KeyValue) -> None:
    key = RECORDS.key("paced")
    polls = [(0, "a"), (4, "b"), (5, "c"), (5, "c"), (14, "d"), (22, "e"), (26, "f"), (45, "g")]
    await kv.write(RECORDS.put(verbs.new_pace(5), "paced", ttl=60))
    early = await kv.write(*[verbs.pace(key, NOW + after, who) for after, who in polls])
    assert early == [0, 0, 1, 1, 0, 1, 1, 0]
    assert await kv.write(verbs.pace(RECORDS.key("unpaced"), NOW, "a")) == [0]


async def test_a_record_is_used_by_one_attempt(kv: KeyValue) -> None:
    _, *before = await kv.write(
        CODES.put("new", "c", "d", ttl=60),
        *[CODES.swap(Spent(attempt=one, at=NOW), "c", "d", ttl=60) for one in ("a", "a", "b")],
        CODES.swap(Spent(attempt="a", at=NOW), "c", "unknown", ttl=60),
    )
    won = [was_won(one, attempt=who) for one, who in zip(before, "aaba", strict=True)]
    assert won == [True, True, False, False]


async def test_many_keys_are_read_in_the_requested_order(kv: KeyValue) -> None:
    numbers = [str(number) for number in range(100)]
    await kv.write(*[RECORDS.put(one, one, ttl=60) for one in numbers])
    assert await kv.read(*[RECORDS.read(one) for one in numbers]) == tuple(numbers)


async def test_all_keys_are_found_wherever_they_are(kv: KeyValue) -> None:
    await kv.write(*[RECORDS.put("", f"walk-{number}", ttl=60) for number in range(100)])
    found = [key async for key in kv.find_keys("ts:{walk-*}:x")]
    assert sorted(found) == sorted(f"ts:{{walk-{number}}}:x" for number in range(100))


async def test_compare_and_set_has_one_winner(kv: KeyValue) -> None:
    await kv.write(verbs.drop("ts:lasting"))
    assert await kv.replace("ts:lasting", old=None, new=b"1")
    assert not await kv.replace("ts:lasting", old=None, new=b"2")
    assert not await kv.replace("ts:lasting", old=b"2", new=b"3")
    assert await kv.replace("ts:lasting", old=b"1", new=b"4")
    assert await kv.get("ts:lasting") == b"4"


async def test_redis_says_how_full_it_is(kv: KeyValue) -> None:
    memory = await kv.read_memory()
    assert memory is not None
    assert memory.used > 0
    assert (memory.limit, memory.evicting_policy) == (0, None)


@pytest.mark.parametrize("verb", SAMPLES)
def test_redis_finds_the_keys_of_a_verb_in_one_slot(three_masters: RedisCluster, verb: str) -> None:
    command = SAMPLES[verb]
    keys = three_masters.masters[0].tell("COMMAND", "GETKEYS", *command)
    assert keys[0] == key_of(command).encode()
    assert len({*map(key_slot, keys)}) == 1
