"""Names the entries of a configuration that allow a way: their file and line, and the workloads that are clients (`workload_issuers`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from service.admin.ways.finding import Way
from service.config.problem import Location
from service.model.registry import Registry
from service.model.workload import WorkloadRule


class Workloads(NamedTuple):
    """The workloads that one rule of an issuer fits."""

    issuer: str
    rule: WorkloadRule
    location: Location

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
                location = ("workload_issuers", at, "rules", number)
                fitting = Workloads(issuer.name, rule, location)
                found[name] = (*found.get(name, ()), fitting)
    return found


class LatestPlaces:
    """The places in the registry that was asked about last."""

    def __init__(self) -> None:
        self._places: Places | None = None

    def find(self, registry: Registry) -> Places:
        if self._places is None or self._places.registry is not registry:
            self._places = Places(registry)
        return self._places


class Places:
    """The files and lines of the entries of one registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def way(self, way: Way) -> str:
        """Return file and line of what allows a way."""
        return way.rule or self.client(way.client_id)

    def client(self, client_id: str) -> str:
        """Return file and line of the entry of a client."""
        return self.registry.lines["clients"].find(self._clients[client_id])

    def api(self, name: str) -> str | None:
        """Return file and line of the entry of an API resource; None for the admin API."""
        if name not in self._apis:
            return None
        return self.registry.lines["api_resources"].find(self._apis[name])

    @cached_property
    def _clients(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.registry.clients)}

    @cached_property
    def _apis(self) -> Mapping[str, int]:
        return {name: at for at, name in enumerate(self.registry.api_resources)}
