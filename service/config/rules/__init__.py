"""Rules across fields of config.yaml, each one small function, listed by what they look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile

FileRule = Callable[[ConfigurationFile], Iterator[Finding]]

RULES: tuple[FileRule, ...] = ()


def findings_of(file: ConfigurationFile) -> Iterator[Finding]:
    """Everything that the rules have to say of a file whose keys and values are well-formed."""
    for rule in RULES:
        yield from rule(file)
