"""A backup of the keys, made as docs/operations/redis.md says, restores them; and a Redis that lost everything."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.driving.program import Program, eventually, program_running
from tests.driving.redis_servers import TcpRedis

pytestmark = pytest.mark.needs("redis-server", "redis-cli")

ENCRYPTION_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
REPOSITORY = Path(__file__).parents[2]
PERSON = {"grant_type": "password", "username": "alice", "password": "alice", "scope": "api1"}
MACHINE = {"grant_type": "client_credentials", "scope": "api1"}


def commands() -> list[str]:
    """Those of the section: the backup, and putting it back."""
    section = (
        (REPOSITORY / "docs/operations/redis.md")
        .read_text()
        .split("\n## Losing and restoring Redis\n")[1]
    )
    return re.findall(r"^```bash\n(.*?)```$", section.split("\n## ")[0], re.MULTILINE | re.DOTALL)


def done(command: str, redis: TcpRedis, credentials: str = "") -> None:
    """Run a command of the page."""
    subprocess.run(
        ["bash", "-c", command],
        cwd=redis.folder,
        env={**os.environ, "REDIS_URL": f"redis://{credentials}{redis.address}"},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=30,
    )


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[TcpRedis]:
    """A Redis to be emptied."""
    with TcpRedis(tmp_path / "redis") as running:
        yield running


@pytest.fixture
def config_file(tmp_path: Path, redis: TcpRedis) -> Path:
    """The demonstration on that Redis."""
    text = (REPOSITORY / "config.yaml").read_text().replace("memory://", redis.url)
    file = tmp_path / "config.yaml"
    file.write_text(text.replace("\nsigning:", f"\nsigning:\n  encryption_key: {ENCRYPTION_KEY}"))
    return file


def started(program: Program) -> str:
    """Its URL, once it is ready."""
    url = program.url()
    eventually(lambda: httpx2.get(f"{url}/health/ready").status_code == 200)
    return url


def token(url: str, client: str, form: dict[str, str]) -> str:
    answer = httpx2.post(f"{url}/connect/token", auth=(client, f"{client}-secret"), data=form)
    found: str = answer.json()["access_token"]
    return found


def active(url: str, token: str) -> bool:
    answer = httpx2.post(
        f"{url}/connect/introspect", auth=("api1", "api1-secret"), data={"token": token}
    )
    found: bool = answer.json()["active"]
    return found


def jwks(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx2.get(f"{url}/.well-known/jwks.json").json()["keys"]
    return found


def test_keys_that_were_put_back_verify_what_they_have_signed(
    config_file: Path, redis: TcpRedis
) -> None:
    backup, restore = commands()
    with program_running(config_file, (), {}) as program:
        url = started(program)
        published = jwks(url)
        machine, person = token(url, "machine", MACHINE), token(url, "frontend", PERSON)
        done(backup, redis)
    redis.tell("FLUSHALL")
    done(restore, redis)
    with program_running(config_file, (), {}) as program:
        url = started(program)
        assert jwks(url) == published
        assert (active(url, machine), active(url, person)) == (True, False)


def test_replicas_that_run_follow_keys_that_are_put_back(
    config_file: Path, redis: TcpRedis
) -> None:
    backup, restore = commands()
    with program_running(config_file, (), {}) as program:
        url = started(program)
        published = jwks(url)
        done(backup, redis)
        redis.tell("FLUSHALL")
        eventually(lambda: jwks(url) != published)
        done(restore, redis)
        eventually(lambda: jwks(url) == published)


@pytest.mark.parametrize("credentials", ["", ":pw@"], ids=["no-password", "no-user-name"])
def test_backup_and_restore_fail_where_redis_refuses_the_password(
    redis: TcpRedis, credentials: str
) -> None:
    backup, restore = commands()
    for name in ("keys.backup", "records.backup"):
        (redis.folder / name).write_text("ts:{x}:rc eA==\n")
    redis.tell("CONFIG", "SET", "requirepass", "pw")
    for command in (restore, backup):
        with pytest.raises(subprocess.CalledProcessError):
            done(command, redis, credentials)
    done(backup, redis, "default:pw@")


def test_every_record_without_an_expiry_is_restored(redis: TcpRedis) -> None:
    backup, restore = commands()
    records = {f"ts:{{x}}:{kind}": f"a {kind}\n".encode() for kind in ("fa", "po", "rc")}
    for key, value in ({"ts:keys": b"keys"} | records).items():
        redis.tell("SET", key, value)
    done(backup, redis)
    redis.tell("FLUSHALL")
    done(restore, redis)
    assert {key: redis.tell("GET", key).rstrip() for key in records} == {
        key: value.rstrip() for key, value in records.items()
    }
