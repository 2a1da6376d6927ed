"""Medians, their spread, and the ratio of service to floor, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.load import Sample
from benchmarks.works import Work

SERVICE, FLOOR = "service", "floor"


@dataclass(frozen=True, slots=True)
class Measured:
    """One round of one work."""

    sample: Sample
    cpu_seconds: float

    @property
    def per_cpu_second(self) -> float:
        """Requests for each second that the server computed."""
        return self.sample.requests / self.cpu_seconds


@dataclass
class Table:
    """What was measured, by work and by server."""

    works: Sequence[Work]
    measured: dict[tuple[str, str], list[Measured]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, work: Work, server: str, one: Measured) -> None:
        """Note one round."""
        self.measured[work.name, server].append(one)

    def rows(self) -> list[dict[str, float | str | int]]:
        """A row for each work; the ratio is the median of the ratios of each round."""
        return [self._row(work) for work in self.works]

    def text(self, *, memory: int) -> str:
        """The rows, aligned."""
        head = (
            f"{'work':38} {'ratio':>6} {'bar':>5} {'spread':>7} {'req/CPU-s':>10} {'floor':>8} "
            f"{'req/s':>8} {'p50 ms':>7} {'p99 ms':>7} {'failed':>6}"
        )
        lines = [
            f"{row['work']:38} {row['ratio']:6.2f} {row['bar']:5.2f} {row['spread']:7.0%} "
            f"{row['req_per_cpu_second']:10.0f} {row['floor_req_per_cpu_second']:8.0f} "
            f"{row['req_per_second']:8.0f} {row['p50_ms']:7.2f} {row['p99_ms']:7.2f} {row['failed']:6}"
            for row in self.rows()
        ]
        rounds = len(next(iter(self.measured.values())))
        foot = f"{rounds} rounds in turns, medians; memory of the service {memory / 2**20:.0f} MiB"
        return "\n".join([head, *lines, foot])

    def _row(self, work: Work) -> dict[str, float | str | int]:
        service, floor = self.measured[work.name, SERVICE], self.measured[work.name, FLOOR]
        ratios = [
            ours.per_cpu_second / least.per_cpu_second
            for ours, least in zip(service, floor, strict=True)
        ]
        samples = [each.sample for each in service]
        return {
            "work": work.name,
            "ratio": median(ratios),
            "bar": work.at_least,
            "spread": (max(ratios) - min(ratios)) / median(ratios),
            "req_per_cpu_second": median(each.per_cpu_second for each in service),
            "floor_req_per_cpu_second": median(each.per_cpu_second for each in floor),
            "req_per_second": median(each.requests / each.seconds for each in samples),
            "p50_ms": median(each.p50 for each in samples) * 1000,
            "p99_ms": median(each.p99 for each in samples) * 1000,
            "failed": sum(each.failed for each in [*samples, *(one.sample for one in floor)]),
        }
