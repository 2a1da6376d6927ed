"""Loads config.yaml by every rule, with what this version supports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.clients.authentication import CLIENT_AUTH_METHODS
from service.config import load as config_yaml
from service.config.configuration import Configuration
from service.config.judge import FileRule
from service.config.problem import Problem
from service.config.reading.source import Source
from service.grants import BUILTIN_GRANTS
from service.model.catalogue import Catalogue
from service.start.checks import START_RULES
from service.start.rules import file_rules

_BY_AUTHORIZE = frozenset({"implicit"})
"""The authorize endpoint issues these tokens; there is no handler at the token endpoint."""


def builtin_catalogue() -> Catalogue:
    """Return what this version supports, from the lists of the implementations."""
    grants = BUILTIN_GRANTS.items()
    openly = {name for name, grant in grants if grant.registration == "open"}
    by_token = {name for name, grant in grants if grant.registration == "with_token"}
    return Catalogue(
        grant_types=_BY_AUTHORIZE | BUILTIN_GRANTS.keys(),
        registrable_grant_types=_BY_AUTHORIZE | openly | by_token,
        openly_registrable_grant_types=_BY_AUTHORIZE | openly,
        client_auth_methods={
            name: method.credential for name, method in CLIENT_AUTH_METHODS.items()
        },
        response_modes=RESPONSE_MODE_NAMES,
    )


def load(file: Path, environ: Mapping[str, str], further: Iterable[FileRule] = ()) -> Configuration:
    """Load a file and those that it includes, by further rules too; raise ConfigError with every problem."""
    return load_with_source(file, environ, further)[0]


def load_to_serve(file: Path, environ: Mapping[str, str]) -> Configuration:
    """Load a configuration by all rules, those of a start included; raise ConfigError with every problem."""
    return load(file, environ, START_RULES)


def load_with_source(
    file: Path, environ: Mapping[str, str], further: Iterable[FileRule] = ()
) -> tuple[Configuration, Source]:
    """Load a file, and return what knows the place of each value, too."""
    catalogue = builtin_catalogue()
    return config_yaml.load(file, environ, catalogue, (*file_rules(catalogue), *further))


def inspect(
    file: Path, environ: Mapping[str, str], further: Iterable[FileRule] = ()
) -> tuple[Problem, ...]:
    """Return every problem of a configuration file, by further rules too."""
    return config_yaml.inspect(file, environ, (*file_rules(builtin_catalogue()), *further))
