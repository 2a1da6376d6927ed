"""The section `admin` has a place and scope values of its own, or `check` says what to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.changes import registry_changes, settings_changes
from service.start.load import load

HASH = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
URL = "https://admin.example.com"
GOOD = {"port": 8443, "url": URL}
API = {"name": "api", "secrets": [{"sha256": HASH}]}


def admin(**keys: Any) -> dict[str, Any]:
    """A file with the section, changed or (None) with keys left out."""
    section = {name: value for name, value in {**GOOD, **keys}.items() if value is not None}
    return {"admin": section}


def operator(**keys: Any) -> dict[str, Any]:
    """A file with the section, and a client that lists a scope value of it."""
    client = {
        "client_id": "operations",
        "client_secrets": [{"sha256": HASH}],
        "allowed_grant_types": ["client_credentials"],
        "allowed_scopes": ["admin.read"],
    }
    return {**admin(), "clients": [client], **keys}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no port": (admin(port=None), "admin.port"),
    "the public port": (admin(port=8080), "admin.port"),
    "the management port": (admin() | {"server": {"management_port": 8443}}, "admin.port"),
    "no URL": (admin(url=None), "admin.url"),
    "no TLS": (admin(url="http://admin.example.com"), "admin.url"),
    "a path": (admin(url=f"{URL}/admin"), "admin.url"),
    "a query": (admin(url=f"{URL}?a=1"), "admin.url"),
    "a fragment": (admin(url=f"{URL}#a"), "admin.url"),
    "user information": (admin(url="https://a@admin.example.com"), "admin.url"),
    "the host of the issuer": (admin(url="https://auth.example.com:8443"), "admin.url"),
    "the host of the issuer in capitals": (admin(url="https://AUTH.EXAMPLE.COM:8443"), "admin.url"),
    "the host of clients with certificates": (
        admin() | {"server": {"mtls_base_url": f"{URL}:444", "client_certificate_header": "Client-Cert", "trusted_proxies": ["10.0.0.0/8"]}},
        "admin.url",
    ),
    "an API of its name": (admin() | {"api_resources": [API | {"name": URL}]}, "api_resources[https://admin.example.com].name"),
    "an API of its URL": (admin() | {"api_resources": [API | {"url": f"{URL}/"}]}, "api_resources[api].url"),
    "an API with its scope value": (
        admin() | {"api_resources": [API | {"scopes": ["admin.read"]}]},
        "api_resources[api].scopes[admin.read]",
    ),
    "an API called as its scope value": (
        admin() | {"api_resources": [API | {"name": "admin.write"}]},
        "api_resources[admin.write].name",
    ),
    "a description of its scope value": (
        admin() | {"api_scopes": [{"name": "admin.read"}]},
        "api_scopes[admin.read].name",
    ),
    "an identity resource of its scope value": (
        admin() | {"identity_resources": [{"name": "admin.read"}]},
        "identity_resources[admin.read].name",
    ),
    "registered clients with its scope value": (
        admin() | {"registration": {"enabled": True, "allowed_scopes": ["admin.read"]}},
        "registration.allowed_scopes[admin.read]",
    ),
    "clients with documents and its scope value": (
        admin() | {"client_id_metadata": {"enabled": True, "allowed_scopes": ["admin.write"]}},
        "client_id_metadata.allowed_scopes[admin.write]",
    ),
    "exchange of tokens for its scope value": (
        operator(token_exchange=[{"clients": ["operations"], "scopes": ["admin.read"], "audiences": []}]),
        "token_exchange[0].scopes[admin.read]",
    ),
    "a trust domain with its scope value": (
        operator(trust_domains=[{"name": "td", "scopes": ["admin.read"]}]),
        "trust_domains[td].scopes[admin.read]",
    ),
    "an authentication context that nobody can meet": (
        admin(required_acr="gold"),
        "admin.required_acr",
    ),
    "a certificate that is not there": (
        admin(tls={"certificate": "none.pem", "private_key": "none.key"}),
        "admin.tls.certificate",
    ),
    "TLS without a key": (admin(tls={"certificate": "none.pem"}), "admin.tls.private_key"),
    "a key that there is not": (admin(ports=1), "admin.ports"),
    "no host": (admin(host=""), "admin.host"),
    "a condition without values": (admin(allowed_users=[{"sub": []}]), "admin.allowed_users[0].sub"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_section_that_cannot_be_served_is_an_error(problems: Callable[..., Any], name: str) -> None:
    file, place = WRONG[name]
    assert problems(yaml.dump(file)).get(place) is not None


def test_scope_value_is_known_to_clients_alone_where_the_section_is(
    problems: Callable[..., Any],
) -> None:
    assert "clients[operations].allowed_scopes[admin.read]" not in problems(yaml.dump(operator()))
    without = {name: value for name, value in operator().items() if name != "admin"}
    assert "clients[operations].allowed_scopes[admin.read]" in problems(yaml.dump(without))


def test_operators_may_have_these_scope_values_without_the_section(
    problems: Callable[..., Any],
) -> None:
    file = {"api_resources": [API | {"scopes": ["admin.read"]}]}
    assert not [place for place in problems(yaml.dump(file)) if "admin.read" in place]


def test_condition_that_no_user_meets_is_a_warning(problems: Callable[..., Any]) -> None:
    found = problems(yaml.dump(admin(allowed_users=[{"sub": ["nobody"]}], writers=[{"a": ["b"]}])))
    assert {"admin.allowed_users[0]", "admin.writers[0]"} <= found.keys()


def test_reload_says_what_needs_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    issuer = {"issuer": "https://id.example.com"}
    file.write_text(yaml.dump(issuer | admin()))
    before = load(file, {})
    changed = admin(port=9443, writers=[{"sub": ["1"]}])
    file.write_text(yaml.dump(issuer | changed))
    after = load(file, {})
    assert [*settings_changes(before, after)] == ["admin.port"]
    assert before.registry.generation != after.registry.generation
    assert "~ admin" in [*registry_changes(before.registry, after.registry)]
