"""Load from wrk: many connections, one thread, one request after the other on each."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import OTHERS_CPU

SCRIPT = Path(__file__).with_name("requests.lua")

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The result of one run of wrk."""

    requests: int
    seconds: float
    failed: int
    p50: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """The requests of a run: the same one repeatedly, or the lines of a file, each once or in turns."""

    path: str
    authorization: str | None = None
    cookie: str | None = None
    body: str | None = None
    bodies: Path | None = None
    """In each line a body; then a DPoP proof and a cookie, where they differ, each behind a tab."""
    are_queries: bool = False
    """Whether the lines are the queries of GET instead of bodies."""
    in_turns: bool = False
    shows: str = ""
    """A part of the right answer's body or Location: a redirect may also bring an error to the client."""
    are_refused: bool = False
    """Whether the right answer is a refusal, as to a device whose user has not decided."""


def drive(port: int, requests: Requests, *, connections: int, seconds: int) -> Sample:
    """Send requests for some seconds and count the answers."""
    command = ["taskset", "-c", OTHERS_CPU, "wrk", "--latency", "-t1", f"-c{connections}"]
    command += [f"-d{seconds}s", "-s", str(SCRIPT), f"http://127.0.0.1:{port}{requests.path}", "--"]
    command += [requests.authorization or "", requests.body or "", str(requests.bodies or "")]
    command += ["in turns" if requests.in_turns else "", requests.cookie or ""]
    command += ["queries" if requests.are_queries else ""]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    total = re.search(r"(\d+) requests in ([\d.]+)(us|ms|s|m)", output)
    if total is None:
        raise RuntimeError(f"wrk said nothing that can be read: {output}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    failed = int(refused[1]) if refused else 0
    return Sample(
        requests=int(total[1]),
        seconds=float(total[2]) * _UNITS.get(total[3], 60.0),
        failed=int(total[1]) - failed if requests.are_refused else failed,
        p50=_percentile(output, 50),
        p99=_percentile(output, 99),
    )


def _percentile(output: str, percent: int) -> float:
    found = re.search(rf"{percent}%\s+([\d.]+)(us|ms|s)", output)
    return float(found[1]) * _UNITS[found[2]] if found else float("nan")
