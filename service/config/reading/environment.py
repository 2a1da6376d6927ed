"""Reads the settings that environment variables put in place of the file's, and finds unknown variables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from service.config.problem import Location, Problem
from service.config.reading.values import Value, resolve
from service.config.schema.findings import nearest

ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "SERVICE_HOST": ("server", "host"),
    "SERVICE_PORT": ("server", "port"),
    "SERVICE_WORKERS": ("server", "workers"),
    "SERVICE_STORE_URL": ("store", "url"),
}
"""Environment variables that beat the file."""
KNOWN = (*ENVIRONMENT, "SERVICE_CONFIG", "SERVICE_LOG_LEVEL", "SERVICE_LOG_FORMAT")
"""All that the service reads."""


def override_values(values: Value, environ: Mapping[str, str]) -> dict[Location, str]:
    """Put the environment's settings in the file's place, and return their texts."""
    replaced: dict[Location, str] = {}
    for variable, (section, key) in ENVIRONMENT.items():
        text = environ.get(variable)
        if not text or not isinstance(values, dict):
            continue
        settings = values.setdefault(section, {})
        if isinstance(settings, dict):
            settings[key] = resolve(text)
            replaced[section, key] = text
    return replaced


def find_unknown_variables(
    environ: Mapping[str, str], referred: Collection[str]
) -> Iterator[Problem]:
    """Warn of variables named as the service's own that neither it nor a `${NAME}` of the file reads."""
    for name in environ:
        if name.startswith("SERVICE_") and name not in KNOWN and name not in referred:
            yield Problem(
                file=name,
                line=0,
                column=0,
                path="",
                message="this environment variable is unknown and has no effect",
                severity="warning",
                hint=nearest(name, KNOWN) or f"known: {', '.join(KNOWN)}",
            )
