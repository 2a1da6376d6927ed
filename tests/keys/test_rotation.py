"""Replicas share one set of signing keys (RFC 7517 §5)."""

from __future__ import annotations

import asyncio
import json

import pytest

from service.events.operations import KeyAnnounced, KeyRetired, KeyRotated
from service.keys.schedule import LEAD
from service.keys.stored_keys import StoredKeys
from service.protocol.errors import TemporarilyUnavailable
from service.store.opening import open_store
from tests.keys.conftest import ENCRYPTION_KEY, Fleet

OTHER_KEY = bytes(32)


def published_kids(replica: StoredKeys) -> list[str]:
    return [key["kid"] for key in json.loads(replica.ring.public_jwks)["keys"]]


async def test_the_first_key_signs_at_once(fleet: Fleet) -> None:
    replica = await fleet.started("RS256", "ES256", "EdDSA")
    assert not replica.ring.missing
    assert [replica.ring.signing_key(alg).alg for alg in (None, "ES256", "EdDSA")] == [
        "RS256",
        "ES256",
        "EdDSA",
    ]


async def test_an_added_algorithm_signs_only_when_every_replica_publishes_its_key(
    fleet: Fleet,
) -> None:
    before, later = await fleet.started("ES256"), await fleet.started("EdDSA", "ES256")
    assert later.ring.missing == ("EdDSA",)  # it is not ready
    with pytest.raises(TemporarilyUnavailable):
        later.ring.signing_key()
    fleet.clock.forward(seconds=LEAD)
    await before.refresh()
    await later.refresh()
    assert later.ring.signing_key().alg == "EdDSA"
    assert set(published_kids(before)) == set(published_kids(later))


async def test_replicas_that_start_at_once_make_one_key_set(fleet: Fleet) -> None:
    replicas = await asyncio.gather(*[fleet.started("ES256", "RS256") for _ in range(8)])
    assert {tuple(published_kids(replica)) for replica in replicas} == {
        tuple(published_kids(replicas[0]))
    }
    assert len(published_kids(replicas[0])) == 2
    assert len(fleet.events) == 2


async def test_replicas_that_rotate_at_once_make_one_successor(fleet: Fleet) -> None:
    replicas = [await fleet.started() for _ in range(8)]
    fleet.clock.forward(days=76)
    await asyncio.gather(*[replica.refresh() for replica in replicas])
    assert {len(published_kids(replica)) for replica in replicas} == {2}
    assert {replica.ring.signing_key().kid for replica in replicas} == {
        published_kids(replicas[0])[0]
    }


async def test_a_successor_is_published_before_it_signs(fleet: Fleet) -> None:
    replica = await fleet.started()
    first = replica.ring.signing_key().kid
    fleet.clock.forward(days=76)
    await replica.refresh()
    assert replica.ring.signing_key().kid == first
    fleet.clock.forward(days=14)
    await replica.refresh()
    assert published_kids(replica) == [replica.ring.signing_key().kid, first]
    fleet.clock.forward(days=14)
    await replica.refresh()
    assert first not in published_kids(replica)


async def test_a_rotation_is_reported_once(fleet: Fleet) -> None:
    replicas = [await fleet.started() for _ in range(3)]
    first = replicas[0].ring.signing_key().kid
    for days in (76, 14):
        fleet.clock.forward(days=days)
        await asyncio.gather(*[replica.refresh() for replica in replicas])
    second = replicas[0].ring.signing_key().kid
    rotated_at = fleet.clock()
    assert fleet.events == [
        KeyAnnounced(kid=first, alg="ES256", sign_from=rotated_at - 90 * 86400),
        KeyAnnounced(kid=second, alg="ES256", sign_from=rotated_at),
        KeyRetired(kid=first, alg="ES256"),
        KeyRotated(kid=second, alg="ES256", predecessor=first),
    ]


async def test_the_store_holds_no_private_part(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "RS256", "EdDSA")
    stored = await fleet.kv.get("ts:keys") or b""
    private = [replica.ring.signing_key(alg).private_jwk for alg in ("ES256", "RS256", "EdDSA")]
    parts = [
        jwk[name] for jwk in private for name in ("d", "p", "q", "dp", "dq", "qi") if name in jwk
    ]
    assert len(parts) == 8
    assert not any(part.encode() in stored for part in parts)


async def test_the_published_keys_have_no_private_part(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "RS256", "EdDSA")
    members = {name for key in json.loads(replica.ring.public_jwks)["keys"] for name in key}
    assert members == {"kid", "alg", "use", "kty", "crv", "x", "y", "n", "e"}


async def test_a_replica_that_cannot_decrypt_the_active_key_is_not_ready(fleet: Fleet) -> None:
    await fleet.started()
    stored = await fleet.kv.get("ts:keys")
    fleet.clock.forward(days=80)
    stranger = await fleet.started(encryption_keys=[OTHER_KEY])
    assert stranger.ring.missing
    assert await fleet.kv.get("ts:keys") == stored
    with pytest.raises(TemporarilyUnavailable):
        stranger.ring.signing_key()


async def test_a_new_encryption_key_takes_over(fleet: Fleet) -> None:
    first = await fleet.started()
    both = await fleet.started(encryption_keys=[OTHER_KEY, ENCRYPTION_KEY])
    new_only = await fleet.started(encryption_keys=[OTHER_KEY])
    await first.refresh()
    assert published_kids(first) == published_kids(both) == published_kids(new_only)
    assert all(not replica.ring.missing for replica in (first, both, new_only))


async def test_a_retired_key_that_cannot_be_decrypted_is_left_out(fleet: Fleet) -> None:
    replica = await fleet.started()
    lost = replica.ring.signing_key().kid
    fleet.clock.forward(days=76)
    await replica.refresh()
    fleet.clock.forward(days=14)
    await replica.refresh()
    stored = await fleet.kv.get("ts:keys") or b""
    sealed = json.loads(stored)["keys"][0]["sealed"]
    await fleet.kv.replace("ts:keys", old=stored, new=stored.replace(sealed.encode(), b"gAAAA"))
    other = await fleet.started()
    assert not other.ring.missing
    assert other.ring.find(lost) is None


async def test_a_key_moved_to_another_name_is_not_used(fleet: Fleet) -> None:
    replica = await fleet.started()
    stored = await fleet.kv.get("ts:keys") or b""
    kid = replica.ring.signing_key().kid.encode()
    await fleet.kv.replace("ts:keys", old=stored, new=stored.replace(kid, b"somebody-elses"))
    assert (await fleet.started()).ring.missing


async def test_a_record_of_a_later_release_is_left_alone(fleet: Fleet) -> None:
    later = b'v3 {"keys":[]}'
    await fleet.kv.replace("ts:keys", old=None, new=later)
    replica = await fleet.started()
    assert replica.ring.missing
    assert await fleet.kv.get("ts:keys") == later


async def test_a_record_of_the_next_release_is_followed_and_not_overwritten(fleet: Fleet) -> None:
    signing = (await fleet.started()).ring.signing_key().kid
    ours = await fleet.kv.get("ts:keys") or b""
    later = b"v2 " + ours.replace(b"{", b'{"pepper":"x",', 1)
    await fleet.kv.replace("ts:keys", old=ours, new=later)
    fleet.clock.forward(days=76)
    replica = await fleet.started()
    assert replica.ring.signing_key().kid == signing
    assert await fleet.kv.get("ts:keys") == later


async def test_without_the_store_the_keys_stay_and_the_successor_takes_over(fleet: Fleet) -> None:
    replica = await fleet.started()
    fleet.clock.forward(days=76)
    await replica.refresh()
    successor = published_kids(replica)[1]
    replica.kv = open_store("redis://127.0.0.1:1", timeout=0.5)
    fleet.clock.forward(days=14)
    await replica.refresh()
    assert replica.ring.signing_key().kid == successor
    await replica.kv.close()


async def test_a_replica_without_the_store_starts_and_is_not_ready(fleet: Fleet) -> None:
    replica = fleet.replica(kv=open_store("redis://127.0.0.1:1", timeout=0.5))
    await replica.start()
    assert replica.ring.missing
    assert replica.ring.missing == ("ES256",)
    await replica.kv.close()
