"""The findings of `check` about CIBA: clients, times, the notifier, the webhook (CIBA Core §4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from service.config.problem import Problem
from tests.ciba.consumption import CIBA, ciba_client
from tests.driving.registry import hashed

pytestmark = pytest.mark.rfc("ciba#4")

Problems = Callable[..., dict[str, Problem]]
SECRETS = [{"sha256": hashed("web")}]
MODE, ENDPOINT = "backchannel_token_delivery_mode", "backchannel_client_notification_endpoint"


def judged(problems: Problems, ciba: dict[str, Any] | None = None, **client: Any) -> dict[str, str]:
    """The severity of each problem of a client that may use CIBA."""
    entry = ciba_client("till", SECRETS, **({MODE: "poll"} | client))
    content = {"clients": [entry], "ciba": ciba or {}, "api_resources": [{"name": "api1"}]}
    text = json.dumps(content)[1:-1]
    lines = "\n".join(
        f"{name}: {json.dumps(value)}" for name, value in json.loads(f"{{{text}}}").items()
    )
    found = problems(lines)
    return {
        path: problem.severity
        for path, problem in found.items()
        if path.startswith(("clients", "ciba", "signing"))
    }


def test_a_client_that_polls_is_right(problems: Problems) -> None:
    assert judged(problems) == {}


@pytest.mark.parametrize(
    ("client", "key"),
    [
        ({MODE: "push"}, MODE),
        ({MODE: "ping"}, ENDPOINT),
        ({MODE: "ping", ENDPOINT: "http://till.example/told"}, ENDPOINT),
        ({"require_client_secret": False, "client_secrets": []}, f"allowed_grant_types[{CIBA}]"),
        (
            {"backchannel_authentication_request_signing_alg": "ES256"},
            "backchannel_authentication_request_signing_alg",
        ),
    ],
    ids=str,
)
def test_a_client_that_does_not_fit_is_an_error(
    problems: Problems, client: dict[str, Any], key: str
) -> None:
    assert judged(problems, **client) == {f"clients[till].{key}": "error"}


def test_a_key_without_the_grant_type_is_a_warning(problems: Problems) -> None:
    found = judged(problems, allowed_grant_types=["client_credentials"], allow_offline_access=False)
    assert found[f"clients[till].{MODE}"] == "warning"


@pytest.mark.parametrize(
    ("ciba", "path", "severity"),
    [
        ({"expires_in": "11m"}, "ciba.expires_in", "error"),
        ({"interval": "2m"}, "ciba.interval", "warning"),
        ({"webhook": "http://push.example/"}, "ciba.webhook", "warning"),
        (
            {"webhook": "https://push.example/", "notifier": "tests.ciba.telling:Keeping"},
            "ciba.webhook",
            "warning",
        ),
        ({"notifier": "tests.ciba.telling:Unfinished"}, "ciba.notifier", "error"),
        ({"notifier": "tests.ciba.telling:Missing"}, "ciba.notifier", "error"),
        ({"notifier": "tests.ciba.telling:NOTICES"}, "ciba.notifier", "error"),
        ({"max_binding_message": 0}, "ciba.max_binding_message", "error"),
    ],
    ids=str,
)
def test_a_setting_that_does_not_fit_is_found(
    problems: Problems, ciba: dict[str, Any], path: str, severity: str
) -> None:
    assert judged(problems, ciba) == {path: severity}


def test_pings_on_a_shared_store_need_the_encryption_key(problems: Problems) -> None:
    entry = ciba_client("till", SECRETS, **{MODE: "ping", ENDPOINT: "https://till.example/told"})
    found = problems(
        f"store: {{url: 'redis://localhost'}}\nsigning: {{source: files}}\nclients: {json.dumps([entry])}\n"
    )
    assert "CIBA" in found["signing.encryption_key"].message


def test_a_user_code_is_a_hash(problems: Problems) -> None:
    user = {"sub": "1", "username": "alice", "ciba_user_code": "1234"}
    found = problems(f"users: {{list: {json.dumps([user])}}}\n")
    (problem,) = [one for path, one in found.items() if path.endswith("ciba_user_code")]
    assert problem.severity == "error"
