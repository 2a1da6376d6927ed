"""JWTs of a client are verified by its registered keys and secrets only (OIDC Core §10.1, RFC 8725 §3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from joserfc.jwk import RSAKey
from joserfc.jws import serialize_compact
from msgspec.structs import replace

from service.keys.jose import JwtRefused, Key
from service.protocol.errors import UnauthorizedClient
from service.protocol.octets import base64url
from tests.client_keys.conftest import Party
from tests.clients.signing import unsigned
from tests.driving.key_server import KeyServer

pytestmark = pytest.mark.rfc("openid-core#10.1")

SECRET = "a-secret-of-more-than-32-characters"
CLAIMS = {"iss": "web"}
Rsa = Callable[[int], Key]


async def test_a_registered_key_verifies(party: Party, rsa: Rsa) -> None:
    client = party.but(jwks={"keys": [rsa(1).public_jwk, rsa(0).public_jwk]})
    assert await client.verify(await rsa(0).sign(CLAIMS, typ="JWT")) == CLAIMS


async def test_an_unregistered_key_does_not_verify(party: Party, rsa: Rsa) -> None:
    client = party.but(jwks={"keys": [rsa(1).public_jwk]})
    with pytest.raises(JwtRefused, match="published keys"):
        await client.verify(await rsa(0).sign(CLAIMS, typ="JWT"))


async def test_a_client_without_keys_cannot_sign(party: Party, rsa: Rsa) -> None:
    with pytest.raises(JwtRefused, match="published keys"):
        await party.verify(await rsa(0).sign(CLAIMS, typ="JWT"))


@pytest.mark.rfc("7517#9.2")
async def test_a_private_key_in_the_set_is_ignored(party: Party, rsa: Rsa) -> None:
    client = party.but(jwks={"keys": [rsa(0).private_jwk]})
    with pytest.raises(JwtRefused, match="published keys"):
        await client.verify(await rsa(0).sign(CLAIMS, typ="JWT"))


@pytest.mark.parametrize(
    "numbers",
    [{"n": "_" * 2730 + "w", "d": "_" * 2730 + "w"}, {"n": "_" * 90_000 + "w"}],
    ids=["private", "long"],
)
async def test_a_huge_key_is_refused_quickly(
    party: Party, rsa: Rsa, numbers: dict[str, str]
) -> None:
    key = {"kty": "RSA", "e": "AQAB", "kid": rsa(0).kid, **numbers}
    client = party.but(jwks={"keys": [key]})
    token = await rsa(0).sign(CLAIMS, typ="JWT")
    with pytest.raises(JwtRefused, match="published keys"):
        await client.verify(token)


@pytest.mark.rfc("8725#3.1")
async def test_a_symmetric_key_in_the_set_is_ignored(party: Party) -> None:
    secret = "another-secret-of-over-32-characters"
    listed = {"kty": "oct", "k": base64url(secret.encode()), "kid": "", "alg": "HS256"}
    client = party.but(jwks={"keys": [listed]})
    with pytest.raises(JwtRefused, match="no secret"):
        await client.verify(
            await Key.from_secret(secret, "HS256").sign(CLAIMS, typ="JWT"), {"HS256"}
        )


@pytest.mark.rfc("7517#4.2")
async def test_an_encryption_key_does_not_verify(party: Party, rsa: Rsa) -> None:
    client = party.but(jwks={"keys": [rsa(0).public_jwk | {"use": "enc"}]})
    with pytest.raises(JwtRefused, match="published keys"):
        await client.verify(await rsa(0).sign(CLAIMS, typ="JWT"))


@pytest.mark.rfc("7515#4.1.2", "7515#4.1.3", "7515#4.1.5", "7515#4.1.6")
@pytest.mark.parametrize("member", ["jku", "jwk", "x5u", "x5c"])
async def test_keys_in_the_header_are_ignored(
    party: Party, server: KeyServer, rsa: Rsa, member: str
) -> None:
    jwk = RSAKey.import_key(rsa(0).private_jwk)
    link = {"jku": server.url, "x5u": server.url, "jwk": rsa(0).public_jwk, "x5c": ["MII="]}
    header = {"alg": "RS256", "kid": rsa(0).kid, member: link[member]}
    server.publish(rsa(0))
    token = serialize_compact(header, orjson.dumps(CLAIMS), jwk)
    with pytest.raises(JwtRefused, match="published keys"):
        await party.but(jwks={"keys": [rsa(1).public_jwk]}).verify(token)
    assert await party.but(jwks={"keys": [rsa(0).public_jwk]}).verify(token) == CLAIMS
    assert server.asked == []


@pytest.mark.rfc("7515#4.1.11")
async def test_a_critical_header_is_refused(party: Party) -> None:
    with pytest.raises(JwtRefused, match="critical"):
        await party.verify(unsigned({"alg": "RS256", "crit": ["exp"], "exp": 1}, CLAIMS))


@pytest.mark.rfc("8725#3.2")
@pytest.mark.parametrize("alg", ["none", "None", "HS256", "RS1", None, 1, ["RS256"]])
async def test_an_algorithm_that_does_not_sign_is_refused_even_if_listed(
    party: Party, alg: object
) -> None:
    with pytest.raises(JwtRefused, match="its alg is not one of"):
        await party.verify(unsigned({"alg": alg}, CLAIMS), {"none", "None", "RS1", "RS256"})


@pytest.mark.rfc("8725#3.11")
async def test_a_jwt_of_another_type_is_refused(party: Party, rsa: Rsa) -> None:
    client = party.but(jwks={"keys": [rsa(0).public_jwk]})
    with pytest.raises(JwtRefused, match="its typ is not"):
        await client.verify(await rsa(0).sign(CLAIMS, typ="at+jwt"))


async def test_a_secret_whose_value_is_registered_verifies(party: Party) -> None:
    token = await Key.from_secret(SECRET, "HS256").sign(CLAIMS, typ="JWT")
    assert await party.verify(token, {"HS256"}) == CLAIMS
    assert "kid" not in token


async def test_each_of_several_secrets_verifies(party: Party) -> None:
    first = party.client.client_secrets[0]
    client = party.but(client_secrets=(replace(first, value="x" * 64), first))
    token = await Key.from_secret(SECRET, "HS256").sign(CLAIMS, typ="JWT")
    assert await client.verify(token, {"HS256"}) == CLAIMS


@pytest.mark.parametrize("change", [{"value": None}, {"expires_at": 1}, {"value": "other" * 9}])
async def test_an_unregistered_secret_does_not_verify(party: Party, change: dict[str, Any]) -> None:
    client = party.but(client_secrets=(replace(party.client.client_secrets[0], **change),))
    with pytest.raises(JwtRefused, match="no secret"):
        await client.verify(
            await Key.from_secret(SECRET, "HS256").sign(CLAIMS, typ="JWT"), {"HS256"}
        )


@pytest.mark.rfc("7518#3.2")
async def test_a_secret_shorter_than_the_hash_does_not_verify(party: Party) -> None:
    key = party.keys.signing_key(party.client, "HS256")
    assert await party.verify(await key.sign(CLAIMS, typ="JWT"), {"HS256"}) == CLAIMS
    with pytest.raises(UnauthorizedClient, match="HS512"):
        party.keys.signing_key(party.client, "HS512")


@pytest.mark.parametrize("keys", [None, 1, [1], [{"kty": "RSA"}] * 101])
async def test_an_invalid_key_set_has_no_keys(party: Party, rsa: Rsa, keys: object) -> None:
    with pytest.raises(JwtRefused, match="published keys"):
        await party.but(jwks={"keys": keys}).verify(await rsa(0).sign(CLAIMS, typ="JWT"))
