"""Names the workloads that clients of the registry are, or whose clients have their settings (`workload_issuers`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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
