"""A replica follows what happens to the keys, from whichever source the configuration names (RFC 7517 §5)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from service.config.schema.server import Signing, SigningKey
from service.keys import key_source as sources
from service.keys.jose import Key
from service.keys.key_source import KeySource, build_key_source, follow_keys
from service.keys.sealing import Seal
from tests.keys.conftest import Fleet


class Unsteady:
    """A source whose first refresh fails."""

    def __init__(self) -> None:
        self.refreshed = 0
        self.twice = asyncio.Event()

    async def refresh(self) -> None:
        self.refreshed += 1
        if self.refreshed == 1:
            raise RuntimeError
        self.twice.set()


async def test_following_goes_on_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "FOLLOW_EVERY", 0)
    source = Unsteady()
    task = asyncio.create_task(follow_keys(source))  # type: ignore[arg-type]
    await asyncio.wait_for(source.twice.wait(), 60)
    task.cancel()


async def test_keys_that_the_store_has_lost_are_named_once(
    fleet: Fleet, capfd: pytest.CaptureFixture[str]
) -> None:
    replica = await fleet.started()
    (lost,) = replica.keys
    assert "has lost the signing keys" not in capfd.readouterr().out
    await fleet.kv.write(("DEL", "ts:keys"))
    await replica.refresh()
    await replica.refresh()
    (made,) = replica.keys
    assert made.kid != lost.kid
    shown = capfd.readouterr().out
    assert shown.count("has lost the signing keys") == shown.count(lost.kid) == 1


def source_of(settings: Signing, fleet: Fleet) -> KeySource:
    return build_key_source(
        settings,
        kv=fleet.kv,
        prefix="ts",
        seal=Seal(settings.encryption_key),
        longest_token=lambda: 3600,
        encryption=lambda: (),
        now=fleet.clock,
        emit=fleet.events.append,
    )


async def test_the_store_is_a_source(fleet: Fleet) -> None:
    source = source_of(Signing(algorithms=("ES256",)), fleet)
    await source.start()
    assert not source.ring.missing
    assert await fleet.kv.get("ts:keys") is not None


async def test_files_are_a_source(fleet: Fleet, tmp_path: Path) -> None:
    key = Key.generate("ES256")
    file = tmp_path / "key.jwk"
    file.write_bytes(orjson.dumps(key.private_jwk))
    settings = Signing(algorithms=("ES256",), source="files", keys=(SigningKey(path=file),))
    source = source_of(settings, fleet)
    await source.start()
    assert source.ring.signing_key().kid == key.kid
    assert await fleet.kv.get("ts:keys") is None
