"""The generated documents, by their paths; `make lint` fails where one is stale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripts.docs import (
    audit_events,
    client_metadata,
    configuration,
    conformance,
    decisions,
    profiles,
    reach,
    rfc_map,
)
from scripts.docs.json_schema import json_schema
from service.start.load import builtin_catalogue

DOCUMENTS: Mapping[str, Callable[[], str]] = {
    "docs/configuration.md": configuration.render,
    "docs/reference/client-metadata.md": client_metadata.render,
    "docs/reference/audit-events.md": audit_events.render,
    "docs/reference/conformance.md": conformance.render,
    "docs/decisions/README.md": decisions.render,
    "docs/profiles.md": profiles.render,
    "docs/reach.svg": reach.render,
    "docs/reference/rfc-map.md": rfc_map.render,
    "service/config/config.schema.json": lambda: (
        json.dumps(json_schema(builtin_catalogue()), indent=2) + "\n"
    ),
}
