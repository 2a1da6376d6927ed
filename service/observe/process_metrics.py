"""Shows the processes of this replica: the usual process_* metrics, and which build runs."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from prometheus_client import ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.observe.readings import NAMESPACE

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
    children, cpu_seconds_of_ended_children = _read_processes(supervisor)
    metrics: dict[str, Metric] = {}
    values: dict[str, list[float]] = defaultdict(list)
    for pid in (supervisor, *children):
        for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
            metrics[metric.name] = metric
            values[metric.name].append(metric.samples[0].value)
    values[CPU].append(cpu_seconds_of_ended_children)
    for name, metric in metrics.items():
        sample = metric.samples[0]
        metric.samples = [sample._replace(value=COMBINED[name](values[name]))]
        yield metric


def _read_processes(supervisor: int) -> tuple[list[int], float]:
    """Return the children, and cutime and cstime of proc(5) in seconds."""
    process = Path(f"/proc/{supervisor}")
    try:
        children = (process / f"task/{supervisor}/children").read_text().split()
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return [], 0
    ticks = int(fields[13]) + int(fields[14])
    return [int(each) for each in children], ticks / os.sysconf("SC_CLK_TCK")
