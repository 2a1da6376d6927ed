"""Keeps libraries from doing at their import what nothing here needs, or needs then."""

from __future__ import annotations

import gc
import ssl
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast

UNWANTED = ("greenlet", "opentelemetry", "rich")

WITHOUT_PLUGINS = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""For the environment of a process that reads a configuration: pydantic would look for plugins in every installed package."""


@contextmanager
def without_unwanted() -> Generator[None]:
    """Hide packages that libraries import only because they are installed, and pause the garbage collector.

    structlog imports rich and greenlet, and redis-py, which memory:// needs, OpenTelemetry: 7 MiB of every
    process where the tools for development are installed. The collector would take an eighth of the time of the imports.
    aiohttp loads the authorities that the system trusts, twice, for contexts that this service does not use.
    """
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    hidden = [name for name in UNWANTED if name not in modules]
    modules.update(dict.fromkeys(hidden))
    collects, load = gc.isenabled(), ssl.SSLContext.set_default_verify_paths
    gc.disable()
    ssl.SSLContext.set_default_verify_paths = _load_later  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ssl.SSLContext.set_default_verify_paths = load  # type: ignore[method-assign]
        if collects:
            gc.enable()
        for name in hidden:
            del modules[name]


class _LateContext(ssl.SSLContext):
    """Loads the authorities that the system trusts with its first connection: 40 ms, and 1 MiB."""

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        return self._load_defaults().wrap_bio(*args, **options)

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        return self._load_defaults().wrap_socket(*args, **options)

    def _load_defaults(self) -> ssl.SSLContext:
        self.__class__ = ssl.SSLContext  # type: ignore[assignment]
        self.set_default_verify_paths()
        return self


def _load_later(context: ssl.SSLContext) -> None:
    context.__class__ = _LateContext
