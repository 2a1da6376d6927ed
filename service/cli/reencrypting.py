"""Finds what the store keeps under a retired encryption key, for `keys reencrypt` and `check --store`."""

from __future__ import annotations

from collections.abc import Iterator

from service.cli.shared_store import on_store
from service.config.configuration import Configuration
from service.config.problem import Finding, Problem, warning
from service.keys.reencryption import Reencryption
from service.wiring.shared import Shared

UNREADABLE = "in the store can be decrypted with none of the keys: put the one that encrypted them back into signing.encryption_key"


def open_reencryption(shared: Shared) -> Reencryption:
    """Return what knows how the records of this store are encrypted."""
    return Reencryption(stores=shared.stores, seal=shared.seal, prefix=shared.prefix)


def find_problems(settings: Configuration) -> tuple[Problem, ...]:
    """Return what is wrong with `signing.encryption_key` in view of the store; nothing is written."""
    return tuple(settings.problem(each) for each in _find(settings))


def _find(settings: Configuration) -> Iterator[Finding]:
    place = ("signing", "encryption_key")
    for tally in on_store(settings, lambda shared: open_reencryption(shared).count()):
        if tally.retired:
            message = (
                f"a retired key still encrypts {tally.retired} records of {tally.kind} in the store"
            )
            yield warning(place, message, "run `token-service keys reencrypt`")
        if tally.unreadable:
            yield Finding(place, f"{tally.unreadable} records of {tally.kind} {UNREADABLE}")
