"""docs/openapi.yaml, for the tests that compare it with the service."""

from __future__ import annotations

import schemathesis
import yaml

from tests.driving.process import REPOSITORY

DESCRIPTION = yaml.safe_load((REPOSITORY / "docs/openapi.yaml").read_text())
SCHEMA = schemathesis.openapi.from_dict(DESCRIPTION)
