"""examples/delegation/api1.py follows the rotation of the issuer's keys (RFC 7517 §4.5)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from examples.delegation.api1 import Api1, IssuerKeys

pytestmark = pytest.mark.rfc("7517#4.5")


@dataclass
class Issuer:
    """Publishes keys and counts how often they are read."""

    keys: list[ECKey] = field(default_factory=list)
    fetches: int = 0
    is_down: bool = False

    def rotate(self) -> None:
        """Publish one more key, which signs from now on."""
        self.keys.append(ECKey.generate_key("P-256", {"kid": f"key-{len(self.keys)}"}))

    def token(self, key: ECKey | None = None) -> str:
        """A valid access token for API 1."""
        key = key or self.keys[-1]
        claims = {"iss": "issuer", "aud": "api1", "sub": "818727", "exp": int(time.time()) + 60}
        return jwt.encode({"alg": "ES256", "typ": "at+jwt", "kid": key.kid}, claims, key)

    async def jwks(self, _: web.Request) -> web.Response:
        self.fetches += 1
        if self.is_down:
            raise web.HTTPServiceUnavailable
        return web.json_response(KeySet([*self.keys]).as_dict(private=False))


@pytest.fixture
def issuer() -> Issuer:
    issuer = Issuer()
    issuer.rotate()
    return issuer


@pytest.fixture
async def api(issuer: Issuer) -> AsyncIterator[Api1]:
    app = web.Application()
    app.router.add_get("/jwks", issuer.jwks)
    async with TestServer(app) as server, ClientSession() as http:
        keys = IssuerKeys(str(server.make_url("/jwks")), http)
        yield Api1("issuer", "api2", keys, http)


async def test_a_token_of_a_new_key_is_accepted(issuer: Issuer, api: Api1) -> None:
    assert await api.claims_of(issuer.token())
    issuer.rotate()
    api.keys.fetched_at -= 11
    assert await api.claims_of(issuer.token())
    assert issuer.fetches == 2


async def test_invented_key_ids_cause_no_flood_of_fetches(issuer: Issuer, api: Api1) -> None:
    for number in range(20):
        invented = ECKey.generate_key("P-256", {"kid": f"invented-{number}"})
        assert await api.claims_of(issuer.token(invented)) is None
    assert issuer.fetches == 1


async def test_a_withdrawn_key_is_forgotten(issuer: Issuer, api: Api1) -> None:
    token = issuer.token()
    assert await api.claims_of(token)
    withdrawn = issuer.keys.pop()
    issuer.rotate()
    api.keys.fetched_at -= 3601
    assert await api.claims_of(issuer.token(withdrawn)) is None


async def test_known_keys_stay_while_the_issuer_is_unavailable(issuer: Issuer, api: Api1) -> None:
    assert await api.claims_of(issuer.token())
    issuer.is_down = True
    api.keys.fetched_at -= 3601
    assert await api.claims_of(issuer.token())


async def test_no_keys_mean_no_claims(issuer: Issuer, api: Api1) -> None:
    issuer.is_down = True
    assert await api.claims_of(issuer.token()) is None


@pytest.mark.parametrize("token", ["", "a.b", "a.b.c", "é.b.c"])
async def test_what_is_no_token_causes_no_fetch(issuer: Issuer, api: Api1, token: str) -> None:
    assert await api.claims_of(token) is None
    assert issuer.fetches == 0
