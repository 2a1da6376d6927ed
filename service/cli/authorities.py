"""Keeps aiohttp from loading, at its import, the authorities that the system trusts; only `serve` imports it."""

from __future__ import annotations

import ssl
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def late_authorities() -> Generator[None]:
    """Let TLS contexts load these authorities when they are first used: aiohttp makes two that this service never uses."""
    load = ssl.SSLContext.set_default_verify_paths
    ssl.SSLContext.set_default_verify_paths = _load_later  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ssl.SSLContext.set_default_verify_paths = load  # type: ignore[method-assign]


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
