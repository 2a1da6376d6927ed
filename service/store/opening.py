"""Opens the store; with it hiredis is imported, which no command needs that only reads the configuration."""

from __future__ import annotations

from service.model.events import Emit
from service.model.timings import ignore_timing
from service.store.engine.connection import open_engine
from service.store.keyvalue import KeyValue
from service.store.tracking import Tracking


def open_store(
    url: str,
    *,
    password: str | None = None,
    timeout: float,
    wait_for_replicas: int = 0,
    tracking: Tracking | None = None,
    timed: Emit = ignore_timing,
) -> KeyValue:
    """Return the store behind a URL, with the password that it does not have itself; it connects when it is first used.

    One command may take `timeout` seconds; durable writes wait for so many replicas; `tracking`
    keeps what is read to be tracked; `timed` receives the duration of each round trip.
    """
    engine = open_engine(
        url,
        password=password,
        timeout=timeout,
        wait_for_replicas=wait_for_replicas,
        tracking=tracking,
    )
    return KeyValue(engine, timeout=timeout, tracking=tracking, timed=timed)
