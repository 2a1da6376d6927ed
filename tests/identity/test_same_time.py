"""The time of a refusal discloses neither accounts nor locks, and a lock saves the hash (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace

from service.config.schema.server import Limits
from service.identity import passwords as module
from service.identity.hashing import hash_password
from service.identity.password_sign_in import PasswordSignIn
from service.identity.passwords import FairTurns, Passwords
from service.identity.refusal_costs import RefusalCosts
from service.identity.throttle import Throttle
from service.identity.users import FileUsers
from service.model.password_hash import USUAL, PasswordHash, RefusalCost, parse_hash
from service.model.user import User
from service.store.keyvalue import KeyValue
from service.store.stores import PASSWORDS, Stores
from tests.conftest import Clock
from tests.identity import people
from tests.identity.people import ADDRESS, BOB, PASSWORD, REGISTRY, Live

ALICE = replace(people.ALICE, password=hash_password(PASSWORD))
"""Her hash has the usual cost."""
BCRYPT = replace(ALICE, password="$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe")
"""Costs less than the usual hash, and more than the cheap one."""
DJANGO = replace(
    BOB, password="pbkdf2_sha256$300000$seasalt$r1uLUxoxpP2Ued/qxvmje7UH9PUJBkRrvf9gGPL7Cps="
)
"""Costs more than all others."""
CHEAP = replace(BOB, password=PasswordHasher(1, 64, 1).hash(PASSWORD))
SLOW_BCRYPT = replace(ALICE, password="$2b$10$" + "." * 53)
NOBODY = Live(replace(REGISTRY, users=()))
"""Of a registry whose users are in another system."""
SLOW = replace(ALICE, password=PasswordHasher(3, 19456, 1).hash(PASSWORD))
"""Costs a little more than the usual hash, and less than the slow one of bcrypt and Django's."""


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The shapes of all hashes that were computed: what their time depends on."""
    shapes, matches = list[object](), vars(module)["matches"]

    def record_shape(password: str, stored: PasswordHash) -> bool:
        shapes.append(stored.shape)
        return bool(matches(password, stored))

    monkeypatch.setattr(module, "matches", record_shape)
    return shapes


def shape_of(user: User) -> object:
    return parse_hash(str(user.password)).shape


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long refusals waited, which takes no time here."""
    seconds, sleep = list[float](), asyncio.sleep

    async def record_delay(delay: float) -> None:
        seconds.append(delay)
        await sleep(0)

    monkeypatch.setattr("service.identity.passwords.asyncio.sleep", record_delay)
    return seconds


@pytest.mark.parametrize(
    ("users", "slowest"),
    [
        ((), None),
        ((CHEAP,), CHEAP),
        ((CHEAP, ALICE), ALICE),
        ((SLOW, CHEAP, ALICE), SLOW),
        ((replace(ALICE, password=None), CHEAP), CHEAP),
        ((CHEAP, BCRYPT), BCRYPT),
        ((SLOW, DJANGO, BCRYPT), DJANGO),
        ((replace(ALICE, password="$1$salt$qJH7.N4xYta3aEG/dfqo/0"), CHEAP), CHEAP),
    ],
    ids=[
        *("nobody", "all cheap", "the usual and a cheap one", "a slow one"),
        *("none without password", "bcrypt", "mixed formats", "an unknown format"),
    ],
)
async def test_unknown_user_costs_as_much_as_the_slowest_user(
    sign_in: PasswordSignIn,
    registry: Live,
    hashed: list[object],
    users: tuple[User, ...],
    slowest: User | None,
) -> None:
    registry.current = replace(REGISTRY, users=users)
    assert await sign_in.verify("mallory", "guess", address=ADDRESS) is None
    assert {*hashed} == {shape_of(slowest) if slowest else USUAL.shape}


async def test_slowest_hash_of_a_user_store_sets_the_cost() -> None:
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    for user in (DJANGO, CHEAP, BCRYPT):
        await passwords.verifies("guess", user.password)
    assert passwords.decoy.shape == shape_of(DJANGO)


async def test_a_slower_hash_ends_the_shorter_times_of_refusals() -> None:
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    await passwords.even_out(0.1, full_cost=True)
    passwords.learn_costs([DJANGO])
    assert not passwords.refusal_times


class Unlisted(FileUsers):
    """Users of a system that has hashes, and tells nobody the names."""

    async def list_users(self, prefix: str, limit: int) -> Sequence[User]:
        raise NotImplementedError


Replica = Callable[..., PasswordSignIn]


@pytest.fixture
def replica(kv: KeyValue, stores: Stores) -> Replica:
    """Start another process on the same store."""

    def start(*users: User, kind: type[FileUsers] = Unlisted) -> PasswordSignIn:
        known, passwords = kind(Live(replace(REGISTRY, users=users))), Passwords(NOBODY)
        return PasswordSignIn(
            users=known,
            passwords=passwords,
            costs=RefusalCosts(users=known, passwords=passwords, stores=stores),
            turns=FairTurns(),
            throttle=Throttle(kv=kv, prefix="ts", limits=Limits()),
            emit=list[object]().append,
        )

    return start


async def refuse(at: PasswordSignIn, *usernames: str) -> None:
    for username in usernames:
        assert await at.verify(username, "guess", address=ADDRESS) is None


@pytest.mark.parametrize("password", ["guess", PASSWORD], ids=["wrong", "right"])
async def test_slow_hash_that_one_replica_met_sets_the_cost_at_all(
    replica: Replica, hashed: list[object], password: str
) -> None:
    running, other = replica(SLOW), replica(SLOW)
    await refuse(running, "mallory")
    await other.verify("alice", password, address=ADDRESS)
    hashed.clear()
    await refuse(running, "mallory")
    await refuse(replica(SLOW), "mallory")
    assert {*hashed} == {shape_of(SLOW)}


async def test_faster_hash_does_not_replace_a_slower_one_for_all(
    replica: Replica, hashed: list[object]
) -> None:
    await refuse(replica(DJANGO), "bob")
    faster = replica(SLOW)
    await refuse(faster, "alice")
    hashed.clear()
    await refuse(replica(), "mallory")
    assert {*hashed} == {shape_of(DJANGO)}


async def test_replica_without_bcrypt_leaves_a_slower_hash_of_it_for_the_others(
    replica: Replica, hashed: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    await refuse(replica(SLOW_BCRYPT), "alice")
    with monkeypatch.context() as without_bcrypt:
        without_bcrypt.setattr(module, "can_verify", lambda known: known.scheme != "bcrypt")
        await refuse(replica(SLOW), "alice")
    hashed.clear()
    await refuse(replica(), "mallory")
    assert {*hashed} == {shape_of(SLOW_BCRYPT)}


async def test_cost_that_the_store_has_lost_is_written_again_by_who_met_it(
    replica: Replica, stores: Stores, hashed: list[object]
) -> None:
    who = replica(SLOW)
    await refuse(who, "alice")
    await stores.kv.write(stores.refusal_costs.drop(PASSWORDS))
    await refuse(who, "mallory")
    hashed.clear()
    await refuse(replica(), "mallory")
    assert {*hashed} == {shape_of(SLOW)}


async def test_first_meeting_of_each_process_prolongs_what_is_known(
    replica: Replica, stores: Stores
) -> None:
    await refuse(replica(SLOW), "alice")
    key = stores.refusal_costs.key(PASSWORDS)
    await stores.kv.write(("EXPIRE", key, 60))
    await refuse(replica(SLOW), "alice")
    (left,) = await stores.kv.write(("TTL", key))
    assert left > 60


@pytest.mark.parametrize(
    "decoy",
    ["$2b$16$" + "." * 53, "$argon2id$v=19$m=4194304,t=1,p=1$AAAAAAAAAAA$" + "A" * 43, "$new$1"],
    ids=["too slow", "too large", "of a later release"],
)
async def test_no_replica_takes_over_what_it_would_not_compute_for_a_user(
    replica: Replica, stores: Stores, hashed: list[object], decoy: str
) -> None:
    cost = RefusalCost(decoy=decoy)
    await stores.kv.write(stores.refusal_costs.put(cost, PASSWORDS, ttl=60))
    await refuse(replica(), "mallory")
    assert {*hashed} == {USUAL.shape}


class Directory(Unlisted):
    """Verifies passwords itself, and is quicker where it knows nobody."""

    verifies_passwords = True


async def test_time_of_another_system_s_refusal_is_known_to_a_new_process(
    replica: Replica, waited: list[float]
) -> None:
    await refuse(replica(ALICE, kind=Directory), "alice")
    await refuse(replica(ALICE, kind=Directory), "mallory")
    assert len(waited) == 1


@pytest.mark.usefixtures("waited")
async def test_each_process_shares_the_present_time_of_another_system_once_a_day(
    replica: Replica, stores: Stores, clock: Clock
) -> None:
    running = replica(ALICE, kind=Directory)
    shared = []
    for hours in (0, 1, 24):
        clock.forward(hours=hours)
        await stores.kv.write(stores.refusal_costs.put(RefusalCost(seconds=4), PASSWORDS, ttl=60))
        await refuse(running, "alice")
        (cost,) = await stores.kv.read(stores.refusal_costs.read(PASSWORDS))
        shared.append(cost is not None and cost.seconds == 4)
    assert shared == [False, True, False]


async def test_process_that_measured_nothing_follows_what_others_measure(
    replica: Replica, stores: Stores, waited: list[float]
) -> None:
    running = replica(kind=Directory)
    for seconds in (4, 1):
        cost = RefusalCost(seconds=seconds)
        await stores.kv.write(stores.refusal_costs.put(cost, PASSWORDS, ttl=60))
        await refuse(running, "mallory")
    assert [round(each) for each in waited] == [4, 1]


@pytest.fixture
def alice_and_cheap(registry: Live) -> None:
    registry.current = replace(REGISTRY, users=(ALICE, CHEAP))


async def test_a_locked_attempt_costs_no_hash(
    sign_in: PasswordSignIn, hashed: list[object], waited: list[float]
) -> None:
    for _ in range(6):
        assert await sign_in.verify("alice", "wrong", address=ADDRESS) is None
    assert len(hashed) == 1 + 2
    assert len(waited) == 4


@pytest.mark.usefixtures("alice_and_cheap")
@pytest.mark.parametrize(
    ("username", "own"),
    [("mallory", ALICE), ("alice", ALICE), ("bob", CHEAP), ("locked", None)],
    ids=["unknown", "slowest hash", "cheaper hash", "locked"],
)
async def test_first_refusal_of_a_process_is_measured_for_any_user(
    sign_in: PasswordSignIn,
    hashed: list[object],
    waited: list[float],
    username: str,
    own: User | None,
) -> None:
    """Refusals that compute less wait for the rest."""
    for _ in range(2):
        await sign_in.throttle.count_failure("locked", ADDRESS)
    assert await sign_in.verify(username, "guess", address=ADDRESS) is None
    assert hashed == [shape_of(ALICE), *([shape_of(own)] if own else [])]
    assert bool(waited) is (own is not ALICE)


@pytest.mark.usefixtures("alice_and_cheap")
async def test_a_refusal_that_was_cheaper_takes_as_long_as_the_others(
    sign_in: PasswordSignIn, waited: list[float]
) -> None:
    await sign_in.verify("mallory", "wrong", address=ADDRESS)
    await sign_in.verify("bob", "wrong", address=ADDRESS)
    assert len(waited) == 1


async def test_cheaper_refusal_waits_for_the_rest_of_the_time(
    registry: Live, waited: list[float]
) -> None:
    times = Passwords(registry)
    await times.even_out(0.2, full_cost=False)
    await times.even_out(5.0, full_cost=True)
    await times.even_out(0.5, full_cost=False)
    assert waited == [4.5]
