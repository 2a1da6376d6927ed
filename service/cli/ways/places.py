"""Names the file and line of a client's entry; looked up only for what is shown."""

from __future__ import annotations

from functools import cached_property

from service.cli.ways.finding import Way
from service.cli.ways.workloads import Workloads
from service.config.reading.source import Source


class Places:
    """The places of the entries of one configuration."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[str, str] = {}

    def way(self, way: Way) -> str:
        """Return file and line of what allows a way."""
        return way.rule or self.client(way.client_id)

    def client(self, client_id: str) -> str:
        """Return file and line of the entry of a client."""
        if client_id not in self._found:
            at = self._positions[client_id]
            self._found[client_id] = self._source.find_line(("clients", at))
        return self._found[client_id]

    def workload(self, workloads: Workloads) -> str:
        """Return file and line of a rule of `workload_issuers`."""
        return self._source.find_line(("workload_issuers", *workloads.position))

    def section(self, name: str) -> str:
        """Return file and line of a section."""
        return self._source.find_line((name,))

    @cached_property
    def _positions(self) -> dict[str, int]:
        values = self._source.values
        clients = values.get("clients") if isinstance(values, dict) else None
        return {
            str(entry["client_id"]): at
            for at, entry in enumerate(clients if isinstance(clients, list) else [])
            if isinstance(entry, dict)
        }
