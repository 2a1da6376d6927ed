"""Users of a realm's Google provider come from the domains that the realm names, and from no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.takeover.conftest import Import, a_realm, report_of


def google(**config: str) -> dict[str, Any]:
    given = {"clientId": "shop", "clientSecret": "secret", **config}
    return {"alias": "google", "providerId": "google", "config": given}


@pytest.mark.parametrize(
    ("domains", "allowed"),
    [
        ({}, None),
        ({"hostedDomain": "a.example"}, [{"hd": ["a.example"]}]),
        ({"hostedDomain": "a.example,b.example"}, [{"hd": ["a.example", "b.example"]}]),
        ({"hostedDomain": "a.example,"}, [{"hd": ["a.example"]}]),
    ],
    ids=["none", "one", "two", "an empty one"],
)
def test_every_domain_of_google_is_allowed_by_itself(
    import_realm: Import, tmp_path: Path, domains: dict[str, str], allowed: object
) -> None:
    result = import_realm(a_realm(identityProviders=[google(**domains)]))
    assert result.exit_code == 0
    (provider,) = yaml.safe_load((tmp_path / "out/registry.yaml").read_text())["identity_providers"]
    assert provider.get("allowed_claims") == allowed


@pytest.mark.parametrize("domain", ["*", ","])
def test_google_provider_without_a_domain_to_compare_is_not_taken(
    import_realm: Import, tmp_path: Path, domain: str
) -> None:
    result = import_realm(
        a_realm(identityProviders=[google(hostedDomain=domain)]), "--report", "json"
    )
    assert result.exit_code == 4
    (row,) = report_of(result)["not_taken"]
    assert row["place"] == "identityProviders[0].config.hostedDomain"
    assert "allowed_claims" in row["what_to_do"]
    registry = yaml.safe_load((tmp_path / "out/registry.yaml").read_text())
    assert "identity_providers" not in registry
