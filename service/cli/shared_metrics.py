"""How several workers count together: prometheus-client keeps the counts in files of one folder."""

from __future__ import annotations

import os
import shutil
import tempfile

FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def share_metrics() -> None:
    """Name the folder; prometheus-client looks for it once, when it is imported."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="token-service-metrics-")


def forget_shared_metrics() -> None:
    """Remove the folder, after the last worker has ended."""
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
