"""A client with `profile: fapi2_message_signing` signs its requests, besides the Security Profile (FAPI 2.0 Message Signing)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from service.keys import jwe
from service.keys.jose import Key
from tests.driving.browser import Page
from tests.driving.service import claims_in, header_of
from tests.profiles.held import HeldApp

pytestmark = pytest.mark.rfc("fapi2-message-signing#5.3.1")

TYP = "oauth-authz-req+jwt"


@pytest.fixture
def signing(held: Callable[[str], HeldApp]) -> HeldApp:
    """The application that signs its messages."""
    return held("signing")


def response_in(page: Page) -> dict[str, Any]:
    """The claims of the response, without other parameters."""
    assert page.parameters.keys() == {"response"}
    assert header_of(page.parameters["response"])["alg"] == "ES256"
    return claims_in(page.parameters["response"])


async def signed(app: HeldApp, alg: str = "ES256", *, typ: str = TYP, **changes: Any) -> str:
    """The usual request as an object of this hour, changed or (None) left out."""
    times = {"nbf": timedelta(0), "exp": timedelta(minutes=5)}
    return await app.sender.signed(alg, typ=typ, **{**times, **changes})


@pytest.mark.profile("signed_requests", "objects_alone")
async def test_a_signed_request_alone_is_a_whole_request(signing: HeldApp) -> None:
    page = await signing.answer(request=await signed(signing))
    tokens = await signing.redeem(response_in(page)["code"])
    assert (tokens.status, tokens["token_type"]) == (200, "DPoP")


@pytest.mark.profile("fresh_requests")
@pytest.mark.parametrize(
    "changes",
    [
        {"nbf": timedelta(minutes=-59), "exp": timedelta(seconds=30)},
        {"nbf": timedelta(0), "exp": timedelta(minutes=60)},
        {"nbf": timedelta(seconds=10), "iat": timedelta(seconds=10)},
        {"aud": ["https://other.example", "issuer"]},
    ],
    ids=["old", "long", "ahead", "one audience of several"],
)
async def test_an_object_of_this_hour_is_accepted(
    signing: HeldApp, changes: dict[str, Any]
) -> None:
    if "aud" in changes:
        changes = {"aud": ["https://other.example", signing.service.issuer]}
    assert (await signing.push(request=await signed(signing, **changes))).status == 201


@pytest.mark.rfc("9101#6.1")
async def test_an_object_may_be_encrypted_as_well(signing: HeldApp) -> None:
    jwks = (await signing.service.get("/.well-known/jwks.json"))["keys"]
    key = Key.load(next(one for one in jwks if one["alg"] == "ECDH-ES"), "ECDH-ES")
    text = jwe.encrypt((await signed(signing)).encode(), key, enc="A256GCM", cty=TYP)
    assert (await signing.push(request=text)).status == 201
    assert (await signing.push(request=text[:-4] + "AAAA")).refusal == (
        400,
        "invalid_request_object",
    )


@pytest.mark.profile("algorithms")
@pytest.mark.parametrize("alg", ["PS256", "EdDSA"])
async def test_a_request_is_signed_by_the_algorithms_of_the_profile(
    signing: HeldApp, alg: str
) -> None:
    assert (await signing.push(request=await signed(signing, alg))).status == 201


@pytest.mark.rfc("fapi2-message-signing#5.5.1")
@pytest.mark.profile("signed_introspection")
async def test_the_apis_of_its_scopes_get_signed_introspection(signing: HeldApp) -> None:
    page = await signing.answer(request=await signed(signing))
    tokens = await signing.redeem(response_in(page)["code"])
    answer = await signing.service.post(
        "/connect/introspect",
        auth="api2",
        headers={"Accept": "application/token-introspection+jwt"},
        token=tokens["access_token"],
    )
    header = header_of(answer.body.decode())
    assert (header["typ"], header["alg"]) == ("token-introspection+jwt", "ES256")


@pytest.mark.rfc("fapi2-message-signing#5.4.1")
@pytest.mark.profile("signed_responses", "issuer_in_answers")
@pytest.mark.parametrize("mode", [None, "jwt", "query.jwt", "fragment.jwt"])
async def test_an_answer_is_signed(signing: HeldApp, mode: str | None) -> None:
    page = await signing.answer(request=await signed(signing, response_mode=mode))
    response = response_in(page)
    assert (response["iss"], response["aud"]) == (signing.service.issuer, "signing")
    assert response["state"] == "the-state"


@pytest.mark.profile("signed_responses")
async def test_a_refusal_is_signed(signing: HeldApp) -> None:
    pushed = await signing.push(request=await signed(signing, prompt="none"))
    assert response_in(await signing.follow(pushed))["error"] == "login_required"


@pytest.mark.profile("signed_responses")
@pytest.mark.parametrize("mode", [None, "fragment"])
async def test_an_option_allows_responses_without_a_signature(
    held: Callable[[str], HeldApp], mode: str | None
) -> None:
    plain = held("plain")
    page = await plain.answer(request=await signed(plain, response_mode=mode))
    assert page.parameters["iss"] == plain.service.issuer
