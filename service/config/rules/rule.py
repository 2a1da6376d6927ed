"""What a rule is: a small function that yields what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.config.problem import Finding
from service.config.schema.client import ClientEntry
from service.config.schema.file import ConfigurationFile

FileRule = Callable[[ConfigurationFile], Iterator[Finding]]
ClientRule = Callable[[ClientEntry], Iterator[Finding]]


def of_each_client(rule: ClientRule) -> FileRule:
    """The rule on one client as a rule on the file."""

    def of_each(file: ConfigurationFile) -> Iterator[Finding]:
        for at, client in enumerate(file.clients):
            for finding in rule(client):
                yield finding.below("clients", at)

    return of_each
