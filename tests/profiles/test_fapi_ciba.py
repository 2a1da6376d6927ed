"""A client with a profile of FAPI asks for authentications by the rules of FAPI-CIBA (§5.2.2)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.ciba.consumption import CIBA
from tests.clients.signing import key_of
from tests.driving.registry import client_in
from tests.driving.service import Answer
from tests.profiles.held import HeldApp

pytestmark = [pytest.mark.rfc("fapi-ciba#5.2.2"), pytest.mark.profile("ciba")]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The others may use CIBA, too; the endpoints have the paths of Hydra besides."""
    config["path_aliases"] = ["hydra"]
    for name in ("security", "signing"):
        client_in(config, name)["allowed_grant_types"].append(CIBA)
    return config


@pytest.fixture(params=["security", "signing", "ciba"])
def fapi(held: Callable[[str], HeldApp], request: pytest.FixtureRequest) -> HeldApp:
    """An application of each profile."""
    return held(request.param)


async def ask(
    app: HeldApp, alg: str = "ES256", *, assertion: dict[str, Any] | None = None, **changes: Any
) -> Answer:
    """Ask by a signed request, with some claims changed or (None) left out; `assertion` changes those of the client's."""
    now = int(time.time())
    usual = {
        "iss": app.client_id,
        "aud": app.service.issuer,
        "iat": now,
        "nbf": now,
        "exp": now + 300,
        "jti": uuid4().hex,
        "scope": "openid api2",
        "login_hint": "alice",
        "binding_message": "W4SCT",
    }
    claims = {name: value for name, value in (usual | changes).items() if value is not None}
    signed = await key_of(alg).sign(claims, typ="oauth-authz-req+jwt")
    return await app.send("/connect/ciba", headers={}, claims=assertion, request=signed)


async def test_a_signed_request_of_this_hour_is_accepted(fapi: HeldApp) -> None:
    answer = await ask(fapi)
    assert answer.status == 200
    pending = await fapi.send("/connect/token", grant_type=CIBA, auth_req_id=answer["auth_req_id"])
    assert pending.refusal == (400, "authorization_pending")


@pytest.mark.parametrize(
    ("path", "outcome"),
    [("/connect/token", (200, None)), ("/oauth2/token", (401, "invalid_client"))],
    ids=["own path", "path of Hydra"],
)
async def test_an_assertion_is_for_no_alias_of_the_token_endpoint(
    held: Callable[[str], HeldApp], path: str, outcome: tuple[int, str | None]
) -> None:
    app = held("ciba")
    answer = await ask(app, assertion={"aud": app.service.issuer + path})
    assert (answer.status, answer.json.get("error")) == outcome


async def test_an_unsigned_request_is_refused(fapi: HeldApp) -> None:
    answer = await fapi.send(
        "/connect/ciba", headers={}, scope="openid", login_hint="alice", binding_message="W4SCT"
    )
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.parametrize(
    ("alg", "changes"),
    [
        ("RS256", {}),
        ("ES256", {"nbf": 1}),
        ("ES256", {"exp": 9_999_999_999}),
        ("ES256", {"aud": "https://other.example"}),
    ],
    ids=["another algorithm", "old", "for too long", "for another audience"],
)
async def test_a_request_by_a_weak_algorithm_or_for_too_long_is_refused(
    fapi: HeldApp, alg: str, changes: dict[str, Any]
) -> None:
    assert (await ask(fapi, alg, **changes)).refusal == (400, "invalid_request")


async def test_a_request_without_context_is_refused(fapi: HeldApp) -> None:
    answer = await ask(fapi, binding_message=None)
    assert answer.refusal == (400, "invalid_binding_message")


@pytest.mark.rfc("ciba#7.1")
@pytest.mark.parametrize(
    "audience", ["", "/connect/token", "/connect/ciba"], ids=["issuer", "token", "ciba"]
)
async def test_an_assertion_may_be_for_the_issuer_or_either_endpoint(
    held: Callable[[str], HeldApp], audience: str
) -> None:
    app = held("ciba")
    claims = {"aud": app.service.issuer + audience}
    asked = await ask(app, assertion=claims)
    assert asked.status == 200
    form = {"grant_type": CIBA, "auth_req_id": asked["auth_req_id"]}
    polled = await app.send("/connect/token", claims=claims, **form)
    wanted = (
        (400, "authorization_pending") if audience != "/connect/ciba" else (401, "invalid_client")
    )
    assert polled.refusal == wanted
