"""Attributes and groups of a directory become claims (OIDC Core §5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from service.model.user import User
from tests.conftest import Start
from tests.driving.slapd import GROUPS, PEOPLE

pytestmark = [pytest.mark.rfc("OIDC-Core#5.1"), pytest.mark.usefixtures("one_store")]


async def alice(start: Start, config: dict[str, Any], **ldap: object) -> Mapping[str, object]:
    """Return her claims under these settings."""
    config["users"]["ldap"] |= {"claims": {}} | ldap
    service = await start(config)
    user = await service.features.shared.users.by_username("alice")
    assert isinstance(user, User)
    return user.claims


async def test_values_have_the_types_of_their_claims(start: Start, config: dict[str, Any]) -> None:
    claims = {
        "phone_number_verified": "description",
        "updated_at": "title",
        "address": "postalAddress",
        "nickname": "displayName",
        "job": "employeeType",
    }
    lists = {"jobs": "employeeType", "cars": "carLicense"}
    found = await alice(start, config, claims=claims, list_claims=lists, fixed_claims={"org": 7})
    assert found == {
        "phone_number_verified": True,
        "updated_at": 1795521600,
        "address": {"formatted": "1 Main Street\nSpringfield"},
        "job": "engineer",
        "jobs": ["engineer", "author"],
        "cars": [],
        "org": 7,
    }


@pytest.mark.parametrize(
    ("groups", "shown"),
    [
        ({}, ["admins", "root", "staff"]),
        ({"base": GROUPS}, ["admins", "staff"]),
        ({"base": GROUPS.upper().replace(",", ", ")}, ["admins", "staff"]),
        ({"base": f"ou=other{GROUPS}"}, []),
        ({"base": GROUPS, "name": "dn"}, [f"cn=admins,{GROUPS}", f"cn=staff,{GROUPS}"]),
        ({"base": GROUPS, "attribute": None}, ["admins", "staff"]),
        (
            {"base": PEOPLE, "attribute": None, "name": "dn"},
            [f"cn=root,ou=elsewhere,{PEOPLE}"],
        ),
    ],
    ids=["all", "below", "other spelling", "elsewhere", "DNs", "searched", "searched DNs"],
)
async def test_groups_are_a_claim(
    start: Start, config: dict[str, Any], groups: dict[str, Any], shown: list[str]
) -> None:
    assert await alice(start, config, groups={"claim": "roles"} | groups) == {"roles": shown}


async def test_user_of_too_many_groups_is_shown_in_none(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.identity.sources.ldap.MAX_GROUPS", 1)
    groups = {"attribute": None, "base": GROUPS}
    assert await alice(start, config, groups=groups) == {"groups": []}


async def test_long_values_are_left_out(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.identity.sources.ldap.connections.LONGEST_VALUE", 36)
    found = await alice(start, config, claims={"name": "cn"}, groups={"name": "dn"})
    assert found == {"name": "Alice Smith", "groups": [f"cn=staff,{GROUPS}"]}
