"""The rows of the admin API that look at something."""

from __future__ import annotations

from service.admin.api import AdminRequest, Reply, Row
from service.model.registry import LiveRegistry


def registry_rows(registry: LiveRegistry) -> tuple[Row, ...]:
    """Return the row about the registry in force."""

    async def describe(_: AdminRequest) -> Reply:
        return {"generation": registry.current.generation}

    return (Row("GET", "/admin/registry", describe),)
