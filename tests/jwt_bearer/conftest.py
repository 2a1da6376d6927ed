"""A trusted issuer, and clients that may present its assertions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import hashed
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry


@pytest.fixture
def trusted() -> dict[str, Any]:
    """Changes of the trusted issuer; a test module has a fixture of the same name."""
    return {}


@pytest.fixture
def config(config: dict[str, Any], trusted: dict[str, Any]) -> dict[str, Any]:
    """`courier` may present the assertions of `partner`."""
    config["trusted_issuers"] = [partner_entry(**trusted)]
    for name in ("courier", "other-courier"):
        config["clients"].append(
            presenter_entry(name, hashed(name), allow_offline_access=name == "courier")
        )
    return config


@pytest.fixture
def partner(service: RunningService) -> Partner:
    """The issuer."""
    return Partner(service)
