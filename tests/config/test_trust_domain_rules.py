"""`check` judges trust domains (draft-ietf-oauth-transaction-tokens)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

HASH = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
DOMAIN: dict[str, Any] = {"name": "shop", "clients": ["gateway"], "scopes": ["checkout"]}


def file(domain: Any, **client: Any) -> str:
    gateway: dict[str, Any] = {"client_id": "gateway", "allowed_grant_types": [EXCHANGE]}
    gateway |= {"client_secrets": [{"sha256": HASH}]}
    return yaml.dump({"clients": [gateway | client], "trust_domains": [DOMAIN | domain]})


def test_a_sound_domain_has_no_problem(problems: Callable[..., Any]) -> None:
    assert problems(file({})) == {}


def test_each_unknown_client_of_a_domain_is_named(problems: Callable[..., Any]) -> None:
    found = problems(file({"clients": ["gatewai", "gatewei"], "replacement": ["x"]}))
    names = ("clients[gatewai]", "clients[gatewei]", "replacement[x]")
    assert {*found} >= {f"trust_domains[shop].{name}" for name in names}


@pytest.mark.parametrize(
    ("domain", "client", "path", "severity"),
    [
        ({"clients": ["gatewai"]}, {}, "trust_domains[shop].clients[gatewai]", "error"),
        ({"replacement": ["x"]}, {}, "trust_domains[shop].replacement[x]", "error"),
        ({"scopes": []}, {}, "trust_domains[shop].scopes", "error"),
        (
            {"transaction_context": {"refund": ["a"]}},
            {},
            "trust_domains[shop].transaction_context.refund",
            "error",
        ),
        ({"clients": ["a,b"]}, {"client_id": "a,b"}, "trust_domains[shop].clients[a,b]", "error"),
        ({"clients": []}, {}, "trust_domains[shop].clients", "warning"),
        ({"lifetime": "1h"}, {}, "trust_domains[shop].lifetime", "warning"),
        (
            {"subject_token_types": ["self_signed"]},
            {},
            "trust_domains[shop].clients[gateway]",
            "warning",
        ),
        (
            {},
            {"allowed_grant_types": ["client_credentials"]},
            "trust_domains[shop].clients[gateway]",
            "warning",
        ),
        ({"subject_token_types": ["refresh_token"]}, {}, None, "error"),
    ],
    ids=str,
)
def test_what_a_domain_cannot_mean_is_found(
    problems: Callable[..., Any], domain: Any, client: Any, path: str | None, severity: str
) -> None:
    found = problems(file(domain, **client))
    path = path or "trust_domains[shop].subject_token_types[0]"
    assert path in found
    assert found[path].severity == severity


@pytest.mark.parametrize(
    ("check", "path", "severity"),
    [
        ({"token": "txn_token"}, "check.token", "error"),
        ({"token": "txn_token", "trust_domain": "c.example"}, "check.trust_domain", "error"),
        ({"token": "txn_token", "trust_domain": "a.example"}, None, ""),
        ({"token": "txn_token", "trust_domain": "b.example"}, "check.token", "error"),
        ({"token": "jwt", "cache": "1m"}, "check.cache", "warning"),
    ],
)
def test_the_configuration_says_of_which_trust_domain(
    problems: Callable[..., Any], check: Any, path: str | None, severity: str
) -> None:
    domains = [{"name": "a.example", "scopes": ["a"]}, {"name": "b.example", "scopes": ["b"]}]
    content = {"api_resources": [{"name": "a", "check": check}], "trust_domains": domains}
    found = problems(yaml.dump(content))
    judged = {
        each.path: each.severity
        for each in found.values()
        if each.path.startswith("api_resources[a].check")
    }
    assert judged == ({f"api_resources[a].{path}": severity} if path else {})
