"""Rules across fields of config.yaml: each is a function from the file, or from one client, to findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry

FileRule = Callable[[ConfigurationFile], Iterable[Finding]]
ClientRule = Callable[[ClientEntry], Iterable[Finding]]


def of_each_client(*rules: ClientRule) -> FileRule:
    """Return rules on one client as a rule on the file."""

    def of_each(file: ConfigurationFile) -> Iterator[Finding]:
        for at, client in enumerate(file.clients):
            for rule in rules:
                for finding in rule(client):
                    yield finding.below("clients", at)

    return of_each
