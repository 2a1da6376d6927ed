"""Names the file and line of a client's entry; read only for what is shown."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from service.cli.ways.finding import Way
from service.config.configuration import collector_paused
from service.config.reading.files import FilesRead
from service.config.reading.source import Source


class Places:
    """The places of the entries of one configuration."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: dict[str, str] = {}

    def way(self, way: Way) -> str:
        """Return file and line of what allows a way."""
        return way.rule or self.client(way.client_id)

    def client(self, client_id: str) -> str:
        """Return file and line of the entry of a client."""
        if client_id not in self._found:
            source, positions = self._read
            self._found[client_id] = source.find_line(("clients", positions[client_id]))
        return self._found[client_id]

    @cached_property
    def _read(self) -> tuple[Source, dict[str, int]]:
        with collector_paused():
            source = Source(self._file, os.environ, FilesRead())
        clients = source.values.get("clients") if isinstance(source.values, dict) else None
        positions = {
            str(entry["client_id"]): at
            for at, entry in enumerate(clients if isinstance(clients, list) else [])
            if isinstance(entry, dict)
        }
        return source, positions
