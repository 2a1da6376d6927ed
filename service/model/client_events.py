"""Events of clients whose client_id is the URL of a metadata document; like those in `events.py`."""

from __future__ import annotations

import msgspec


class ClientDocumentFetched(msgspec.Struct, frozen=True, kw_only=True):
    """A metadata document was fetched, and accepted."""

    client_id: str


class ClientDocumentRefused(msgspec.Struct, frozen=True, kw_only=True):
    """A metadata document could not be read, or was not accepted."""

    client_id: str
    cause: str
