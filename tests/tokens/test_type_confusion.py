"""A token signed for one purpose is refused for another, and unexpected claims cause no error (RFC 8725 §3.11, §3.12)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("8725#3.11", "8725#3.12")

ODD: dict[str, dict[str, object]] = {
    "no exp": {"exp": None},
    "exp is text": {"exp": "4102444800"},
    "exp is a list": {"exp": [1]},
    "no jti": {"jti": None},
    "jti is a number": {"jti": 7},
    "no aud": {"aud": None},
    "no client_id": {"client_id": None},
    "sub is an object": {"sub": {}},
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A client whose userinfo answers are signed."""
    client_in(config, "web")["userinfo_signed_response_alg"] = "ES256"
    return config


async def sign(service: RunningService, claims: dict[str, object], typ: str) -> str:
    """A JWT that the service's own key signed."""
    present = {name: value for name, value in claims.items() if value is not None}
    return await service.features.ring.signing_key().sign(present, typ=typ)


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_an_access_token_with_odd_claims_is_inactive(
    service: RunningService, odd: dict[str, object]
) -> None:
    whole = claims_in((await service.user_token())["access_token"])
    token = await sign(service, whole | odd, "at+jwt")
    assert (await service.introspect(token)).json == {"active": False}
    headers = {"Authorization": f"Bearer {token}"}
    assert (await service.get("/connect/userinfo", headers=headers)).status == 401


@pytest.mark.rfc("7800#3.1", "9449#7.1")
@pytest.mark.parametrize(
    "cnf",
    [{"kid": "x"}, {"jkt": "x", "x5t#S256": "y"}, {}, {"jkt": 1}, "x"],
    ids=["unknown method", "two keys", "no key", "no text", "no object"],
)
async def test_an_access_token_bound_to_a_key_in_an_unknown_way_is_no_bearer_token(
    service: RunningService, cnf: object
) -> None:
    whole = claims_in((await service.user_token(scope="openid api1"))["access_token"])
    assert await service.is_active(await sign(service, whole | {"cnf": {"jkt": "x"}}, "at+jwt"))
    token = await sign(service, whole | {"cnf": cnf}, "at+jwt")
    assert (await service.introspect(token)).json == {"active": False}
    headers = {"Authorization": f"Bearer {token}"}
    refused = await service.get("/connect/userinfo", headers=headers)
    assert refused.refusal == (401, "invalid_token")


async def test_a_signed_userinfo_answer_is_no_hint(app: ClientApp, service: RunningService) -> None:
    headers = {"Authorization": f"Bearer {(await app.tokens())['access_token']}"}
    userinfo = (await service.get("/connect/userinfo", headers=headers)).body.decode()
    page = await app.authorize(id_token_hint=userinfo)
    assert (page.status, page.error) == (303, "invalid_request")
    page = await app.browser.get(f"/connect/endsession?id_token_hint={userinfo}")
    assert page.has("logout-confirm")


async def test_an_access_token_is_no_hint(app: ClientApp) -> None:
    access_token = (await app.tokens())["access_token"]
    page = await app.authorize(id_token_hint=access_token)
    assert (page.status, page.error) == (303, "invalid_request")


async def test_a_hint_with_odd_claims_is_refused(app: ClientApp, service: RunningService) -> None:
    hint = await sign(service, {"iss": service.issuer, "aud": ["web"]}, "JWT")
    assert (await app.authorize(id_token_hint=hint)).error == "invalid_request"


@pytest.mark.parametrize("claims", [[], "text", 7, None], ids=str)
async def test_claims_that_are_no_object_are_inactive(
    service: RunningService, claims: object
) -> None:
    key = service.features.ring.signing_key()
    token = await key.sign(claims, typ="at+jwt")  # type: ignore[arg-type]
    assert (await service.introspect(token)).json == {"active": False}


async def test_token_in_another_spelling_is_inactive(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    signed_part, _, signature = token.rpartition(".")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    other = signature[:-1] + last[last.index(signature[-1]) + 1]
    for spelling in (f"{token}==", f"{signed_part}.{other}", token.replace("_", "/")):
        if spelling != token:
            assert (await service.introspect(spelling)).json == {"active": False}


async def test_a_header_can_hold_anything(service: RunningService) -> None:
    for header in ('{"typ":[]}', '{"typ":{},"kid":[]}', '{"typ":"at+jwt","kid":{}}', "[]", "7"):
        part = urlsafe_b64encode(header.encode()).rstrip(b"=").decode()
        assert (await service.introspect(f"{part}.e30.AAAA")).json == {"active": False}
