"""Rules on tenants, and on which users may use a client: each finding at its place, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

HASH = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
PROVIDER = {"name": "corp", "issuer": "https://corp.example", "client_id": "us"}
ACME, BETA = {"name": "acme"}, {"name": "beta"}
USER = {"sub": "1", "username": "alice", "claims": {"groups": ["staff"]}}


def written(**changes: Any) -> str:
    """A registry with two tenants and a client, which is sound but for the changes; `client` and `user` change those."""
    client = {
        "client_id": "web",
        "client_secrets": [{"sha256": HASH}],
        "redirect_uris": ["https://app/cb"],
        **changes.pop("client", {}),
    }
    users = {"list": [USER | changes.pop("user", {})]}
    sound = {"tenants": [ACME, BETA], "clients": [client], "users": users}
    return yaml.dump(sound | changes)


def with_tenants(*tenants: dict[str, Any], **changes: Any) -> str:
    return written(tenants=[*tenants], identity_providers=[PROVIDER], **changes)


def test_sound_tenants_and_conditions_are_no_problem(problems: Callable[..., Any]) -> None:
    text = with_tenants(
        ACME | {"providers": ["corp"], "domains": ["acme.example", "Acme.Example."[:-1] + ".org"]},
        BETA,
        client={"tenants": ["acme"], "allowed_users": [{"groups": ["staff"]}, {"sub": ["1"]}]},
        user={"tenant": "acme"},
        tenants_required=True,
    )
    assert problems(text) == {}


FINDINGS = {
    "a client of an unknown tenant": (
        written(client={"tenants": ["acne"]}),
        "clients[web].tenants[acne]",
        "error",
        "there is no tenant acne",
    ),
    "a tenant with an unknown provider": (
        with_tenants(ACME | {"providers": ["corps"]}),
        "tenants[acme].providers[0]",
        "error",
        "there is no identity provider corps",
    ),
    "a user of an unknown tenant": (
        written(user={"tenant": "gamma"}),
        "users.list[alice].tenant",
        "error",
        "there is no tenant gamma",
    ),
    "a user of two tenants": (
        written(user={"tenant": "acme", "claims": {"tenant": "beta"}}),
        "users.list[alice].claims.tenant",
        "error",
        "another tenant",
    ),
    "a claim that is no tenant": (
        written(user={"claims": {"tenant": "gamma"}}),
        "users.list[alice].claims.tenant",
        "warning",
        "belongs to none",
    ),
    "a domain of two tenants": (
        written(tenants=[ACME | {"domains": ["x.example"]}, BETA | {"domains": ["X.example"]}]),
        "tenants[beta].domains[0]",
        "error",
        "a domain of two tenants",
    ),
    "a domain that is an address": (
        written(tenants=[ACME | {"domains": ["info@x.example"]}]),
        "tenants[acme].domains[0]",
        "error",
        "expected the domain of e-mail addresses",
    ),
    "a provider of two tenants": (
        with_tenants(ACME | {"providers": ["corp"]}, BETA | {"providers": ["corp"]}),
        "tenants[beta].providers[0]",
        "warning",
        "between which its users can choose",
    ),
    "tenants that are required and missing": (
        written(tenants=[], tenants_required=True),
        "tenants_required",
        "error",
        "there are no tenants",
    ),
    "two logos": (
        written(tenants=[ACME | {"logo": "https://a/1.svg", "logo_uri": "https://a/2.svg"}]),
        "tenants[acme].logo_uri",
        "warning",
        "is not used",
    ),
    "a logo that is not there": (
        written(tenants=[ACME | {"logo": "nowhere.svg"}]),
        "tenants[acme].logo",
        "error",
        "there is no file",
    ),
    "a client that nobody can sign in to": (
        with_tenants(ACME, client={"tenants": ["acme"], "enable_local_login": False}),
        "clients[web].tenants",
        "warning",
        "nobody can sign in",
    ),
    "a condition without claims": (
        written(client={"allowed_users": [{}]}),
        "clients[web].allowed_users[0]",
        "error",
        "",
    ),
    "a claim without values": (
        written(client={"allowed_users": [{"groups": []}]}),
        "clients[web].allowed_users[0].groups",
        "error",
        "",
    ),
    "a subject that is a number": (
        written(client={"allowed_users": [{"sub": [1]}]}),
        "clients[web].allowed_users[0].sub[0]",
        "warning",
        "expected text in quotes",
    ),
    "a standard claim of another type": (
        written(client={"allowed_users": [{"email_verified": ["yes"]}]}),
        "clients[web].allowed_users[0].email_verified[0]",
        "warning",
        "expected true or false",
    ),
    "a tenant that the client is not for": (
        written(client={"allowed_users": [{"tenant": ["beta"]}], "tenants": ["acme"]}),
        "clients[web].allowed_users[0].tenant[0]",
        "warning",
        "no such tenant",
    ),
    "a condition that no user meets": (
        written(client={"allowed_users": [{"groups": ["owners"]}]}),
        "clients[web].allowed_users[0]",
        "warning",
        "no user of users.list meets it",
    ),
}


@pytest.mark.parametrize(("text", "path", "severity", "message"), FINDINGS.values(), ids=FINDINGS)
def test_what_is_wrong_is_found_at_its_line(
    problems: Callable[..., Any], text: str, path: str, severity: str, message: str
) -> None:
    found = problems(text)
    assert [*found] == [path]
    assert found[path].severity == severity
    assert message in found[path].message
    assert found[path].line


def test_conditions_are_not_judged_by_users_that_the_file_does_not_list(
    problems: Callable[..., Any],
) -> None:
    text = written(
        identity_providers=[PROVIDER], client={"allowed_users": [{"groups": ["owners"]}]}
    )
    assert problems(text) == {}
