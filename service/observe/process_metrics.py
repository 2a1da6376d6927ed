"""Shows the processes of this replica: the usual process_* metrics, and which build runs."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from prometheus_client import ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.observe.readings import NAMESPACE

PROC = Path("/proc")

CPU = "process_cpu_seconds"
COMBINED: Mapping[str, Callable[[Iterable[float]], float]] = {
    CPU: sum,
    "process_resident_memory_bytes": sum,
    "process_virtual_memory_bytes": sum,
    "process_start_time_seconds": min,
    "process_open_fds": max,
    "process_max_fds": min,
}
"""How the values of several processes become one. The limit of open files counts for each process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessMetrics(Collector):
    """Reads /proc, which prometheus_client itself does not do where several workers share metrics."""

    has_workers: bool
    """Whether this process is one of several workers, and its parent their supervisor."""

    def collect(self) -> Iterator[Metric]:
        """Read everything anew."""
        build = GaugeMetricFamily(
            f"{NAMESPACE}_build_info", "The build that runs.", labels=("version", "python")
        )
        build.add_metric((version("token-service"), platform.python_version()), 1)
        yield build
        if self.has_workers:
            yield from _combine(os.getppid())
        else:
            yield from ProcessCollector(registry=None).collect()


def _combine(supervisor: int) -> Iterator[Metric]:
    """Combine the metrics of the supervisor and its workers.

    Workers that have ended keep their CPU seconds in the sum: a counter that falls is taken for
    a restart, and everything in it would be counted again.
    """
    metrics: dict[str, Metric] = {}
    values: dict[str, list[float]] = defaultdict(list)
    for pid in (supervisor, *_children(supervisor)):
        for metric in _metrics_of(pid):
            metrics[metric.name] = metric
            values[metric.name].append(metric.samples[0].value)
    values[CPU].append(_cpu_seconds_of_ended_children(supervisor))
    for name, metric in metrics.items():
        sample = metric.samples[0]
        metric.samples = [sample._replace(value=COMBINED[name](values[name]))]
        yield metric


def _metrics_of(pid: int) -> Iterable[Metric]:
    return ProcessCollector(pid=lambda: pid, registry=None).collect()


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in _read(pid, f"task/{pid}/children").split()]
    except OSError:
        return []


def _cpu_seconds_of_ended_children(pid: int) -> float:
    """Return cutime and cstime of proc(5)."""
    try:
        fields = _read(pid, "stat").rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def _read(pid: int, name: str) -> str:
    return (PROC / str(pid) / name).read_text()
