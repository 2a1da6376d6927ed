"""Rules on identities of users, and on the subjects of dex: each finding at its place, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

PROVIDER = {"name": "corp", "issuer": "https://corp.example", "client_id": "us"}
OTHER = {**PROVIDER, "name": "other", "issuer": "https://other.example", "own_callback": True}
MINE = {"provider": "corp", "subject": "A-1"}
DIRECTORY = {"urls": ["ldaps://ldap.example"], "base": "dc=example", "starttls": False}


def written(
    *identities: list[dict[str, str]], providers: Any = (PROVIDER, OTHER), **users: Any
) -> str:
    """A registry with two providers, and a user for each list of identities."""
    listed = [
        {"sub": f"{at}", "username": f"user{at}", "identities": each}
        for at, each in enumerate(identities)
    ]
    return yaml.dump({"identity_providers": [*providers], "users": {"list": listed, **users}})


def dex(name: str, **members: Any) -> dict[str, Any]:
    return {**OTHER, "name": name, "subject_format": "dex", **members}


def test_sound_identities_are_no_problem(problems: Callable[..., Any]) -> None:
    others = [MINE | {"subject": "a-1"}, MINE | {"provider": "other"}]
    assert problems(written([MINE], others)) == {}
    assert problems(written(providers=[dex("github"), dex("google", connector_id="g")])) == {}


FINDINGS = {
    "an unknown provider": (
        written([MINE | {"provider": "corps"}]),
        "users.list[user0].identities[0].provider",
        "there is no identity provider corps",
    ),
    "an identity of two users": (
        written([MINE], [{**MINE}]),
        "users.list[user1].identities[0].subject",
        "is who a user is already at the provider, first at",
    ),
    "an identity twice": (
        written([MINE, {**MINE}]),
        "users.list[user0].identities[1].subject",
        "is who a user is already at the provider, first at",
    ),
    "an empty subject": (
        written([MINE | {"subject": ""}]),
        "users.list[user0].identities[0].subject",
        "must not be empty",
    ),
    "a column for an unknown provider": (
        written(source="sql", sql={"url": "sqlite+aiosqlite://", "table": "t", "identities": {"x": "c"}}),
        "users.sql.identities.x",
        "there is no identity provider x",
    ),
    "an attribute for an unknown provider": (
        written(source="ldap", ldap={**DIRECTORY, "identities": {"x": "c"}}),
        "users.ldap.identities.x",
        "there is no identity provider x",
    ),
    "two providers of one connector": (
        written(providers=[dex("github"), dex("google", connector_id="github")]),
        "identity_providers[google].connector_id",
        "github is the connector of others, too",
    ),
    "the connector of dex's own users": (
        written(providers=[dex("corp", connector_id="local")]),
        "identity_providers[corp].connector_id",
        "local is the connector of the users that dex has itself",
    ),
    "a connector without its format": (
        written(providers=[{**PROVIDER, "connector_id": "x"}]),
        "identity_providers[corp].connector_id",
        "has no effect without subject_format: dex",
    ),
    "a directory of the connector of a provider": (
        written(
            providers=[dex("ldap")], source="ldap", ldap={**DIRECTORY, "subject_format": "dex"}
        ),
        "users.ldap.connector_id",
        "ldap is the connector of others, too",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "path", "message"), FINDINGS.values(), ids=FINDINGS)
def test_what_is_wrong_is_found_at_its_line(
    problems: Callable[..., Any], text: str, path: str, message: str
) -> None:
    found = problems(text)
    assert path in found, found
    assert message in found[path].message
    assert found[path].line
