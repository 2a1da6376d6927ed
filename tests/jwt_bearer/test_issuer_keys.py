"""The keys of a trusted issuer are found by its metadata, or where they are said to be (RFC 8414 §3, RFC 7523 §3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import orjson
import pytest
from aiohttp import web
from joserfc.jws import serialize_compact

from service.clients import published_keys
from tests.clients.signing import key_of
from tests.conftest import Clock
from tests.driving.key_server import KeyServer, publishing
from tests.driving.listening import listening
from tests.driving.service import RunningService
from tests.identity_providers.fake_provider import METADATA, FakeProvider
from tests.jwt_bearer.foreign import Partner, partner_entry

pytestmark = pytest.mark.rfc("8414#3", "8414#3.3", "7523#3")

REFUSED = (400, "invalid_grant")
OAUTH_METADATA = "/.well-known/oauth-authorization-server"


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    """An issuer whose metadata are those of OpenID Connect."""
    provider = FakeProvider(signer=key_of("ES256"))
    async with listening(provider.handle) as provider.issuer:
        yield provider


@pytest.fixture
def config(config: dict[str, Any], provider: FakeProvider) -> dict[str, Any]:
    config["trusted_issuers"] = [partner_entry(issuer=provider.issuer, jwks=None)]
    return config


@pytest.fixture
def partner(service: RunningService, provider: FakeProvider) -> Partner:
    return Partner(service, issuer=provider.issuer)


async def test_metadata_of_openid_connect_lead_to_the_keys(
    partner: Partner, provider: FakeProvider
) -> None:
    assert (await partner.present()).status == 200
    assert (await partner.present()).status == 200
    assert provider.asked == [OAUTH_METADATA, METADATA, "/jwks"]


async def test_metadata_of_oauth_come_first(partner: Partner, provider: FakeProvider) -> None:
    _answer(provider, OAUTH_METADATA, issuer=provider.issuer, jwks_uri=provider.issuer + "/jwks")
    assert (await partner.present()).status == 200
    assert provider.asked == [OAUTH_METADATA, "/jwks"]


async def test_metadata_are_read_once_for_all(partner: Partner, provider: FakeProvider) -> None:
    answers = await asyncio.gather(*(partner.present() for _ in range(10)))
    assert {answer.status for answer in answers} == {200}
    assert len(provider.asked) == 3


BAD: dict[str, dict[str, Any]] = {
    "another issuer": {"issuer": "https://other.example"},
    "no issuer": {"issuer": None},
    "no place of keys": {"jwks_uri": None},
    "a place of keys that is no URL": {"jwks_uri": "file:///etc/passwd"},
}


@pytest.mark.parametrize("metadata", BAD.values(), ids=BAD.keys())
async def test_metadata_are_refused_with(
    partner: Partner, provider: FakeProvider, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    assert (await partner.present()).refusal == REFUSED
    assert "/jwks" not in provider.asked


async def test_unavailable_issuer_is_asked_again_after_a_while(
    partner: Partner, provider: FakeProvider, clock: Clock
) -> None:
    _answer(provider, METADATA, status=503)
    for _ in range(3):
        assert (await partner.present()).refusal == REFUSED
    assert len(provider.asked) == 2
    provider.instead.clear()
    clock.forward(seconds=published_keys.PAUSE + 1)
    assert (await partner.present()).status == 200


async def test_keys_are_kept_while_the_issuer_is_unavailable(
    partner: Partner, provider: FakeProvider, clock: Clock
) -> None:
    assert (await partner.present()).status == 200
    _answer(provider, METADATA, status=503)
    _answer(provider, "/jwks", status=503)
    clock.forward(seconds=published_keys.LIFETIME + 1)
    assert (await partner.present()).status == 200


async def test_a_new_key_is_found_at_once(partner: Partner, provider: FakeProvider) -> None:
    assert (await partner.present()).status == 200
    provider.published = [key_of("ES256", 1).public_jwk]
    assert (await partner.grant(number=1)).status == 200


async def test_keys_behind_jwks_uri_need_no_metadata(
    start: Any, config: dict[str, Any], provider: FakeProvider
) -> None:
    async with publishing() as server:
        server.publish(key_of("ES256"))
        config["trusted_issuers"] = [_with_jwks_uri(server)]
        partner = Partner(await start(config))
        assert (await partner.present()).status == 200
    assert provider.asked == []


@pytest.mark.rfc("8725#3.10")
async def test_untrusted_issuer_is_never_asked(partner: Partner, provider: FakeProvider) -> None:
    async with publishing() as server:
        stranger = replace(partner, issuer=server.url.removesuffix("/jwks"))
        assert (await stranger.present()).refusal == REFUSED
        assert server.asked == []
    assert provider.asked == []


@pytest.mark.rfc("8725#3.5", "8725#3.10", "7515#4.1.2", "7515#4.1.3")
@pytest.mark.parametrize("member", ["jku", "jwk", "x5u"])
async def test_keys_and_places_of_keys_in_the_header_are_ignored(
    partner: Partner, member: str
) -> None:
    key = key_of("ES256", 1)
    async with publishing() as server:
        server.publish(key)
        links = {"jku": server.url, "x5u": server.url, "jwk": key.public_jwk}
        header = {"alg": "ES256", "typ": "JWT", member: links[member]}
        assertion = serialize_compact(header, orjson.dumps(partner.claims()), key.material)
        assert (await partner.present(assertion)).refusal == REFUSED
        assert server.asked == []


def _with_jwks_uri(server: KeyServer) -> dict[str, Any]:
    entry = partner_entry(jwks_uri=server.url)
    del entry["jwks"]
    return entry


def _answer(provider: FakeProvider, path: str, *, status: int = 200, **metadata: Any) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(metadata, status=status)

    provider.instead[path] = answer
