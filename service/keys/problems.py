"""Errors about the service's own keys, apart from the libraries that read them."""

from __future__ import annotations


class KeyFileError(Exception):
    """A key file cannot be used; the message names it and says why, and shows nothing of its content."""


class KeysUnreadable(Exception):
    """The store holds keys that this process cannot use, and therefore must not change."""


class CannotChangeKeys(Exception):
    """An operator's change to the keys is not possible; the message says why."""
