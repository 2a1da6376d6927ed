"""Names the entries of a configuration that allow a way: their file and line, and the workloads that are clients (`workload_issuers`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from service.cli.ways.finding import Way
from service.config.reading.source import Source
from service.model.registry import Registry
from service.model.workload import WorkloadRule


class Workloads(NamedTuple):
    """The workloads that one rule of an issuer fits."""

    issuer: str
    rule: WorkloadRule
    position: tuple[int, str, int]
    """The place of the rule below `workload_issuers`."""

    @property
    def label(self) -> str:
        """The claims that the rule compares; the client_id before them if the rule makes clients."""
        rule = self.rule
        compared = [rule.subject or "", *(f"{name}={value}" for name, value in rule.claims.items())]
        text = " ".join(filter(None, compared))
        return f"{rule.client_id}: {text}" if rule.template else text

    @property
    def members(self) -> dict[str, object]:
        """The rule as a JSON object."""
        rule = self.rule
        return {
            "issuer": self.issuer,
            "subject": rule.subject,
            "claims": dict(rule.claims),
            "client_id": rule.client_id,
        }


ByClient = Mapping[str, tuple[Workloads, ...]]


def find_workloads(registry: Registry) -> ByClient:
    """Return the rules that lead to each client or template, in the order of the file."""
    found: dict[str, tuple[Workloads, ...]] = {}
    for at, issuer in enumerate(registry.workload_issuers.values()):
        for number, rule in enumerate(issuer.rules):
            name = rule.template or rule.client_id
            if name is not None:
                fitting = Workloads(issuer.name, rule, (at, "rules", number))
                found[name] = (*found.get(name, ()), fitting)
    return found


class Places:
    """The files and lines of the entries of one configuration, each looked up when it is first shown."""

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
