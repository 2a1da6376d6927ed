"""How several workers count together: prometheus-client keeps the counts in files of one folder."""

from __future__ import annotations

import os
import shutil
import tempfile

from prometheus_client import multiprocess, values

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share_metrics() -> None:
    """Let the metrics that are made from now on live in files, whenever the library was imported."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="token-service-metrics-")
    values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]


def forget_state_of(pid: int) -> None:
    """Of a worker that has ended keep what it has counted, and not how it was."""
    multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


def forget_shared_metrics() -> None:
    """Remove the folder, after the last worker has ended."""
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
