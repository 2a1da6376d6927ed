"""Medians and their spread, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.load import Sample


@dataclass(frozen=True, slots=True)
class Measured:
    """One round of one work."""

    sample: Sample
    cpu_seconds: float

    @property
    def per_cpu_second(self) -> float:
        """Requests for each second that the server computed."""
        return self.sample.requests / self.cpu_seconds


def printed(measured: Mapping[str, Sequence[Measured]], *, memory: int) -> str:
    """The table, a line for each work."""
    head = f"{'work':40} {'req/CPU-s':>10} {'spread':>7} {'req/s':>9} {'p50 ms':>7} {'p99 ms':>7} failed"
    lines = [_line(name, rounds) for name, rounds in measured.items()]
    rounds = max(len(each) for each in measured.values())
    foot = f"{rounds} rounds, medians; memory of the server {memory / 2**20:.0f} MiB"
    return "\n".join([head, *lines, foot])


def _line(name: str, rounds: Sequence[Measured]) -> str:
    rates = [each.per_cpu_second for each in rounds]
    samples = [each.sample for each in rounds]
    middle = median(rates)
    spread = (max(rates) - min(rates)) / middle
    throughput = median(sample.requests / sample.seconds for sample in samples)
    p50, p99 = (median(getattr(each, name) for each in samples) * 1000 for name in ("p50", "p99"))
    failed = sum(sample.failed for sample in samples)
    return (
        f"{name:40} {middle:10.0f} {spread:7.0%} {throughput:9.0f} {p50:7.2f} {p99:7.2f} {failed:6}"
    )
