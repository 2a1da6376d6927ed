"""Measures the gain of tracked reads for introspection, and the delay of a revocation at other replicas (`store.tracking`)."""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests, drive
from benchmarks.measured import Measured
from benchmarks.servers import Server, Servers, features_of
from benchmarks.turns import measure as turn
from benchmarks.turns import ratio
from benchmarks.users import CONFIGURATION
from benchmarks.work import basic, user_token

HOT = 1000
"""Tokens that nine of ten requests are about, in all rounds; every tenth is about one that nobody has asked about."""

PER_SECOND = 120_000
"""More requests than can be served, so that no new token comes twice."""

REVOKED = 200
BESIDE = 8
"""Connections that ask a replica about other tokens, while it learns of revocations."""

OFF, ON = "off", "on"


def measure(effort: Effort) -> list[Finding]:
    """Nine of ten introspections are repeated; then revocations at one replica, and introspections at another."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        servers = Servers(stack)
        redis_url = servers.redis()
        tracking = _configuration(folder, ON)
        running = {
            OFF: servers.service(redis_url, configuration=_configuration(folder, OFF)),
            ON: servers.service(redis_url, configuration=tracking),
        }
        measured: dict[str, list[Measured]] = {OFF: [], ON: []}
        hot = asyncio.run(_tokens(redis_url, HOT))
        for _ in range(effort.rounds):
            asked = asyncio.run(_prepare(redis_url, folder, hot, effort.seconds * PER_SECOND))
            for name, server in running.items():
                sample = turn(server, asked, connections=effort.connections, seconds=effort.seconds)
                measured[name].append(sample)
        delays = _delays(running[ON], servers.service(redis_url, configuration=tracking), redis_url)
    hundredths = quantiles(delays, n=100)
    return [
        *(_served(f"store.tracking: {name}", rounds) for name, rounds in measured.items()),
        Finding(
            what="introspections per CPU-second, nine of ten repeated, tracking on compared with off",
            figure=ratio(measured[ON], measured[OFF], lambda one: one.per_cpu_second),
            at_least=2.2,
        ),
        Finding(
            what="a revocation is seen by another replica, p50", figure=hundredths[49], unit="ms"
        ),
        Finding(
            what="a revocation is seen by another replica, p99",
            figure=hundredths[98],
            unit="ms",
            at_most=5,
        ),
    ]


def _configuration(folder: Path, tracking: str) -> Path:
    file = folder / f"{tracking}.yaml"
    file.write_text(f"{CONFIGURATION.read_text()}\nstore: {{tracking: {tracking}}}\n")
    return file


async def _prepare(redis_url: str, folder: Path, hot: list[str], most: int) -> Requests:
    new = iter(await _tokens(redis_url, most // 10))
    some = random.Random(1)  # noqa: S311 - no secret
    tokens = (some.choice(hot) if number % 10 else next(new) for number in range(most))
    file = folder / "introspections"
    file.write_text("".join(f"token={token}\n" for token in tokens))
    return _asking(bodies=file)


def _asking(*, body: str | None = None, bodies: Path | None = None) -> Requests:
    return Requests(
        path="/connect/introspect",
        authorization=basic("api1"),
        body=body,
        bodies=bodies,
        in_turns=bodies is not None,
    )


async def _tokens(redis_url: str, count: int) -> list[str]:
    async with features_of(redis_url) as features:
        found: list[str] = []
        while len(found) < count:
            found += await asyncio.gather(*[user_token(features, "web") for _ in range(100)])
        return found


def _delays(here: Server, there: Server, redis_url: str) -> list[float]:
    """Milliseconds from the answer to a revocation until the other replica, under load, says that it is inactive."""
    tokens = asyncio.run(_tokens(redis_url, REVOKED))
    (other,) = asyncio.run(_tokens(redis_url, 1))[:1]
    with ThreadPoolExecutor() as threads:
        load = threads.submit(
            drive, there.port, _asking(body=f"token={other}"), connections=BESIDE, seconds=15
        )
        delays = [_delay(here, there, token) for token in tokens]
        load.result()
    return delays


def _delay(here: Server, there: Server, token: str) -> float:
    asking, revoking = _connection(there), _connection(here)
    for _ in range(3):  # the third answer is the second one, remembered
        assert _is_active(asking, token)
    _post(revoking, "/connect/revocation", "web", token)
    began = time.monotonic()
    while _is_active(asking, token):
        pass
    took = time.monotonic() - began
    asking.close()
    revoking.close()
    return 1000 * took


def _connection(server: Server) -> HTTPConnection:
    return HTTPConnection("127.0.0.1", server.port, timeout=30)


def _is_active(connection: HTTPConnection, token: str) -> bool:
    return b'"active":true' in _post(connection, "/connect/introspect", "api1", token)


def _post(connection: HTTPConnection, path: str, caller: str, token: str) -> bytes:
    headers = {
        "Authorization": basic(caller),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    connection.request("POST", path, f"token={token}", headers)
    answer = connection.getresponse()
    if answer.status != 200:
        raise RuntimeError(f"answered with {answer.status}")
    return answer.read()


def _served(what: str, rounds: list[Measured]) -> Finding:
    per_second = median(each.per_cpu_second for each in rounds)
    return Finding(what=f"{what}, introspections", figure=per_second, unit="req/CPU-s")
