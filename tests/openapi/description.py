"""docs/openapi.yaml, for the tests that compare it with the service."""

from __future__ import annotations

import yaml

from tests.driving.process import REPOSITORY

DESCRIPTION = yaml.safe_load((REPOSITORY / "docs/openapi.yaml").read_text())
