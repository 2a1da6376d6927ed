"""`keys list`, `rotate` and `retire` change what every replica does, on a real Redis."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from service.cli.program import program
from service.keys.jose import Key
from service.keys.schedule import LEAD
from service.store.opening import open_store
from tests.keys.conftest import Clock, Fleet

CONFIG = """\
issuer: http://localhost:8080
signing:
  algorithms: [ES256]
  encryption_key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8
"""
OTHER_KEY = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
on_redis = pytest.mark.needs("redis-server")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG)
    return file


def keys(config: Path, store: str, *arguments: str) -> Result:
    return CliRunner().invoke(
        program, ["keys", *arguments, "--config", str(config), "--store", store]
    )


def replicas_start(
    url: str, *, count: int, at: Clock, algorithms: tuple[str, ...] = ("ES256",)
) -> list[str]:
    """The key ids that each of the replicas signs with after they all started at once."""

    async def start() -> list[str]:
        stores = [open_store(url, timeout=30) for _ in range(count)]
        replicas = [Fleet(kv, at).replica(*algorithms) for kv in stores]
        await asyncio.gather(*[replica.start() for replica in replicas])
        await asyncio.gather(*[kv.close() for kv in stores])
        return [replica.ring.signing_key().kid for replica in replicas]

    return asyncio.run(start())


@pytest.fixture
def clock() -> Clock:
    return Clock(int(time.time()))


@on_redis
def test_replicas_that_start_at_once_make_one_key(
    config: Path, redis_url: str, clock: Clock
) -> None:
    (kid,) = set(replicas_start(redis_url, count=8, at=clock))
    listed = keys(config, redis_url, "list")
    assert listed.exit_code == 0
    header, *rows = [line.split() for line in listed.stdout.splitlines()]
    assert header[:3] == ["KEY", "ALGORITHM", "STATE"]
    assert [row[:3] for row in rows] == [[kid, "ES256", "signing"]]


@on_redis
def test_keys_are_listed_as_json(config: Path, redis_url: str, clock: Clock) -> None:
    (kid,) = replicas_start(redis_url, count=1, at=clock)
    (key,) = json.loads(keys(config, redis_url, "list", "--format", "json").stdout)
    assert (key["key"], key["algorithm"], key["state"]) == (kid, "ES256", "signing")
    assert (key["used_from"][-1], key["retired_at"]) == ("Z", None)


@on_redis
@pytest.mark.rfc("openid-core#10.2.1")
def test_keys_that_decrypt_are_listed_as_such(config: Path, redis_url: str, clock: Clock) -> None:
    config.write_text(CONFIG + "registration: {enabled: true}\n")
    replicas_start(redis_url, count=1, at=clock, algorithms=("ES256", "RSA-OAEP-256", "ECDH-ES"))
    listed = keys(config, redis_url, "rotate").stdout.splitlines()[1:]
    assert sorted((line.split()[1], line.split()[2]) for line in listed) == [
        (alg, state)
        for alg, use in (
            ("ECDH-ES", "decrypting"),
            ("ES256", "signing"),
            ("RSA-OAEP-256", "decrypting"),
        )
        for state in ("announced", use)
    ]


@on_redis
def test_rotate_announces_the_next_key(config: Path, redis_url: str, clock: Clock) -> None:
    replicas_start(redis_url, count=1, at=clock)
    rotated = keys(config, redis_url, "rotate")
    assert [line.split()[2] for line in rotated.stdout.splitlines()[1:]] == ["signing", "announced"]
    logged = [orjson.loads(line) for line in rotated.stderr.splitlines()]
    assert [line["event"] for line in logged] == ["key_announced"]


@on_redis
def test_second_rotate_says_that_nothing_has_changed(
    config: Path, redis_url: str, clock: Clock
) -> None:
    replicas_start(redis_url, count=1, at=clock)
    unchanged = "nothing has changed: the next keys are announced already"
    for options, says in ([], False), ([], True), (["--now"], False), (["--now"], True):
        rotated = keys(config, redis_url, "rotate", *options)
        assert (rotated.exit_code, unchanged in rotated.stderr) == (0, says)


@on_redis
def test_rotate_now_is_followed(config: Path, redis_url: str, clock: Clock) -> None:
    (first,) = replicas_start(redis_url, count=1, at=clock)
    assert keys(config, redis_url, "rotate", "--now").exit_code == 0
    clock.forward(seconds=LEAD + 1)
    (second,) = replicas_start(redis_url, count=1, at=clock)
    assert second != first


@on_redis
def test_retire_replaces_the_key(config: Path, redis_url: str, clock: Clock) -> None:
    (first,) = replicas_start(redis_url, count=1, at=clock)
    assert keys(config, redis_url, "retire", first).exit_code == 0
    clock.forward(seconds=LEAD + 1)
    assert replicas_start(redis_url, count=1, at=clock) != [first]


@on_redis
@pytest.mark.parametrize(
    "arguments",
    [("rotate",), ("retire", "unknown"), ("retire", "-9NOxePGDmil")],
    ids=["rotate", "retire", "retire what looks like an option"],
)
def test_an_unknown_key_id_is_wrong_input(
    config: Path, redis_url: str, arguments: tuple[str, ...]
) -> None:
    refused = keys(config, redis_url, *arguments)
    assert (refused.exit_code, "Error: " in refused.stderr) == (1, True)


@on_redis
def test_another_encryption_key_changes_nothing(config: Path, redis_url: str, clock: Clock) -> None:
    (first,) = replicas_start(redis_url, count=1, at=clock)
    config.write_text(CONFIG.replace("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", OTHER_KEY))
    refused = keys(config, redis_url, "rotate", "--now")
    assert (refused.exit_code, first in refused.stderr) == (1, True)


def test_the_embedded_store_is_refused_with_the_reason(config: Path) -> None:
    refused = keys(config, "memory://", "list")
    assert (refused.exit_code, "inside the process" in refused.stderr) == (1, True)


def test_unavailable_store_has_its_own_exit_code(config: Path) -> None:
    assert keys(config, "redis://127.0.0.1:1", "list").exit_code == 3


def test_an_unknown_option_is_a_usage_error(config: Path) -> None:
    assert keys(config, "redis://127.0.0.1:1", "list", "--nonsense").exit_code == 2


def test_keys_from_files_are_not_the_stores(config: Path) -> None:
    (config.parent / "key.pem").write_bytes(orjson.dumps(Key.generate("RS256").private_jwk))
    config.write_text(
        "issuer: http://localhost:8080\nsigning: {source: files, keys: [{path: key.pem}], "
        "encryption_key: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8}\n"
    )
    refused = keys(config, "redis://127.0.0.1:1", "list")
    assert (refused.exit_code, "the operator's own" in refused.stderr) == (1, True)
