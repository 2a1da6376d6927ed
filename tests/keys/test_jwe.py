"""Encrypted content is read by the right key only, and whatever else comes is refused (RFC 7516, RFC 8725)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import orjson
import pytest
from joserfc.jwe import JWERegistry, encrypt_compact

from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.jose import JwtRefused, Key
from service.keys.jwe import CONTENT_ENCRYPTION, decrypt, encrypt, encryption_key_of_secret
from tests.driving.service import header_of

FRODO = (
    "You can trust us to stick with you through thick and thin–to the bitter end. And you can trust us "
    "to keep any secret of yours–closer than you keep it yourself. But you cannot trust us to let you "
    "face trouble alone, and go off without a word. We are your friends, Frodo."
)
PEREGRIN = {
    "kty": "EC",
    "kid": "peregrin.took@tuckborough.example",
    "use": "enc",
    "crv": "P-384",
    "x": "YU4rRUzdmVqmRtWOs2OpDE_T5fsNIodcG8G5FWPrTPMyxpzsSOGaQLpe2FpxBmu2",
    "y": "A8-yxCHxkfBz3hKZfI1jUYMjUhsEveZ9THuwFjH2sCNdtksRJU7D5-SkgaFL1ETP",
    "d": "iTx2pk7wW-GqJkHcEkFQb2EFyYcO7RugmaW3mRrQVAOUiPommT0IdnYK2xDlZh-j",
}
TO_PEREGRIN = (
    "eyJhbGciOiJFQ0RILUVTK0ExMjhLVyIsImtpZCI6InBlcmVncmluLnRvb2tAdHVja2Jvcm91Z2guZXhhbXBsZSIsImVwayI6"
    "eyJrdHkiOiJFQyIsImNydiI6IlAtMzg0IiwieCI6InVCbzRrSFB3Nmtiang1bDB4b3dyZF9vWXpCbWF6LUdLRlp1NHhBRkZr"
    "YllpV2d1dEVLNml1RURzUTZ3TmROZzMiLCJ5Ijoic3AzcDVTR2haVkMyZmFYdW1JLWU5SlUyTW84S3BvWXJGRHI1eVBOVnRX"
    "NFBnRXdaT3lRVEEtSmRhWTh0YjdFMCJ9LCJlbmMiOiJBMTI4R0NNIn0.0DJjBXri_kBcC46IkU5_Jk9BqaQeHdv2.mH-G2zV"
    "qgztUtnW_.tkZuOO9h95OgHJmkkrfLBisku8rGf6nzVxhRM3sVOhXgz5NJ76oID7lpnAi_cPWJRCjSpAaUZ5dOR3Spy7QuEk"
    "mKx8-3RCMhSYMzsXaEwDdXta9Mn5B7cCBoJKB0IgEnj_qfo1hIi-uEkUpOZ8aLTZGHfpl05jMwbKkTe2yK3mjF6SBAsgicQD"
    "VCkcY9BLluzx1RmC3ORXaM0JaHPB93YcdSDGgpgBWMVrNU1ErkjcMqMoT_wtCex3w03XdLkjXIuEr2hWgeP-nkUZTPU9EoGS"
    "Pj6fAS-bSz87RCPrxZdj_iVyC6QWcqAu07WNhjzJEPc4jVntRJ6K53NgPQ5p99l3Z408OUqj4ioYezbS6vTPlQ.WuGzxmcre"
    "YjpHGJoa17EBg"
)


@pytest.fixture(scope="module")
def keys() -> dict[str, Key]:
    """One for each algorithm."""
    return {alg: Key.generate(alg) for alg in ENCRYPTION_ALGORITHMS}


@pytest.mark.rfc("7520#5.4")
async def test_the_example_of_the_rfc_is_read() -> None:
    assert await decrypt(TO_PEREGRIN, Key.load(PEREGRIN, "ECDH-ES+A128KW")) == FRODO.encode()


@pytest.mark.rfc("7516#5.2")
@pytest.mark.parametrize("alg", ENCRYPTION_ALGORITHMS)
@pytest.mark.parametrize("enc", CONTENT_ENCRYPTION)
async def test_a_key_decrypts_what_was_encrypted_to_it(
    keys: dict[str, Key], alg: str, enc: str
) -> None:
    public = Key.load(keys[alg].public_jwk, alg)
    assert await decrypt(encrypt(b"content", public, enc=enc, cty=None), keys[alg]) == b"content"


@pytest.mark.rfc("openid-core#10.2")
def test_a_secret_is_hashed_and_cut() -> None:
    lengths = {
        (alg, enc): len(encryption_key_of_secret("secret", alg, enc).material.raw_value)
        for alg, enc in [("A128KW", "A256GCM"), ("A256KW", "A128GCM"), ("dir", "A192CBC-HS384")]
    }
    assert list(lengths.values()) == [16, 32, 48]


@pytest.mark.rfc("8725#2.7", "7517#4.2")
def test_a_key_is_for_one_use() -> None:
    signing, encryption = Key.generate("ES256"), Key.generate("ECDH-ES")
    assert (signing.public_jwk["use"], encryption.public_jwk["use"]) == ("sig", "enc")
    with pytest.raises(ValueError, match="not a key"):
        Key.load(signing.public_jwk, "ECDH-ES")
    with pytest.raises(ValueError, match="not one for"):
        Key.load(encryption.public_jwk, "ES256")


@pytest.mark.rfc("7518#4.1")
async def test_a_key_decrypts_by_its_own_algorithm_only(keys: dict[str, Key]) -> None:
    jwe = encrypt(b"content", keys["RSA-OAEP"], enc="A128GCM", cty=None)
    with pytest.raises(JwtRefused, match="another algorithm"):
        await decrypt(jwe, keys["RSA-OAEP-256"])


@pytest.mark.rfc("7516#11.5")
@pytest.mark.parametrize("part", [1, 2, 3, 4])
@pytest.mark.parametrize("alg", ["RSA-OAEP-256", "ECDH-ES+A128KW"])
async def test_a_jwe_that_was_changed_on_the_way_is_refused(
    keys: dict[str, Key], alg: str, part: int
) -> None:
    parts = encrypt(b"content", keys[alg], enc="A128CBC-HS256", cty=None).split(".")
    parts[part] = ("B" if parts[part][0] == "A" else "A") + parts[part][1:]
    with pytest.raises(JwtRefused, match="cannot be decrypted"):
        await decrypt(".".join(parts), keys[alg])


@pytest.mark.rfc("8725#3.1", "8725#3.6", "7516#4.1.13")
@pytest.mark.profile("no_rsa1_5")
@pytest.mark.parametrize(
    "change",
    [
        {"alg": "RSA1_5"},
        {"alg": "PBES2-HS256+A128KW", "p2c": 1000000, "p2s": "AAAA"},
        {"alg": "A128GCMKW"},
        {"alg": None},
        {"alg": ["ECDH-ES"]},
        {"enc": "A128CTR"},
        {"enc": None},
        {"crit": ["exp"], "exp": 1},
        {"zip": "DEF"},
    ],
    ids=str,
)
async def test_a_header_that_asks_for_more_is_refused(
    keys: dict[str, Key], change: dict[str, Any]
) -> None:
    jwe = encrypt(b"content", keys["ECDH-ES"], enc="A128GCM", cty=None)
    header = urlsafe_b64encode(orjson.dumps(header_of(jwe) | change)).rstrip(b"=").decode()
    with pytest.raises(JwtRefused, match=r"accepted|compressed"):
        await decrypt(f"{header}.{jwe.partition('.')[2]}", keys["ECDH-ES"])


@pytest.mark.rfc("8725#3.6")
async def test_compressed_content_is_refused_though_it_is_well_made(keys: dict[str, Key]) -> None:
    registry = JWERegistry(algorithms=["ECDH-ES", "A128GCM", "DEF"])
    header = {"alg": "ECDH-ES", "enc": "A128GCM", "zip": "DEF"}
    bomb = encrypt_compact(header, b"x" * 1_000_000, keys["ECDH-ES"].material, registry=registry)
    with pytest.raises(JwtRefused, match="compressed"):
        await decrypt(bomb, keys["ECDH-ES"])


@pytest.mark.rfc("7516#4")
async def test_an_unknown_header_parameter_is_ignored(keys: dict[str, Key]) -> None:
    registry = JWERegistry(algorithms=["ECDH-ES", "A128GCM"], strict_check_header=False)
    header = {"alg": "ECDH-ES", "enc": "A128GCM", "iss": "web", "jku": "https://evil.example"}
    jwe = encrypt_compact(header, b"content", keys["ECDH-ES"].material, registry=registry)
    assert await decrypt(jwe, keys["ECDH-ES"]) == b"content"


@pytest.mark.parametrize("token", ["", "....", "a.b.c", "é....", "." * 51201, "e30....", "W10...."])
async def test_a_malformed_jwe_is_refused(keys: dict[str, Key], token: str) -> None:
    with pytest.raises(JwtRefused):
        await decrypt(token, keys["ECDH-ES"])
