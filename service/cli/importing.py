"""Keeps libraries from doing at their import what nothing here needs, or needs then."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import cast

UNWANTED = ("greenlet", "opentelemetry", "rich")


@contextmanager
def without_unwanted() -> Generator[None]:
    """Hide packages that libraries import only because they are installed, and pause the garbage collector.

    structlog imports rich and greenlet, and redis-py OpenTelemetry: 7 MiB of every
    process where the tools for development are installed. The collector would take an eighth of the time of the imports.
    """
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    hidden = [name for name in UNWANTED if name not in modules]
    modules.update(dict.fromkeys(hidden))
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        for name in hidden:
            del modules[name]
