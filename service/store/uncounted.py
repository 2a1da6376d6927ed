"""Which time within a request is none of the store's?"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic

from service.store.keyvalue import deadline


@contextmanager
def not_counted() -> Generator[None]:
    """Time that others take, such as a slow identity provider: the store's deadline moves by it."""
    began = monotonic()
    try:
        yield
    finally:
        end = deadline.get()
        if end is not None:
            deadline.set(end + monotonic() - began)
