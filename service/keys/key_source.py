"""Chooses where the service's keys come from, the store or the operator's files, and follows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Never

import structlog

from service.config.schema.server import Signing
from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.key_files import DEFAULT_ENCRYPTION, FileKeys
from service.keys.keyring import KeyRing
from service.keys.schedule import FOLLOW_EVERY, RotationPolicy
from service.keys.sealing import Seal, Vault
from service.keys.stored_keys import StoredKeys
from service.model.client import Client
from service.model.events import Emit
from service.model.timings import ignore_timing
from service.store.keyvalue import KeyValue

log = structlog.stdlib.get_logger(__name__)


KeySource = FileKeys | StoredKeys


def build_key_source(
    settings: Signing,
    *,
    kv: KeyValue,
    prefix: str,
    longest_token: Callable[[], int],
    encryption: Callable[[], Sequence[str]],
    now: Callable[[], int],
    emit: Emit,
    timed: Emit = ignore_timing,
) -> KeySource:
    """Return the source that the configuration names; KeyFileError if a file of it is wrong.

    `longest_token` and `encryption` are called each time: a reload may change them. `timed`
    receives the duration of each signature.
    """
    ring = KeyRing(settings.algorithms, timed=timed)

    def policy() -> RotationPolicy:
        return RotationPolicy(
            algorithms=(*settings.algorithms, *encryption()),
            rotate_every=settings.rotate_every,
            announce_before=settings.announce_before,
            retire_after=settings.retire_after,
            longest_token=longest_token(),
        )

    if settings.source == "files":
        return FileKeys(ring=ring, files=settings.keys, policy=policy, now=now)
    vault = Vault(Seal(settings.encryption_key))
    return StoredKeys(
        ring=ring, kv=kv, prefix=prefix, vault=vault, policy=policy, now=now, emit=emit
    )


def encryption_algorithms(clients: Iterable[Client], *, registration: bool) -> tuple[str, ...]:
    """Return the algorithms for which the service needs keys that request objects are encrypted to.

    They are those that clients have registered, and the usual ones if any client may register.
    """
    registered = {client.request_object_encryption_alg for client in clients}
    usual = DEFAULT_ENCRYPTION if registration else ()
    return tuple(alg for alg in ENCRYPTION_ALGORITHMS if alg in registered or alg in usual)


async def follow_keys(source: KeySource) -> Never:
    """Keep the ring up to date until the task is cancelled."""
    while True:
        await asyncio.sleep(FOLLOW_EVERY)
        try:
            await source.refresh()
        except Exception:
            log.exception("signing keys were not refreshed")
