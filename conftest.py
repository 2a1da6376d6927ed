"""Lists the pytest plugins of all tests, and the modules besides tests whose assertions are rewritten."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.driving.memory import folder_in_memory

M_MMAP_THRESHOLD = -3
"""Of malloc.h: memory that is at least as large goes back to the system once it is free."""

# Where scripts/go-tools and scripts/debian-program put programs, and where Debian keeps servers.
programs = [Path(__file__).parent / "build/bin", *Path("/usr/lib/postgresql").glob("*/bin")]
os.environ["PATH"] += "".join(f"{os.pathsep}{each}" for each in (*programs, "/usr/sbin"))

# Where tests have their folders: a server that writes one waits for no disk that another test keeps busy.
if folder := folder_in_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", folder)

pytest_plugins = ("tests.requirements", "tests.compiled_once", "tests.long_first", "tests.quick")
pytest.register_assert_rewrite("tests.certification")

# Properties hold on a slow machine, too, and a fixture may serve all examples of a test.
allowed = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("here", deadline=None, suppress_health_check=allowed)
settings.load_profile("here")

# Rich shows the variables of each frame, which takes as long as ten tests.
plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])

# Many processes are started from these files, and each of them would compile them all anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Argon2 takes 19 MiB for a password, which glibc would keep for each thread that has verified one.
with suppress(AttributeError):
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 8 << 20)

# Almost all that is made until the first test stays.
gc.disable()


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all tests and modules again and again."""
    gc.collect()
    gc.freeze()
    gc.collect()  # full collections wait for a quarter as many new objects as the one before has left
    gc.set_threshold(5_000, 20, 10)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Collect once what the tests have left; pytest would go through all that stays several times more."""
    gc.collect()
    gc.freeze()
