"""Keys behind `jwks_uri` are fetched rarely, kept for a while, and looked for anew when they change (RFC 7591 §2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from service.clients import published_keys
from service.clients.published_keys import PublishedKeys
from service.keys.jose import JwtRefused, Key
from tests.client_keys.conftest import Party
from tests.driving.key_server import KeyServer

pytestmark = pytest.mark.rfc("openid-core#10.1.1")

CLAIMS = {"iss": "web"}
Rsa = Callable[[int], Key]


async def test_a_published_key_verifies_and_is_kept(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    for _ in range(3):
        assert await published.verify(token) == CLAIMS
    assert len(server.asked) == 1


async def test_keys_are_fetched_again_after_their_lifetime(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    await published.verify(token)
    server.publish(rsa(1))
    published.wait(published_keys.LIFETIME)
    with pytest.raises(JwtRefused, match="published keys"):
        await published.verify(token)


async def test_an_unknown_key_id_causes_a_request_at_once(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    await published.verify(await rsa(0).sign(CLAIMS, typ="JWT"))
    server.publish(rsa(0), rsa(1))
    assert await published.verify(await rsa(1).sign(CLAIMS, typ="JWT")) == CLAIMS
    assert len(server.asked) == 2


async def test_unknown_key_ids_cause_one_request_in_thirty_seconds(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    looks: list[int] = []
    for _ in range(5):
        with pytest.raises(JwtRefused):
            await published.verify(await rsa(1).sign(CLAIMS, typ="JWT"))
        looks.append(len(server.asked))
        published.wait(10)
    assert looks == [2, 2, 2, 3, 3]


async def test_a_key_that_was_missing_is_found_thirty_seconds_later(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    token = await rsa(1).sign(CLAIMS, typ="JWT")
    with pytest.raises(JwtRefused):
        await published.verify(token)
    server.publish(rsa(1))
    published.wait(30)
    assert await published.verify(token) == CLAIMS


async def test_concurrent_requests_wait_for_the_same_answer(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    assert await asyncio.gather(*[published.verify(token) for _ in range(20)]) == [CLAIMS] * 20
    assert len(server.asked) == 1


@pytest.mark.parametrize("broken", ["status", "content"])
async def test_the_old_keys_stay_if_the_new_ones_cannot_be_read(
    published: Party, server: KeyServer, rsa: Rsa, broken: str
) -> None:
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    await published.verify(token)
    server.status, server.answer = (500, None) if broken == "status" else (200, ["no", "set"])
    published.wait(published_keys.LIFETIME)
    assert await published.verify(token) == CLAIMS
    assert len(server.asked) == 2


async def test_an_unavailable_server_gets_one_request_in_thirty_seconds(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.status = 503
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    for _ in range(3):
        with pytest.raises(JwtRefused):
            await published.verify(token)
    assert len(server.asked) == 1
    server.status = 200
    server.publish(rsa(0))
    published.wait(30)
    assert await published.verify(token) == CLAIMS


async def test_a_key_set_that_is_too_long_is_ignored(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0).public_jwk | {"x": "x" * 200_000})
    with pytest.raises(JwtRefused):
        await published.verify(await rsa(0).sign(CLAIMS, typ="JWT"))


async def test_the_number_of_cached_key_sets_is_limited(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    http = published.keys.published.http
    few = PublishedKeys(http, size=2)
    keys = msgspec.structs.replace(published.keys, published=few)
    published = replace(published, keys=keys)
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    for path in ("a", "b", "c", "c", "b", "a"):
        await published.but(jwks_uri=server.url + path).verify(token)
    assert [path[-1] for path in server.asked] == ["a", "b", "c", "a"]


@pytest.mark.rfc("7591#5")
async def test_a_dynamically_registered_client_is_reached_by_the_guarded_client_only(
    published: Party, server: KeyServer, rsa: Rsa
) -> None:
    server.publish(rsa(0))
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    assert await published.verify(token) == CLAIMS
    with pytest.raises(JwtRefused):
        await published.but(dynamically_registered=True).verify(token)
    assert len(server.asked) == 1


async def test_a_signature_without_a_key_id_reads_each_key_once(
    published: Party, server: KeyServer, rsa: Rsa, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.publish(rsa(0), rsa(1))
    token = await replace(rsa(0), kid="").sign(CLAIMS, typ="JWT")
    for load in (Key.load, Key.load, None):  # the second time the set is the renewed one
        monkeypatch.setattr(Key, "load", load)
        with pytest.raises(JwtRefused, match="published keys"):
            await published.verify(token)
