"""Identities at providers are those of one user each, and no user signs in by a provider that only linked accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.takeover.conftest import Import, a_realm, invoke, report_of


def a_provider(issuer: str = "https://idp.example.com", **members: Any) -> dict[str, Any]:
    config = {"issuer": issuer, "clientId": "shop", "clientSecret": "secret"}
    return {"alias": "partner", "providerId": "oidc", "config": config, **members}


def a_user(name: str, *subjects: str) -> dict[str, Any]:
    identities = [{"identityProvider": "partner", "userId": each} for each in subjects]
    return {"id": f"id-of-{name}", "username": name, "federatedIdentities": identities}


def identities_in(folder: Path) -> dict[str, list[str]]:
    users = yaml.safe_load((folder / "users.yaml").read_text())["users"]["list"]
    return {
        each["username"]: [one["subject"] for one in each.get("identities", [])] for each in users
    }


def test_an_identity_is_that_of_the_first_user_who_has_it(
    import_realm: Import, tmp_path: Path
) -> None:
    users = [a_user("alice", "1"), a_user("bob", "1", "2"), a_user("carol", "3", "3")]
    result = import_realm(
        a_realm(users=users, identityProviders=[a_provider()]), "--report", "json"
    )
    assert result.exit_code == 4
    places = [row["place"] for row in report_of(result)["not_taken"]]
    assert places == ["users[1]", "users[2]"]
    assert identities_in(tmp_path / "out") == {"alice": ["1"], "bob": ["2"], "carol": ["3"]}
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0


@pytest.mark.parametrize(
    ("provider", "place"),
    [
        (a_provider(issuer="ftp://idp.example.com"), "identityProviders[0]"),
        (a_provider(linkOnly=True), "identityProviders[0].linkOnly"),
    ],
    ids=["refused by check", "only links accounts"],
)
def test_identities_at_a_provider_that_is_not_taken_are_left_out(
    import_realm: Import, tmp_path: Path, provider: dict[str, Any], place: str
) -> None:
    result = import_realm(
        a_realm(users=[a_user("alice", "1")], identityProviders=[provider]), "--report", "json"
    )
    assert result.exit_code == 4
    places = [row["place"] for row in report_of(result)["not_taken"]]
    assert places[0] == place
    assert places[1].startswith("users[0]")
    assert identities_in(tmp_path / "out") == {"alice": []}
    registry = yaml.safe_load((tmp_path / "out/registry.yaml").read_text())
    assert "identity_providers" not in registry
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
