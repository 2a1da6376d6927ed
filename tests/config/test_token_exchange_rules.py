"""`check` judges the rules of token exchange, with file, line and field (RFC 8693)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

HASH = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
RULE: dict[str, Any] = {"clients": ["api"], "scopes": ["api"], "audiences": ["api"]}
CLIENT: dict[str, Any] = {
    "client_id": "api",
    "client_secrets": [{"sha256": HASH}],
    "allowed_grant_types": [EXCHANGE],
    "allowed_scopes": ["api"],
}


def file(*rules: Any, **client: Any) -> str:
    """An API that is a client, and its rules."""
    content = {
        "api_resources": [{"name": "api", "secrets": [{"sha256": HASH}]}],
        "clients": [CLIENT | client],
        "token_exchange": [RULE | rule for rule in rules],
    }
    return yaml.dump(content)


def test_a_sound_rule_has_no_problem(problems: Callable[..., Any]) -> None:
    assert problems(file({})) == {}


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ({"clients": ["ap"]}, "token_exchange[0].clients[ap]"),
        ({"scopes": ["api", "apj"]}, "token_exchange[0].scopes[apj]"),
        ({"audiences": ["apj"]}, "token_exchange[0].audiences[0]"),
        ({"subject_audience": ["apj"]}, "token_exchange[0].subject_audience[apj]"),
        (
            {"subject_token_types": ["jwt"], "subject_issuers": ["nobody"]},
            "token_exchange[0].subject_issuers[nobody]",
        ),
        ({"scopes": []}, "token_exchange[0].scopes"),
        ({"audiences": []}, "token_exchange[0].audiences"),
        ({"actor": "perhaps"}, "token_exchange[0].actor"),
        ({"clients": []}, "token_exchange[0].clients"),
        ({"subject_token_types": ["saml2"]}, "token_exchange[0].subject_token_types[0]"),
        ({"max_depth": 0}, "token_exchange[0].max_depth"),
    ],
    ids=str,
)
def test_what_a_rule_cannot_mean_is_an_error(
    problems: Callable[..., Any], rule: Any, path: str
) -> None:
    found = problems(file(rule))
    assert path in found
    assert found[path].severity == "error"
    assert found[path].line > 0


@pytest.mark.parametrize(
    ("rules", "client", "path"),
    [
        ([{}, {"scopes": ["api"]}], {}, "token_exchange[1]"),
        ([{"clients": ["*"]}, {}], {}, "token_exchange[1]"),
        ([{}], {"allowed_grant_types": ["client_credentials"]}, "token_exchange[0].clients[api]"),
        ([{}], {"allowed_scopes": []}, "token_exchange[0].scopes"),
        ([], {}, f"clients[api].allowed_grant_types[{EXCHANGE}]"),
        (
            [{"requested_token_types": ["access_token", "txn_token"]}],
            {},
            "token_exchange[0].requested_token_types[txn_token]",
        ),
        (
            [{"requested_token_types": ["refresh_token"]}],
            {},
            "token_exchange[0].requested_token_types[refresh_token]",
        ),
        ([{}], {"client_id": "web"}, None),
    ],
    ids=str,
)
def test_what_has_no_effect_is_a_warning(
    problems: Callable[..., Any], rules: Any, client: Any, path: str | None
) -> None:
    if path is None:
        rules, path = [{"clients": ["web"]}], "token_exchange[0].clients[web]"
    found = problems(file(*rules, **client))
    assert path in found
    assert found[path].severity == "warning"


def test_rules_that_differ_in_the_actor_both_decide(problems: Callable[..., Any]) -> None:
    assert problems(file({"actor": "none"}, {"actor": "required"})) == {}
