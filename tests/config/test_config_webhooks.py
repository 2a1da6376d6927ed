"""The findings of `check` about webhooks: URLs, secrets, kinds of events."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.config.configuration import Configuration
from service.config.problem import Problem
from service.events.event import event_name, find_kinds
from service.webhooks.kinds import find_wanted

Problems = Callable[..., dict[str, Problem]]

SECRET = "whsec_" + b64encode(bytes(24)).decode()
ENTRY: dict[str, Any] = {
    "url": "https://siem.example.com/hook",
    "secrets": [SECRET],
    "kinds": ["user_disabled"],
}
AT = "events.webhooks[0]"


def judged(problems: Problems, *entries: dict[str, Any], **file: Any) -> dict[str, Problem]:
    """Return the problems of webhooks, each the usual one but for these keys."""
    webhooks = [ENTRY | entry for entry in entries]
    content = {"events": {"webhooks": webhooks}} | file
    text = "\n".join(f"{name}: {json.dumps(value)}" for name, value in content.items())
    return {path: one for path, one in problems(text).items() if path.startswith("events")}


def test_a_webhook_with_a_secret_and_a_kind_is_right(problems: Problems) -> None:
    assert judged(problems, {}) == {}


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "http": ({"url": "http://siem.example.com/"}, f"{AT}.url", "http is for loopback addresses"),
    "another scheme": ({"url": "ftp://siem.example.com/"}, f"{AT}.url", "http or https URL"),
    "no URL": ({"url": "siem"}, f"{AT}.url", "http or https URL"),
    "credentials in the URL": (
        {"url": "https://me:password@siem.example.com/"},
        f"{AT}.url",
        "has credentials",
    ),
    "fragment": ({"url": "https://siem.example.com/#a"}, f"{AT}.url", "has a fragment"),
    "loopback": ({"url": "http://127.0.0.1:9/"}, f"{AT}.url", "allowed_networks"),
    "loopback by name": ({"url": "http://localhost:9/"}, f"{AT}.url", "allowed_networks"),
    "loopback in IPv6": ({"url": "http://[::1]:9/"}, f"{AT}.url", "allowed_networks"),
    "private address": ({"url": "https://10.1.2.3/"}, f"{AT}.url", "allowed_networks"),
    "metadata service": ({"url": "https://169.254.169.254/"}, f"{AT}.url", "allowed_networks"),
    "no secret": ({"secrets": []}, f"{AT}.secrets", ""),
    "one secret as text": ({"secrets": SECRET}, f"{AT}.secrets", ""),
    "secret without whsec_": (
        {"secrets": [SECRET.removeprefix("whsec_")]},
        f"{AT}.secrets[0]",
        "whsec_",
    ),
    "secret that is no base64": ({"secrets": ["whsec_!"]}, f"{AT}.secrets[0]", "base64"),
    "short secret": (
        {"secrets": ["whsec_" + b64encode(bytes(23)).decode()]},
        f"{AT}.secrets[0]",
        "24",
    ),
    "long secret": (
        {"secrets": ["whsec_" + b64encode(bytes(65)).decode()]},
        f"{AT}.secrets[0]",
        "64",
    ),
    "eleven secrets": ({"secrets": [SECRET] * 11}, f"{AT}.secrets", ""),
    "no kind": ({"kinds": []}, f"{AT}.kinds", ""),
    "unknown kind": ({"kinds": ["user_disabeld"]}, f"{AT}.kinds[0]", "user_disabeld"),
    "kind in capitals": ({"kinds": ["UserDisabled"]}, f"{AT}.kinds[0]", "UserDisabled"),
    "pattern of nothing": ({"kinds": ["person_*"]}, f"{AT}.kinds[0]", "no event matches"),
    "pattern of what is to be named": ({"kinds": ["token_*"]}, f"{AT}.kinds[0]", "token_issued"),
    "pattern of what anyone can cause": (
        {"kinds": ["*_refused_*", "registration_*"]},
        f"{AT}.kinds[1]",
        "registration_refused",
    ),
    "request log": ({"kinds": ["request_answered"]}, f"{AT}.kinds[0]", "request_answered"),
    "events of webhooks": ({"kinds": ["webhook_failed"]}, f"{AT}.kinds[0]", "webhook_failed"),
    "personal as text": ({"personal": "yes"}, f"{AT}.personal", ""),
    "unknown key": ({"secret": SECRET}, f"{AT}.secret", "unknown key"),
}


@pytest.mark.parametrize(("entry", "path", "words"), REFUSED.values(), ids=REFUSED)
def test_check_refuses_a_webhook(
    problems: Problems, entry: dict[str, Any], path: str, words: str
) -> None:
    found = judged(problems, entry)
    assert found[path].severity == "error"
    assert words in found[path].message
    assert SECRET not in str(list(map(str, found.values())))


def test_check_names_the_nearest_event(problems: Problems) -> None:
    found = judged(problems, {"kinds": ["user_disabeld"]})
    assert found[f"{AT}.kinds[0]"].hint == "did you mean user_disabled?"


def test_check_warns_of_events_that_a_pattern_leaves_out(problems: Problems) -> None:
    found = judged(problems, {"kinds": ["user_*"]})[f"{AT}.kinds[0]"]
    assert found.severity == "warning"
    assert "user_code_refused" in found.message


def test_check_refuses_a_url_that_is_there_twice(problems: Problems) -> None:
    assert "is there twice" in judged(problems, {}, {})[f"{AT}.url"].message


def test_an_address_inside_is_right_where_the_operator_lists_its_network(
    problems: Problems,
) -> None:
    outgoing = {"allowed_networks": ["127.0.0.0/8"]}
    assert judged(problems, {"url": "http://127.0.0.1:9/"}, outgoing=outgoing) == {}


def test_events_that_anyone_can_cause_and_those_of_tokens_are_matched_by_no_pattern() -> None:
    matched = set(map(event_name, find_wanted(["*"])))
    assert matched.isdisjoint({"login_failed", "user_code_refused", "client_refused"})
    assert not any(name.startswith("token_") for name in matched)
    assert "refresh_token_reused" in matched
    refusals = {name for name in map(event_name, find_kinds()) if name.endswith("_refused")}
    assert matched & refusals == {"factor_refused", "registry_reload_refused"}


def test_every_kind_can_be_named_that_patterns_leave_out() -> None:
    for kind in find_kinds():
        assert find_wanted([event_name(kind)]) == (
            {kind} - {kind if kind.webhooks == "never" else None}
        )


def test_secrets_are_read_from_files_and_never_shown(
    read: Callable[..., Configuration], tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n")
    text = f'events: {{webhooks: [{{url: "https://a.example/", secrets: ["${{file:{tmp_path}/secret}}"], kinds: ["key_*"]}}]}}\n'
    configuration = read(text)
    (webhook,) = configuration.events.webhooks
    assert webhook.secrets == (bytes(24),)
    assert "secrets" not in repr(webhook)
    assert str(bytes(24)) not in repr(configuration)
