"""A client with `profile: oauth21` is held to it for every request (draft-ietf-oauth-v2-1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.profiles.held import HeldApp

pytestmark = pytest.mark.rfc("oauth21#4.3.1", "oauth21#7.5.1")


@pytest.fixture
def modern(held: Callable[[str], HeldApp]) -> HeldApp:
    """The application that follows OAuth 2.1."""
    return held("modern")


@pytest.mark.profile("only_codes", "s256")
async def test_a_flow_needs_nothing_new(modern: HeldApp) -> None:
    page = await modern.login()
    tokens = await modern.redeem(page.parameters["code"], headers={})
    assert (tokens.status, tokens["token_type"]) == (200, "Bearer")


@pytest.mark.profile("only_codes")
async def test_the_password_grant_is_refused(modern: HeldApp) -> None:
    answer = await modern.send(
        "/connect/token",
        headers={},
        grant_type="password",
        username="alice",
        password="alice-password",
    )
    assert answer.refusal == (400, "unauthorized_client")


@pytest.mark.profile("protected_refresh_tokens")
async def test_a_used_refresh_token_ends_its_family(modern: HeldApp) -> None:
    code = (await modern.login()).parameters["code"]
    tokens = await modern.redeem(code, headers={})
    successor = await modern.refresh(tokens["refresh_token"], headers={})
    again = await modern.refresh(tokens["refresh_token"], headers={})
    assert again.refusal == (400, "invalid_grant")
    late = await modern.refresh(successor["refresh_token"], headers={})
    assert late.refusal == (400, "invalid_grant")


@pytest.mark.profile("explicit_type")
@pytest.mark.parametrize(
    ("typ", "error"), [("oauth-authz-req+jwt", None), ("JWT", "invalid_request_object")]
)
async def test_a_request_object_has_the_type_of_one(
    modern: HeldApp, typ: str, error: str | None
) -> None:
    page = await modern.sender.send(
        await modern.sender.signed(typ=typ), redirect_uri=modern.redirect_uri
    )
    assert page.has("login") if error is None else page.error == error


@pytest.mark.profile("no_token_in_query")
async def test_an_access_token_in_the_query_is_refused(modern: HeldApp) -> None:
    tokens = await modern.redeem((await modern.login()).parameters["code"], headers={})
    answer = await modern.service.get(f"/connect/userinfo?access_token={tokens['access_token']}")
    assert answer.status == 401
