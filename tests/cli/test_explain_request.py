"""`explain` says why an authorization request is refused, what is registered, and how to mend it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from click.testing import CliRunner, Result

from service.cli.program import program
from tests.cli.conftest import Command
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

ISSUER = "https://id.example"
REGISTERED = "https://web.example/callback"
OBJECT = "https://web.example/request.jwt"


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A configuration with the embedded store: a URL is explained without any other."""
    configuration = fresh_configuration()
    configuration["issuer"] = ISSUER
    client_in(configuration, "spa")["enabled"] = False
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(configuration))
    return str(file)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "web")["request_uris"] = [OBJECT]
    return config


def url(**changes: str | None) -> str:
    """An authorization request with some parameters changed or (None) left out."""
    usual: dict[str, str | None] = {
        "client_id": "web",
        "redirect_uri": REGISTERED,
        "response_type": "code",
        "scope": "openid api1",
        "nonce": "n",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    }
    sent = {name: value for name, value in (usual | changes).items() if value is not None}
    return f"{ISSUER}/connect/authorize?{urlencode(sent)}"


def explain(file: str, *arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(program, ["explain", *arguments, "--config", file], input=given)


def rows_of(result: Result) -> dict[str, list[str]]:
    """Return the printed lines by their names."""
    assert result.exit_code == 0, result.stderr
    rows: dict[str, list[str]] = {}
    for line in result.stdout.splitlines():
        if line:
            name, _, value = line.partition("  ")
            rows.setdefault(name, []).append(value.strip())
    return rows


@pytest.mark.parametrize(
    ("changes", "check", "error", "sent", "mend"),
    [
        (
            {"redirect_uri": f"{REGISTERED}/"},
            "client_id and redirect_uri",
            "invalid_request",
            f"{REGISTERED}/",
            f"send redirect_uri={REGISTERED} or add {REGISTERED}/ to redirect_uris of the client web",
        ),
        (
            {"client_id": "wep"},
            "client_id and redirect_uri",
            "invalid_request",
            "wep",
            "send client_id=web or register the client wep",
        ),
        (
            {"scope": "openid api9"},
            "scope is allowed",
            "invalid_scope",
            "api9",
            "define api9 in api_scopes, and add it to allowed_scopes of the client web",
        ),
        (
            {"response_type": "id_token"},
            "response type is allowed",
            "unauthorized_client",
            "id_token",
            "add id_token to allowed_response_types of the client web",
        ),
        (
            {"response_mode": "queri"},
            "parameters",
            "invalid_request",
            "queri",
            "send response_mode=query",
        ),
    ],
    ids=["redirect_uri", "client_id", "scope", "response_type", "response_mode"],
)
def test_a_refused_value_is_explained_with_what_is_registered(  # noqa: PLR0917
    file: str, changes: dict[str, str], check: str, error: str, sent: str, mend: str
) -> None:
    rows = rows_of(explain(file, url(**changes)))
    assert (rows["failed check"], rows["error"], rows["sent"]) == ([check], [error], [sent])
    assert mend in rows["mend"][0]
    assert rows["registered"]


@pytest.mark.parametrize(
    ("changes", "mend"),
    [
        ({"redirect_uri": None}, f"send redirect_uri={REGISTERED}"),
        ({"response_type": None}, "send response_type"),
        ({"code_challenge": None, "code_challenge_method": None}, "send code_challenge with"),
        ({"client_id": "spa"}, "set enabled: true for this client"),
        ({"client_id": "native", "scope": "openid offline_access"}, "redirect_uri"),
        ({"scope": "openid address"}, "address"),
    ],
    ids=["redirect_uri", "response_type", "pkce", "disabled", "another's", "scope"],
)
def test_every_refusal_says_how_to_mend_it(
    file: str, changes: dict[str, str | None], mend: str
) -> None:
    assert mend in rows_of(explain(file, url(**changes)))["mend"][0]


def test_explanation_names_where_the_refusal_is_shown(file: str) -> None:
    page = rows_of(explain(file, url(redirect_uri="https://evil.example/")))
    client = rows_of(explain(file, url(scope="api9")))
    assert "on an error page" in page["shown"][0]
    assert client["shown"] == ["to the client"]


def test_accepted_request_is_explained_as_accepted(file: str) -> None:
    rows = rows_of(explain(file, url()))
    assert rows["kind"] == ["authorization request"]
    assert rows["state"][0].startswith("accepted")
    assert "warning" not in rows


def test_a_url_of_another_server_is_warned_of(file: str) -> None:
    rows = rows_of(explain(file, url().replace("id.example", "other.example")))
    assert rows["warning"] == [f"the authorization endpoint is {ISSUER}/connect/authorize"]


def test_a_url_with_an_alias_of_the_path_is_accepted(file: str, tmp_path: Path) -> None:
    alias = url().replace("/connect/authorize", "/auth")
    assert "warning" in rows_of(explain(file, alias))
    config = tmp_path / "config.yaml"
    config.write_text(f"{config.read_text()}path_aliases: [dex]\n")
    rows = rows_of(explain(file, alias))
    assert rows["state"][0].startswith("accepted")
    assert "warning" not in rows


def test_a_url_comes_by_standard_input(file: str) -> None:
    assert rows_of(explain(file, "-", given=f"{url()}\n"))["kind"] == ["authorization request"]


@pytest.mark.parametrize("mark", ["?", "#"], ids=["query", "fragment"])
def test_an_error_at_the_client_is_explained(file: str, mark: str) -> None:
    answer = {"error": "invalid_scope", "error_description": "scope is missing", "iss": ISSUER}
    rows = rows_of(explain(file, f"{REGISTERED}{mark}{urlencode(answer)}"))
    assert (rows["kind"], rows["client"]) == (["authorization response"], ["web"])
    assert (rows["error"], rows["reason"]) == (["invalid_scope"], ["scope is missing"])
    assert "RFC 6749 §5.2" in rows["meaning"][0]


def test_a_code_at_the_client_is_not_repeated(file: str) -> None:
    result = explain(file, f"{REGISTERED}?code=ac_confidential&iss=https%3A%2F%2Fother.example")
    rows = rows_of(result)
    assert "confidential" not in result.output
    assert rows["state"][0].startswith("granted")
    assert "another server" in rows["warning"][0]


@pytest.mark.parametrize(
    "text", ["https://id.example/account/login?request=x", "http://[", "https://a/?client_id=%ff"]
)
def test_another_url_is_wrong_input(file: str, text: str) -> None:
    result = explain(file, text)
    assert (result.exit_code, "Traceback" in result.stderr) == (1, False)
    assert result.stderr.startswith("Error: ")


def test_parameter_that_a_key_verifies_needs_the_shared_store(file: str) -> None:
    result = explain(file, url(id_token_hint="x.y.z"))
    assert (result.exit_code, "inside the process" in result.stderr) == (1, True)


async def test_an_id_token_hint_is_verified_with_the_keys_in_the_store(
    app: ClientApp, command: Command
) -> None:
    hint = (await app.tokens())["id_token"]
    accepted = await command("explain", app.url(id_token_hint=hint))
    refused = await command("explain", app.url(id_token_hint=f"{hint}x"))
    assert "accepted" in accepted.stdout
    assert "failed check" in refused.stdout
    assert hint not in accepted.output + refused.output


async def test_registered_request_uri_is_named_where_another_one_is_sent(
    app: ClientApp, command: Command
) -> None:
    rows = rows_of(await command("explain", app.url(request_uri=f"{OBJECT}.old")))
    assert (rows["error"], rows["registered"]) == (["invalid_request_uri"], [OBJECT])
    assert f"send request_uri={OBJECT}" in rows["mend"][0]


LOGGED: dict[str, Any] = {
    "timestamp": "2026-01-01T00:00:00Z",
    "level": "info",
    "logger": "audit",
    "event": "authorization_refused",
    "request_id": "abc-123",
    "client_id": "web",
    "error": "invalid_request",
    "parameter": "redirect_uri",
    "value": f"{REGISTERED}/",
}
LOG = "\n".join(
    [
        "listening on http://localhost:8080",
        json.dumps(LOGGED | {"request_id": "abc-1234", "client_id": "spa"}),
        "pod-1 " + json.dumps(LOGGED),
        json.dumps({"event": "request_answered", "request_id": "abc-123", "status": 400}),
        '{"request_id": "abc-123" cut off',
        '["abc-123"]',
    ]
)


@pytest.mark.parametrize("by", ["standard input", "file"])
def test_a_request_is_found_in_the_log_by_its_id(file: str, tmp_path: Path, by: str) -> None:
    (tmp_path / "log").write_text(LOG)
    given = {"given": LOG} if by == "standard input" else {}
    arguments = ["--log", str(tmp_path / "log")] if by == "file" else []
    rows = rows_of(explain(file, "--request", "abc-123", *arguments, **given))
    assert rows["event"] == ["authorization_refused", "request_answered"]
    assert (rows["client_id"], rows["value"]) == (["web"], [f"{REGISTERED}/"])
    assert rows["registered"][0] == REGISTERED
    assert rows["mend"][0].startswith(f"send redirect_uri={REGISTERED}")


def test_a_request_that_is_not_in_the_log_is_wrong_input(file: str) -> None:
    result = explain(file, "--request", "no-such-id", given=LOG)
    assert (result.exit_code, "no line of the log" in result.stderr) == (1, True)


@pytest.mark.parametrize("arguments", [[], ["x", "--request", "y"]], ids=["nothing", "both"])
def test_one_thing_is_explained(file: str, arguments: list[str]) -> None:
    assert explain(file, *arguments).exit_code == 2


async def test_the_log_of_the_service_is_understood(
    app: ClientApp, command: Command, capfd: pytest.CaptureFixture[str]
) -> None:
    page = await app.authorize(redirect_uri="https://web.example/")
    result = await command(
        "explain", "--request", page.text_of("request-id"), given=capfd.readouterr().err
    )
    assert "authorization_refused" in result.stdout
    assert f"send redirect_uri={REGISTERED}" in result.stdout
