"""The generated documents, by their names in docs/; `make lint` fails where one is stale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from scripts.docs import configuration, conformance, decisions, profiles, reach, rfc_map
from service.catalogue import builtin_catalogue
from service.config.schema.json_schema import json_schema

DOCUMENTS: Mapping[str, Callable[[], str]] = {
    "configuration.md": configuration.render,
    "config.schema.json": lambda: json.dumps(json_schema(builtin_catalogue()), indent=2) + "\n",
    "conformance.md": conformance.render,
    "decisions/README.md": decisions.render,
    "profiles.md": profiles.render,
    "reach.svg": reach.render,
    "rfc-map.md": rfc_map.render,
}
