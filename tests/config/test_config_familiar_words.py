"""A word of another server's configuration comes with the one that is written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scripts.docs.json_schema import plain_json_schema
from service.config.schema.familiar_keys import FAMILIAR
from service.model.grant_types import find_meant_grant_type
from service.start.load import builtin_catalogue

CORS = "browsers are let in by clients[].allowed_cors_origins, client by client"
CLAIM = "it is a claim: write it below `claims:` of the user"


@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        ("clients: [{client_id: a, name: A}]", "clients[A].name", "did you mean client_name?"),
        ("clients: [{client_id: a, scope: b}]", "clients[a].scope", "did you mean allowed_scopes?"),
        (
            "clients: [{client_id: a, public: true}]",
            "clients[a].public",
            "write require_client_secret: false for a public client",
        ),
        (
            "clients: [{client_id: a, access_token_ttl: 5m}]",
            "clients[a].access_token_ttl",
            "did you mean access_token_lifetime?",
        ),
        (
            "clients: [{client_id: a, consent_mode: implicit}]",
            "clients[a].consent_mode",
            "did you mean require_consent?",
        ),
        ("server: {cors: {}}", "server.cors", CORS),
        ("cors: {}", "cors", CORS),
        ("users: []", "users", "write users: {list: […]}"),
        ("store: redis://name:secret@host", "store", "write store: {url: …}"),
        ("users: [{sub: '1', username: a}]", "users", "write users: {list: […]}"),
        ("users: {list: [{sub: '1', username: a, email: b}]}", "users.list[a].email", CLAIM),
        ("clients: {a: {}}", "clients", "write a list, whose entries begin with -"),
        (
            "clients: [{client_id: a, zzz: 1}]",
            "clients[a].zzz",
            "docs/configuration.md lists the keys",
        ),
    ],
    ids=str,
)
def test_a_familiar_key_comes_with_the_one_that_is_meant(
    problems: Callable[..., Any], text: str, path: str, hint: str
) -> None:
    assert problems(text)[path].hint == hint


def test_a_required_key_under_a_familiar_name_is_not_missed_too(
    problems: Callable[..., Any],
) -> None:
    found = problems("clients: [{id: a, require_client_secret: false}]")
    assert {path: each.hint for path, each in found.items() if each.severity == "error"} == {
        "clients[0].id": "did you mean client_id?"
    }


def test_an_included_file_knows_familiar_sections(problems: Callable[..., Any], file: Any) -> None:
    file.with_name("more.yaml").write_text("apis: []\n")
    assert problems("include: [more.yaml]")["apis"].hint == "did you mean api_resources?"


@pytest.mark.parametrize("section", FAMILIAR)
def test_a_key_that_is_suggested_is_known(section: str) -> None:
    schema = plain_json_schema(builtin_catalogue())
    known = schema["properties"]
    for part in filter(None, section.split(".")):
        key = known[part]
        name = key.get("items", key)["$ref"].rpartition("/")[2]
        known = schema["$defs"][name]["properties"]
    suggested = {meant for meant in FAMILIAR[section].values() if " " not in meant}
    assert suggested <= known.keys()
    assert set(FAMILIAR[section]).isdisjoint(known)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("device_code", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device-flow", "urn:ietf:params:oauth:grant-type:device_code"),
        ("ciba", "urn:openid:params:grant-type:ciba"),
        ("token_exchange", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("jwt-bearer", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("code", "authorization_code"),
        ("client_credential", "client_credentials"),
        ("refresh", "refresh_token"),
    ],
)
def test_a_short_grant_type_comes_with_its_whole_name(
    problems: Callable[..., Any], written: str, meant: str
) -> None:
    found = problems(f"clients: [{{client_id: a, allowed_grant_types: [{written}]}}]")
    assert found[f"clients[a].allowed_grant_types[{written}]"].hint == f"did you mean {meant}?"
    assert meant in builtin_catalogue().grant_types
    assert find_meant_grant_type(meant) is None
