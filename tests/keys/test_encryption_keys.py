"""Keys that request objects are encrypted to rotate like the signing keys (OIDC Core §10.2.1)."""

from __future__ import annotations

import json
from functools import partial

import pytest

from service.events.operations import KeyAnnounced
from service.keys.jwe import decrypt, encrypt
from service.keys.key_source import encryption_algorithms
from service.keys.stored_keys import StoredKeys
from tests.driving.service import RunningService
from tests.keys.conftest import ENCRYPTION_KEY, Fleet

pytestmark = pytest.mark.rfc("openid-core#10.2.1", "8725#2.7")


def published_kids(replica: StoredKeys) -> dict[str, str]:
    """The key ids in the JWKS, by algorithm."""
    return {key["alg"]: key["kid"] for key in json.loads(replica.ring.public_jwks)["keys"]}


async def test_a_replica_decrypts_by_the_key_that_another_one_published(fleet: Fleet) -> None:
    first = await fleet.started("ES256", "ECDH-ES")
    other = await fleet.started("ES256", "ECDH-ES")
    assert published_kids(first) == published_kids(other)
    (key,) = first.ring.decryption_keys("ECDH-ES", published_kids(other)["ECDH-ES"])
    (own,) = other.ring.decryption_keys("ECDH-ES", None)
    assert await decrypt(encrypt(b"request", key, enc="A128GCM", cty=None), own) == b"request"


async def test_only_the_current_key_is_published_and_all_decrypt(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "ECDH-ES")
    states = [
        (published_kids(replica)["ECDH-ES"], len(replica.ring.decryption_keys("ECDH-ES", None)))
    ]
    for days in (76, 14, 14):
        fleet.clock.forward(days=days)
        await replica.refresh()
        held = len(replica.ring.decryption_keys("ECDH-ES", None))
        states.append((published_kids(replica)["ECDH-ES"], held))
    first, second = states[0][0], states[-1][0]
    assert states == [(first, 1), (first, 2), (second, 2), (second, 1)]


async def test_a_key_that_no_client_needs_is_not_published(fleet: Fleet) -> None:
    await fleet.started("ES256", "ECDH-ES")
    replica = await fleet.started("ES256")
    assert list(published_kids(replica)) == ["ES256"]
    assert len(replica.ring.decryption_keys("ECDH-ES", None)) == 1
    for days in (90, 14):
        fleet.clock.forward(days=days)
        await replica.refresh()
    assert replica.ring.decryption_keys("ECDH-ES", None) == ()


async def test_the_store_holds_no_private_part_of_it(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "RSA-OAEP-256")
    (key,) = replica.ring.decryption_keys("RSA-OAEP-256", None)
    stored = await fleet.kv.get("ts:keys") or b""
    assert not any(
        key.private_jwk[name].encode() in stored for name in ("d", "p", "q", "dp", "dq", "qi")
    )


async def test_keys_are_rotated_by_hand_together(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "ECDH-ES")
    await replica.rotate(at_once=False)
    announced = [event.alg for event in fleet.events if isinstance(event, KeyAnnounced)]
    assert announced == ["ES256", "ECDH-ES"] * 2


async def test_a_replica_without_the_decryption_key_changes_nothing(fleet: Fleet) -> None:
    await fleet.started("ES256", "ECDH-ES")
    stored = await fleet.kv.get("ts:keys") or b""
    sealed = json.loads(stored)["keys"][1]["sealed"].encode()
    await fleet.kv.replace("ts:keys", old=stored, new=(broken := stored.replace(sealed, b"gAAAA")))
    fleet.clock.forward(days=80)
    other = await fleet.started("ES256", "ECDH-ES", encryption_keys=[ENCRYPTION_KEY])
    assert other.ring.decryption_keys("ECDH-ES", None) == ()
    assert await fleet.kv.get("ts:keys") == broken


async def test_no_encryption_key_is_made_by_default(service: RunningService) -> None:
    keys = (await service.get("/.well-known/jwks.json"))["keys"]
    assert {key["use"] for key in keys} == {"sig"}
    clients = service.features.shared.registry.current.clients.values()
    made = partial(encryption_algorithms, clients, configured=())
    assert made(registration=False) == ()
    assert made(registration=True) == ("RSA-OAEP-256", "ECDH-ES")
