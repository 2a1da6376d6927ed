"""The number and length of measurements, and the folder of their results."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """The arguments of the command line."""

    what: str
    rounds: int
    seconds: int
    connections: int
    only: str | None
    peers: bool
    requests: int
    tokens: int
    results: Path | None
    check: bool


def effort(topics: list[str]) -> Effort:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("what", nargs="?", default=topics[0], choices=topics)
    parser.add_argument("--rounds", type=int, default=5, help="in which servers take turns")
    parser.add_argument("--seconds", type=int, default=3, help="of each measurement in each round")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--only", help="works whose name holds this")
    parser.add_argument("--peers", action="store_true", help="node-oidc-provider, too")
    parser.add_argument("--requests", type=int, default=1_000_000, help="of memory")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="of flat")
    parser.add_argument("--results", type=Path, help="a folder for JSON and charts")
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    return Effort(**vars(parser.parse_args()))
