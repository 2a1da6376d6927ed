"""Measures whether password hashes and RSA signatures delay introspection in the same process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from statistics import median
from urllib.parse import urlencode

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.latency import introspection
from benchmarks.load import Requests, Sample, drive
from benchmarks.machine import BOTH_CPUS, SERVER_CPU
from benchmarks.servers import Server, Servers
from benchmarks.work import SECRET, basic
from benchmarks.works import client_credentials

ASKING = 8
"""Connections that introspect, few enough to wait for nothing but the server."""
WORKING = 4
"""Connections of each of the others: what they ask for is never done."""

LOGIN = Requests(
    path="/connect/token",
    authorization=basic("logins"),
    body=urlencode(
        {"grant_type": "password", "username": "alice", "password": SECRET, "scope": "api1"}
    ),
)
SIGNATURE = client_credentials("jwt", "rsa")


def measure(effort: Effort) -> list[Finding]:
    """Introspection alone, and during other work; with one core for all threads, and with two."""
    with ExitStack() as stack:
        servers = Servers(stack)
        redis_url = servers.redis()
        asked = introspection(redis_url)
        one = servers.service(redis_url, cpu=SERVER_CPU)
        two = servers.service(redis_url, cpu=BOTH_CPUS)
        return [
            *_measure(one, "one core", asked, effort),
            *_measure(two, "two cores", asked, effort),
        ]


def _measure(server: Server, where: str, asked: Requests, effort: Effort) -> list[Finding]:
    alone: list[Sample] = []
    beside: list[Sample] = []
    others: list[list[Sample]] = []
    for _ in range(effort.rounds):
        alone.append(_drive(server, asked, ASKING, effort.seconds))
        with ThreadPoolExecutor() as threads:
            heavy = [
                threads.submit(_drive, server, each, WORKING, effort.seconds + 1)
                for each in (LOGIN, SIGNATURE)
            ]
            beside.append(_drive(server, asked, ASKING, effort.seconds))
            others.append([each.result() for each in heavy])
    logins, signatures = zip(*others, strict=True)
    return [
        Finding(what=f"{where}: introspection alone, p50", figure=_ms(alone, "p50"), unit="ms"),
        Finding(what=f"{where}: introspection alone, p99", figure=_ms(alone, "p99"), unit="ms"),
        Finding(
            what=f"{where}: during logins and RS256, p50", figure=_ms(beside, "p50"), unit="ms"
        ),
        Finding(
            what=f"{where}: during logins and RS256, p99", figure=_ms(beside, "p99"), unit="ms"
        ),
        Finding(what=f"{where}: introspections during them", figure=_rate(beside), unit="req/s"),
        Finding(what=f"{where}: logins meanwhile", figure=_rate(logins), unit="req/s"),
        Finding(what=f"{where}: RS256 meanwhile", figure=_rate(signatures), unit="req/s"),
    ]


def _drive(server: Server, requests: Requests, connections: int, seconds: int) -> Sample:
    sample = drive(server.port, requests, connections=connections, seconds=seconds)
    if sample.failed:
        raise RuntimeError(f"{sample.failed} requests failed")
    return sample


def _ms(samples: list[Sample], percentile: str) -> float:
    middle: float = median(getattr(each, percentile) for each in samples)
    return 1000 * middle


def _rate(samples: tuple[Sample, ...] | list[Sample]) -> float:
    return median(each.requests / each.seconds for each in samples)
