"""The answer as a JWT of its own type, for this caller alone (RFC 9701)."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.driving.service import Answer, RunningService, basic, header_of

pytestmark = pytest.mark.rfc("9701#5")

SIGNED = "application/token-introspection+jwt"
JSON = "application/json"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api2 always gets signed answers."""
    config["api_resources"][1]["introspection_signed_response"] = True
    return config


async def asked(service: RunningService, token: str, caller: str, accept: str) -> Answer:
    """Ask about a token."""
    return await service.post(
        "/connect/introspect", auth=caller, headers={"Accept": accept}, token=token
    )


async def claims_of(service: RunningService, answer: Answer) -> dict[str, Any]:
    """The verified claims of a signed answer."""
    assert answer.headers["Content-Type"] == SIGNED
    text = answer.body.decode()
    assert header_of(text)["typ"] == "token-introspection+jwt"
    keys = KeySet.import_key_set((await service.get("/.well-known/jwks.json")).json)  # type: ignore[arg-type]
    claims: dict[str, Any] = jwt.decode(text, keys, algorithms=["ES256"]).claims
    return claims


async def test_a_caller_that_accepts_a_jwt_gets_a_signed_answer(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    claims = await claims_of(service, await asked(service, token, "api1", SIGNED))
    plain = (await service.introspect(token)).json
    assert (claims["iss"], claims["aud"]) == (service.issuer, "api1")
    assert claims["token_introspection"] == plain
    assert claims.keys() == {"iss", "aud", "iat", "token_introspection"}


@pytest.mark.rfc("9110#12.5.1", "9701#4")
@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("Application/Token-Introspection+JWT", SIGNED),
        (f"{SIGNED}; q=0.9, */*;q=0.1", SIGNED),
        (f"application/json;q=0.5, {SIGNED};charset=utf-8;q=0.8", SIGNED),
        (f"application/json, {SIGNED}", SIGNED),
        (f'text/html;level=",";q=1,{SIGNED};Q=0.001', SIGNED),
        (f"{SIGNED};q=0", JSON),
        (f"{SIGNED};q=0.1, application/json", JSON),
        (f"{SIGNED};q=0.1, APPLICATION/*;q=0.2", JSON),
        (f"{SIGNED};q=0.1, */*", JSON),
        (f"{SIGNED};q=2", JSON),
        (f"{SIGNED};q=0.0001", JSON),
        (f"{SIGNED}s", JSON),
        (f'text/html;x=", {SIGNED}"', JSON),
        (f'text/html;x="\\", {SIGNED}"', JSON),
        (f"{SIGNED}, text/html" + "," * 1000, JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("", JSON),
        (",;=,/;q", JSON),
    ],
)
async def test_accept_is_read_by_quality_and_without_regard_to_case(
    service: RunningService, accept: str, content_type: str
) -> None:
    answer = await asked(service, "nonsense", "api1", accept)
    assert (answer.status, answer.headers["Content-Type"]) == (200, content_type)


@pytest.mark.rfc("9110#5.3")
async def test_accept_may_be_sent_in_several_fields(service: RunningService) -> None:
    headers = [
        ("Accept", "application/json;q=0.1"),
        ("Accept", SIGNED),
        ("Authorization", basic("api1", "api1-secret")),
    ]
    answer = await service.request(
        "POST", "/connect/introspect", data={"token": "nonsense"}, headers=headers
    )
    assert answer.headers["Content-Type"] == SIGNED


async def test_the_answer_about_an_inactive_token_is_signed_too(service: RunningService) -> None:
    claims = await claims_of(service, await asked(service, "nonsense", "machine", SIGNED))
    assert claims["token_introspection"] == {"active": False}


async def test_a_resource_may_be_registered_for_signed_answers(service: RunningService) -> None:
    claims = await claims_of(service, await asked(service, "nonsense", "api2", "application/json"))
    assert claims["aud"] == "api2"


async def test_a_signed_answer_is_not_accepted_as_a_token(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    answer = (await asked(service, token, "api1", SIGNED)).body.decode()
    assert not await service.is_active(answer)
