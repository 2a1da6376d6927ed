"""How several workers count together: prometheus-client keeps the counts in files of one folder."""

from __future__ import annotations

import os
import shutil
import tempfile

from prometheus_client import multiprocess, values

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


class SharedMetrics:
    """Lets the metrics that are made from now on live in files, whenever the library was imported.

    They are named after the place of a worker and not, as by default, after its process: who replaces
    a worker counts on where that one stopped, and workers that keep dying leave no more files.
    """

    def __init__(self) -> None:
        """Make the folder; until `count_at` is called, the supervisor counts."""
        self._writer = "supervisor"
        self._folder = os.environ[FOLDER] = tempfile.mkdtemp(prefix="token-service-metrics-")
        values.ValueClass = values.MultiProcessValue(lambda: self._writer)  # type: ignore[no-untyped-call]

    def count_at(self, place: int) -> None:
        """Let this process count in the files of a place that no other living one has."""
        self._writer = str(place)

    def forget_state_of(self, place: int) -> None:
        """Of a worker that has ended keep what it has counted, and not how it was."""
        multiprocess.mark_process_dead(place, self._folder)  # type: ignore[no-untyped-call]

    def remove(self) -> None:
        """Remove the folder, after the last worker has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)
