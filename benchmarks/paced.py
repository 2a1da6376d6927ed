"""Load at a steady pace, as callers that do not wait for each other: a stall is felt by all that fall into it."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.client import HTTPConnection
from statistics import quantiles

from benchmarks.load import Requests

PACE = 0.01
"""Seconds from one request to the next."""


class Paced:
    """Asks at a steady pace and notes how late each answer came; a request that has to wait its turn is late, too."""

    def __init__(self, port: int, requests: Requests) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self._requests = requests
        self.latencies: list[float] = []

    def run(self, over: Callable[[], bool]) -> None:
        """Ask until it is over."""
        due = time.monotonic()
        while not over():
            time.sleep(max(0.0, due - time.monotonic()))
            self._ask()
            self.latencies.append(time.monotonic() - due)
            due += PACE

    def percentile(self, percent: int) -> float:
        """Milliseconds in which so many of a hundred were answered."""
        return 1000 * quantiles(self.latencies, n=100)[percent - 1]

    @property
    def longest(self) -> float:
        """Milliseconds of the one that waited longest."""
        return 1000 * max(self.latencies)

    def _ask(self) -> None:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        authorization = self._requests.authorization
        if authorization is not None:
            headers["Authorization"] = authorization
        self._connection.request("POST", self._requests.path, self._requests.body, headers)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"answered with {answer.status}")
