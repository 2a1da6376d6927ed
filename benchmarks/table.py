"""Medians, their spread, and the ratios of the service to floor and peer, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from statistics import median

from benchmarks.load import Sample
from benchmarks.measured import Measured
from benchmarks.round_trips import Asked, spelled
from benchmarks.servers import FLOOR, PEER, SERVICE
from benchmarks.work import Work

MOST_NOISE = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The ratio of the service to another server over the rounds."""

    median: float
    spread: float
    """Between the best and the worst round, as a part of the median."""
    noise: float
    """How far the median of as many rounds may be from what it would be after very many of them."""
    bar: float

    @property
    def missed(self) -> bool:
        """Whether the bar is out of reach even where the noise is added."""
        return self.median + self.noise < self.bar

    def __str__(self) -> str:
        mark = "!" if self.median < self.bar else " "
        return f"{self.median:5.2f}{mark} {self.bar:5.2f} {self.spread:6.0%}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Everything about one work."""

    work: str
    to_floor: Ratio
    to_peer: Ratio | None
    req_per_cpu_second: dict[str, float]
    """By server, as the following ones."""
    req_per_second: dict[str, float]
    p50_ms: dict[str, float]
    p99_ms: dict[str, float]
    failed: int
    round_trips: int
    commands: str


@dataclass(kw_only=True)
class Table:
    """The measurements, by work and by server."""

    works: Sequence[Work]
    rounds: int
    asked: Mapping[Work, Asked]
    """What one request of a work asks of Redis."""
    mib: dict[str, float] = field(default_factory=dict)
    """Memory at the end, by server."""
    measured: dict[tuple[str, str], list[Measured]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, work: Work, server: str, one: Measured) -> None:
        """Note one round."""
        self.measured[work.name, server].append(one)

    def rows(self) -> list[Row]:
        """A row for each work; a ratio is the median of the ratios of each round."""
        return [self._row(work) for work in self.works]

    def missed(self) -> list[str]:
        """The works whose ratio to the floor, or to another work, is below its bar by more than the noise."""
        to_floor = [row.work for row in self.rows() if row.to_floor.missed]
        return to_floor + [name for name, ratio in self.beside().items() if ratio.missed]

    def beside(self) -> dict[str, Ratio]:
        """The ratios between works of the service."""
        found: dict[str, Ratio] = {}
        for work in self.works:
            other, bar = work.beside or ("", 0.0)
            if (other, SERVICE) in self.measured:
                ours, theirs = self.measured[work.name, SERVICE], self.measured[other, SERVICE]
                found[f"{work.name}, compared with: {other}"] = _ratio(ours, theirs, bar)
        return found

    def as_json(self) -> dict[str, object]:
        """The rows for other programs."""
        works = [asdict(row) for row in self.rows()]
        return {"rounds": self.rounds, "works": works, "mib": self.mib}

    def text(self) -> str:
        """The rows, aligned; an exclamation mark marks what is below its bar."""
        titles = f"{'floor':>6} {'bar':>5} {'spread':>6}  {'peer':>6} {'bar':>5} {'spread':>6}"
        head = (
            f"{'work':38} {titles} {'req/CPU-s':>10} {'req/s':>8} {'p50 ms':>7} {'p99 ms':>7} "
            f"{'failed':>6} {'trips':>5}  commands"
        )
        memory = ", ".join(f"{name} {mib:.0f} MiB" for name, mib in self.mib.items())
        foot = f"{self.rounds} rounds in turns, medians; memory: {memory}"
        beside = [f"{name:96} {ratio}" for name, ratio in self.beside().items()]
        return "\n".join([head, *map(_line, self.rows()), *beside, foot])

    def _row(self, work: Work) -> Row:
        by_server = {
            server: self.measured[work.name, server]
            for server in (SERVICE, FLOOR, PEER)
            if (work.name, server) in self.measured
        }
        samples = {name: [one.sample for one in rounds] for name, rounds in by_server.items()}
        return Row(
            work=work.name,
            to_floor=_ratio(by_server[SERVICE], by_server[FLOOR], work.at_least),
            to_peer=_ratio(by_server[SERVICE], by_server[PEER], work.at_least_of_peer or 0.0)
            if PEER in by_server
            else None,
            req_per_cpu_second={
                name: median(each.per_cpu_second for each in rounds)
                for name, rounds in by_server.items()
            },
            req_per_second={
                name: median(each.requests / each.seconds for each in rounds)
                for name, rounds in samples.items()
            },
            p50_ms=_milliseconds(samples, "p50"),
            p99_ms=_milliseconds(samples, "p99"),
            failed=sum(each.failed for rounds in samples.values() for each in rounds),
            round_trips=self.asked[work].round_trips,
            commands=spelled(self.asked[work].commands),
        )


def _ratio(ours: Sequence[Measured], theirs: Sequence[Measured], bar: float) -> Ratio:
    ratios = [a.per_cpu_second / b.per_cpu_second for a, b in zip(ours, theirs, strict=True)]
    middle = median(ratios)
    spread = (max(ratios) - min(ratios)) / middle
    return Ratio(median=middle, spread=spread, noise=_noise(ratios), bar=bar)


def _noise(ratios: Sequence[float]) -> float:
    """Twice the standard error of a median, told by the median deviation, which one bad round does not move.

    Nothing above MOST_NOISE is excused: what is measured so badly has to be measured again.
    """
    middle = median(ratios)
    deviation = 1.48 * median(abs(each - middle) for each in ratios)
    return min(2 * 1.25 * deviation / sqrt(len(ratios)), MOST_NOISE)


def _milliseconds(samples: dict[str, list[Sample]], percentile: str) -> dict[str, float]:
    return {
        name: median(getattr(each, percentile) for each in rounds) * 1000
        for name, rounds in samples.items()
    }


def _line(row: Row) -> str:
    peer = str(row.to_peer) if row.to_peer else " " * 19
    return (
        f"{row.work:38} {row.to_floor} {peer} {row.req_per_cpu_second[SERVICE]:10.0f} "
        f"{row.req_per_second[SERVICE]:8.0f} {row.p50_ms[SERVICE]:7.2f} "
        f"{row.p99_ms[SERVICE]:7.2f} {row.failed:6} "
        f"{row.round_trips:5}  {row.commands}"
    )
