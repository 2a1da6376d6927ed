"""Every success that docs/openapi.yaml describes is seen, and is as it says; so are the usual refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import requests

from tests.driving.service import basic
from tests.openapi.description import DESCRIPTION

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
AUTHORIZE = {
    "client_id": "web",
    "redirect_uri": "http://localhost:3000/callback",
    "response_type": "code",
    "scope": "openid api1",
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}
PASSWORD: dict[str, Any] = {"grant_type": "password", "username": "alice", "password": "alice"}
NEED_A_SESSION = {
    ("GET", "/connect/authorize", 200),
    ("POST", "/connect/authorize", 200),
    ("GET", "/connect/endsession", 303),
    ("POST", "/connect/endsession", 200),
}
"""Tests of the pages see these."""
NEED_A_PROVIDER = {
    ("GET", "/connect/idp/{name}/callback", 200),
    ("GET", "/connect/idp/{name}/callback", 303),
    ("GET", "/connect/idp/{name}/jwks", 200),
    ("POST", "/connect/idp/{name}/backchannel_logout", 200),
}
"""Tests of identity providers see these."""
CHECK = "/connect/check/{api}"
"""It takes every method."""
METADATA = {"redirect_uris": ["https://app.example/callback"]}


@dataclass
class Caller:
    """Sends requests, validates their answers, and remembers which were seen."""

    base_url: str
    schema: Any
    seen: set[tuple[str, str, int]] = field(default_factory=set)

    def ask(self, method: str, path: str, status: int, *, of: str = "", **sent: Any) -> Any:
        answer = requests.request(
            method, self.base_url + path, timeout=20, allow_redirects=False, **sent
        )
        assert answer.status_code == status, answer.text
        operation = of or path
        assert str(status) in DESCRIPTION["paths"][operation][method.lower()]["responses"]
        self.schema[operation][method].validate_response(answer)
        self.seen.add((method, operation, status))
        return answer

    def token(self, name: str, status: int = 200, **form: str) -> str:
        auth = (name, f"{name}-secret")
        answer = self.ask("POST", "/connect/token", status, auth=auth, data=form)
        return str(answer.json()["access_token"])

    def introspect(self, name: str, token: str, **headers: str) -> Any:
        sent: dict[str, Any] = {
            "auth": (name, f"{name}-secret"),
            "data": {"token": token},
            "headers": headers,
        }
        return self.ask("POST", "/connect/introspect", 200, **sent)


@pytest.fixture(scope="module")
def caller(base_url: str, schema: Any) -> Caller:
    """One caller for all tests of this module."""
    return Caller(base_url, schema)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_every_success_is_as_described(caller: Caller) -> None:
    for story in (tokens, userinfo, people, registration, documents, revocation):
        story(caller)
    described = {
        (method.upper(), path, int(status))
        for path, item in DESCRIPTION["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
        for status in operation["responses"]
        if status.startswith(("2", "303"))
    }
    assert described - caller.seen == NEED_A_SESSION | NEED_A_PROVIDER


def tokens(caller: Caller) -> None:
    alice = caller.token("frontend", **PASSWORD, scope="openid api1 offline_access")
    delegated = caller.token("api1", grant_type="delegation", token=alice, scope="api2")
    assert caller.introspect("api1", alice).json()["active"] is True
    assert caller.introspect("api2", alice).json()["active"] is False
    assert caller.introspect("api2", delegated).json()["act"] == {"sub": "api1"}
    shown = {"X-Check-Authorization": basic("api1", "api1-secret")}
    headers = bearer(alice) | shown
    caller.ask("GET", CHECK.format(api="api1"), 200, of=CHECK, headers=headers)
    signed = caller.introspect("api1", alice, Accept="application/token-introspection+jwt")
    assert signed.headers["Content-Type"] == "application/token-introspection+jwt"
    auth = ("frontend", "frontend-secret")
    caller.ask("POST", "/connect/revocation", 200, auth=auth, data={"token": alice})


def userinfo(caller: Caller) -> None:
    token = caller.token("frontend", **PASSWORD, scope="openid profile")
    caller.ask("GET", "/connect/userinfo", 200, headers=bearer(token))
    caller.ask("POST", "/connect/userinfo", 200, data={"access_token": token})


def people(caller: Caller) -> None:
    caller.ask("GET", "/connect/authorize", 303, params=AUTHORIZE)
    auth = ("web", "web-secret")
    caller.ask("POST", "/connect/par", 201, data=AUTHORIZE, auth=auth)
    asked = {"scope": "openid", "login_hint": "alice"}
    caller.ask("POST", "/connect/ciba", 200, data=asked, auth=("till", "till-secret"))
    caller.ask("POST", "/connect/authorize", 303, data=AUTHORIZE)
    device = {"client_id": "tv", "scope": "openid"}
    caller.ask("POST", "/connect/deviceauthorization", 200, data=device)
    caller.ask("GET", "/connect/endsession", 200)
    caller.ask("POST", "/connect/endsession", 303, data={"state": "s"})
    caller.ask("GET", "/connect/checksession", 200)


def registration(caller: Caller) -> None:
    made = caller.ask("POST", "/connect/register", 201, json=METADATA).json()
    of = "/connect/register/{client_id}"
    path, headers = of.format(**made), bearer(made["registration_access_token"])
    caller.ask("GET", path, 200, of=of, headers=headers)
    changed = METADATA | {"client_id": made["client_id"], "client_name": "Another name"}
    caller.ask("PUT", path, 200, of=of, headers=headers, json=changed)
    caller.ask("DELETE", path, 204, of=of, headers=headers)
    caller.ask("GET", path, 401, of=of, headers=headers)


def documents(caller: Caller) -> None:
    for path in DESCRIPTION["paths"]:
        if path.startswith(("/.well-known/", "/health/", "/metrics")):
            caller.ask("GET", path.format(api="api1"), 200, of=path)


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (400, {"data": {"grant_type": "unknown", "client_id": "spa"}}),
        (401, {"data": {"grant_type": "password"}, "auth": ("web", "wrong")}),
        (413, {"data": {"grant_type": "x" * 70000}}),
        (415, {"json": {"grant_type": "password"}}),
    ],
)
def test_a_refused_token_request_is_as_described(
    caller: Caller, status: int, sent: dict[str, Any]
) -> None:
    caller.ask("POST", "/connect/token", status, **sent)


def test_a_token_without_openid_is_refused_as_described(caller: Caller) -> None:
    token = caller.token("frontend", **PASSWORD, scope="api1")
    caller.ask("GET", "/connect/userinfo", 403, headers=bearer(token))


def test_a_refused_authorization_is_a_page_as_described(caller: Caller) -> None:
    caller.ask("GET", "/connect/authorize", 400, params={"client_id": "unknown"})


@pytest.mark.parametrize("path", [path for path in DESCRIPTION["paths"] if path != CHECK])
def test_a_wrong_method_is_as_described(caller: Caller, path: str) -> None:
    described = next(method for method in DESCRIPTION["paths"][path] if method != "parameters")
    answer = requests.patch(caller.base_url + path.replace("{", "").replace("}", ""), timeout=20)
    assert answer.status_code == 405
    caller.schema[path][described.upper()].validate_response(answer)


def revocation(caller: Caller) -> None:
    bob = "88421113"  # alice signs in for the other tests of this service
    body = {"sub_id": {"format": "opaque", "id": bob}}
    auth = ("machine", "machine-secret")
    caller.ask("POST", "/connect/global-token-revocation", 204, auth=auth, json=body)
