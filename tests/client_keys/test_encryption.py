"""Content for a client is encrypted to its key or its secret (OIDC Core §10.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, SECRET_ALGORITHMS
from service.keys.jose import JwtRefused, Key
from service.keys.jwe import (
    CONTENT_ENCRYPTION,
    decrypt,
    encrypt,
    encryption_key_of_secret,
)
from service.protocol.errors import UnauthorizedClient
from tests.client_keys.conftest import Party
from tests.driving.key_server import KeyServer
from tests.driving.service import header_of

pytestmark = pytest.mark.rfc("openid-core#10.2")

SECRET = "a-secret-of-more-than-32-characters"
ENC = "A128CBC-HS256"


async def encrypted(party: Party, alg: str, enc: str = ENC) -> str:
    """Something for this client."""
    return await party.keys.encrypt(b"content", party.client, alg=alg, enc=enc, cty="JWT")


@pytest.mark.parametrize("alg", ENCRYPTION_ALGORITHMS)
async def test_the_owner_of_the_key_decrypts_the_content(party: Party, alg: str) -> None:
    key = Key.generate(alg)
    jwe = await encrypted(party.but(jwks={"keys": [key.public_jwk]}), alg)
    assert await decrypt(jwe, key) == b"content"
    assert header_of(jwe).items() >= {"kid": key.kid, "cty": "JWT", "alg": alg, "enc": ENC}.items()


@pytest.mark.parametrize("alg", SECRET_ALGORITHMS)
@pytest.mark.parametrize("enc", CONTENT_ENCRYPTION)
async def test_the_owner_of_the_secret_decrypts_the_content(
    party: Party, alg: str, enc: str
) -> None:
    jwe = await encrypted(party, alg, enc)
    assert await decrypt(jwe, encryption_key_of_secret(SECRET, alg, enc)) == b"content"
    with pytest.raises(JwtRefused):
        await decrypt(jwe, encryption_key_of_secret("another" * 5, alg, enc))


@pytest.mark.rfc("7517#4.2")
async def test_a_key_for_encryption_is_preferred_to_one_for_any_use(party: Party) -> None:
    plain, said = Key.generate("ECDH-ES"), Key.generate("ECDH-ES")
    unsaid = {name: plain.public_jwk[name] for name in ("kty", "crv", "x", "y")}
    jwe = await encrypted(party.but(jwks={"keys": [unsaid, said.public_jwk]}), "ECDH-ES")
    assert await decrypt(jwe, said) == b"content"
    assert "kid" not in header_of(await encrypted(party.but(jwks={"keys": [unsaid]}), "ECDH-ES"))


@pytest.mark.parametrize("change", [{"use": "sig"}, {"alg": "ECDH-ES+A128KW"}, {"crv": "P-0"}])
async def test_a_key_for_another_use_is_not_encrypted_to(
    party: Party, change: dict[str, str]
) -> None:
    key = Key.generate("ECDH-ES").public_jwk | change
    with pytest.raises(UnauthorizedClient, match="ECDH-ES"):
        await encrypted(party.but(jwks={"keys": [key]}), "ECDH-ES")


@pytest.mark.rfc("7517#4.3")
@pytest.mark.parametrize(
    ("alg", "operations"),
    [
        ("RSA-OAEP", ["wrapKey"]),
        ("RSA-OAEP", ["encrypt", "wrapKey"]),
        ("ECDH-ES", ["deriveBits"]),
        ("ECDH-ES+A128KW", ["deriveKey"]),
        ("ECDH-ES", []),
    ],
)
async def test_a_key_with_the_operations_of_a_browser_export_is_used(
    party: Party, alg: str, operations: list[str]
) -> None:
    key = Key.generate(alg)
    exported = key.public_jwk | {"key_ops": operations}
    jwe = await encrypted(party.but(jwks={"keys": [exported]}), alg)
    assert await decrypt(jwe, key) == b"content"


@pytest.mark.rfc("7517#4.3")
@pytest.mark.parametrize("operations", [["verify"], ["sign", "verify"], "encrypt", [["encrypt"]]])
async def test_a_key_for_other_operations_is_not_encrypted_to(
    party: Party, operations: object
) -> None:
    key = Key.generate("RSA-OAEP").public_jwk | {"key_ops": operations}
    with pytest.raises(UnauthorizedClient, match="RSA-OAEP"):
        await encrypted(party.but(jwks={"keys": [key]}), "RSA-OAEP")


async def test_an_unusable_key_is_the_clients_error(party: Party) -> None:
    even = {"kty": "RSA", "e": "AQAB", "n": "_" * 341 + "g"}
    with pytest.raises(UnauthorizedClient, match="RSA-OAEP"):
        await encrypted(party.but(jwks={"keys": [even]}), "RSA-OAEP")


@pytest.mark.parametrize("change", [{"value": None}, {"expires_at": 1}])
async def test_nothing_is_encrypted_without_a_valid_secret(
    party: Party, change: dict[str, Any]
) -> None:
    secret = structs.replace(party.client.client_secrets[0], **change)
    with pytest.raises(UnauthorizedClient, match="dir"):
        await encrypted(party.but(client_secrets=(secret,)), "dir")


@pytest.mark.rfc("openid-core#10.2.1")
async def test_a_missing_key_is_fetched_again(published: Party, server: KeyServer) -> None:
    server.publish()
    with pytest.raises(UnauthorizedClient):
        await encrypted(published, "ECDH-ES")
    key = Key.generate("ECDH-ES")
    server.publish(key)
    published.wait(30)
    assert await decrypt(await encrypted(published, "ECDH-ES"), key) == b"content"


async def decrypted(party: Party, jwe: str) -> str:
    """Decrypt content that this client sent."""
    return await party.keys.decrypt(jwe, party.client)


@pytest.mark.rfc("openid-core#6.1")
async def test_content_for_the_service_is_decrypted_with_and_without_a_key_id(
    party: Party,
) -> None:
    keys = [Key.generate("ECDH-ES"), Key.generate("ECDH-ES"), Key.generate("ECDH-ES+A128KW")]
    party.keys.ring.replace(in_use=keys[:1], held=keys, since={})
    for key in (*keys, replace(keys[1], kid="")):
        assert await decrypted(party, encrypt(b"request", key, enc=ENC, cty=None)) == "request"
    other = encrypt(b"request", replace(keys[1], kid="another"), enc=ENC, cty=None)
    with pytest.raises(JwtRefused, match="no known key"):
        await decrypted(party, other)


@pytest.mark.parametrize("alg", SECRET_ALGORITHMS)
async def test_content_encrypted_by_the_secret_is_decrypted(party: Party, alg: str) -> None:
    assert await decrypted(party, await encrypted(party, alg)) == "content"
    for change in ({"value": "another" * 5}, {"expires_at": 1}):
        secret = structs.replace(party.client.client_secrets[0], **change)
        with pytest.raises(JwtRefused, match="no known key"):
            await decrypted(party.but(client_secrets=(secret,)), await encrypted(party, alg))


async def test_content_that_is_not_text_is_refused(party: Party) -> None:
    jwe = await party.keys.encrypt(b"\xff", party.client, alg="dir", enc=ENC, cty=None)
    with pytest.raises(JwtRefused, match="no known key"):
        await decrypted(party, jwe)


@pytest.mark.rfc("8725#2.7")
async def test_a_signing_key_does_not_decrypt(party: Party) -> None:
    signing = Key.generate("RS256")
    party.keys.ring.replace(in_use=[signing], held=[signing], since={})
    jwe = encrypt(b"x", Key(signing.kid, "RSA-OAEP", signing.material), enc=ENC, cty=None)
    with pytest.raises(JwtRefused, match="no known key"):
        await decrypted(party, jwe)
