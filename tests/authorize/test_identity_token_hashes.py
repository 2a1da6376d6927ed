"""The hashes in an identity token belong to its signature algorithm (OIDC Core §3.1.3.6, §3.3.2.11)."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in, header_of

pytestmark = pytest.mark.rfc("openid-core#3.1.3.6", "openid-core#3.3.2.11")

HASHES = {
    "RS256": "sha256",
    "ES256": "sha256",
    "ES384": "sha384",
    "PS512": "sha512",
    "EdDSA": "sha512",
}


@pytest.fixture(params=HASHES)
def alg(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def config(config: dict[str, Any], alg: str) -> dict[str, Any]:
    """Identity tokens of one client are signed in every way there is."""
    config["signing"]["algorithms"] = ["ES256", *sorted(HASHES.keys() - {"ES256"})]
    client_in(config, "implicit")["id_token_signed_response_alg"] = alg
    return config


async def test_each_hash_is_the_left_half(app_of: Callable[[str], ClientApp], alg: str) -> None:
    client = app_of("implicit")
    answer = (await client.login(response_type="code id_token token")).parameters
    claims = claims_in(answer["id_token"])
    assert header_of(answer["id_token"])["alg"] == alg
    assert claims["c_hash"] == left_half(answer["code"], alg)
    assert claims["at_hash"] == left_half(answer["access_token"], alg)
    assert claims["s_hash"] == left_half("the-state", alg)


async def test_the_token_endpoint_hashes_its_own_access_token(
    app_of: Callable[[str], ClientApp], alg: str
) -> None:
    tokens = await app_of("implicit").tokens(response_type="code id_token token")
    claims = claims_in(tokens["id_token"])
    assert claims["at_hash"] == left_half(tokens["access_token"], alg)
    assert {"c_hash", "s_hash"}.isdisjoint(claims)


def left_half(value: str, alg: str) -> str:
    """The left half of the digest, as base64url."""
    digest = hashlib.new(HASHES[alg], value.encode()).digest()
    return urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
