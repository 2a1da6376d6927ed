"""A nonce ties an identity token to the client's own session (OIDC Core §3.1.2.1, §3.1.3.6, §15.5.2)."""

from __future__ import annotations

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.3.6")


@pytest.mark.parametrize("nonce", ["n", "n" * 300, "ü &=%\"'\\ +/?#"])
async def test_the_nonce_comes_back_unchanged(app: ClientApp, nonce: str) -> None:
    tokens = await app.tokens(nonce=nonce)
    assert claims_in(tokens["id_token"])["nonce"] == nonce


@pytest.mark.parametrize("nonce", [None, ""])
async def test_a_nonce_is_optional_with_a_code(app: ClientApp, nonce: str | None) -> None:
    tokens = await app.tokens(nonce=nonce)
    assert "nonce" not in claims_in(tokens["id_token"])


async def test_the_nonce_is_in_id_tokens_only(app: ClientApp) -> None:
    tokens = await app.tokens()
    assert "nonce" not in claims_in(tokens["access_token"])


@pytest.mark.rfc("openid-core#12.2")
async def test_a_refreshed_id_token_has_no_nonce(app: ClientApp) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    again = await app.refresh(tokens["refresh_token"])
    assert "nonce" not in claims_in(again["id_token"])


async def test_a_nonce_that_is_too_long_is_refused(app: ClientApp) -> None:
    assert (await app.authorize(nonce="n" * 301)).error == "invalid_request"
