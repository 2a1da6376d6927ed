"""The Redis servers that the overlays count on: the one in the cluster, and the external one behind TLS."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import ConnectionError as NotYet

from tests.driving.ports import lasting_ports
from tests.driving.program import SECONDS, eventually
from tests.driving.redis_server import TcpRedis, new_certificate
from tests.k8s.rendered import rendered

PASSWORD = "0123456789abcdef"


@contextmanager
def redis_of_dev(folder: Path) -> Iterator[str]:
    """The StatefulSet's Redis with its own arguments; its address."""
    (container,) = rendered("dev").one("StatefulSet", "redis")["spec"]["template"]["spec"][
        "containers"
    ]
    (port,) = lasting_ports(1)
    args = [each.replace("$(REDIS_PASSWORD)", PASSWORD) for each in container["args"]]
    process = subprocess.Popen(
        ["redis-server", *args, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )

    def answers() -> bool:
        assert process.poll() is None
        try:
            with Redis("127.0.0.1", port, password=PASSWORD) as redis:
                return bool(redis.ping())
        except NotYet:
            return False

    try:
        eventually(answers)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(SECONDS)


@contextmanager
def redis_of_prod(folder: Path) -> Iterator[TcpRedis]:
    """A Redis behind TLS with the ACL user of docs/operations/redis.md."""
    page = (Path(__file__).parents[2] / "docs/operations/redis.md").read_text()
    (rules,) = re.findall(r"^    user token-service on >password (.*)$", page, re.MULTILINE)
    with TcpRedis(folder, certificate=new_certificate(folder)) as redis:
        redis.tell("ACL", "SETUSER", "token-service", "on", f">{PASSWORD}", *rules.split())
        yield redis
