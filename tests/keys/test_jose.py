"""A JWT is accepted if one of the service's keys signed it for this purpose, and nothing else (RFC 8725 §3, RFC 7515 §5.2)."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc import jwt

from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.jose import MAX_JWT_LENGTH, JwtRefused, Key, der_signature, raw_signature, verify

CLAIMS = {"sub": "818727", "exp": 1}
KEY = Key.generate("ES256")

SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "none": lambda _: "",
    "short": lambda text: text[:-2],
    "long": lambda text: text + "AA",
    "padded": lambda text: text + "=",
    "padded twice": lambda text: text + "==",
    "with a line break": lambda text: text + "\n",
    "with another beginning": lambda text: "-" + text,
    "padded inside": lambda text: f"{text[:8]}={text[8:]}",
    "with a space": lambda text: f"{text[:8]} {text[8:]}",
    "beyond ASCII": lambda text: f"{text[:8]}é{text[8:]}",
    "with another end": lambda text: text[:-1] + chr(ord(text[-1]) + 1),
    "base64": lambda text: text.replace("-", "+").replace("_", "/"),
    "halves turned": lambda text: text[43:] + text[:43],
}
"""Other texts for a signature, most of which stand for the same bytes where base64url is read loosely."""


def find(kid: str) -> Key | None:
    return KEY if kid == KEY.kid else None


def encode(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


async def token_with(header: Mapping[str, object]) -> str:
    """A token whose header was changed after it was signed."""
    _, rest = (await KEY.sign(CLAIMS, typ="at+jwt")).split(".", 1)
    full = {"alg": "ES256", "kid": KEY.kid, "typ": "at+jwt", **header}
    return f"{encode(orjson.dumps(full))}.{rest}"


@pytest.mark.parametrize("alg", ["ES256", "RS256", "EdDSA"])
def test_a_replica_that_loads_a_key_derives_what_the_one_that_made_it_does(alg: str) -> None:
    made = Key.generate(alg)
    loaded = Key.load(orjson.dumps({**made.private_jwk, "alg": alg}), alg, is_own=True)
    assert loaded.derive_secret(b"purpose") == made.derive_secret(b"purpose")
    assert made.derive_secret(b"another") != made.derive_secret(b"purpose")


@pytest.mark.parametrize("alg", SIGNING_ALGORITHMS)
async def test_a_key_verifies_what_it_signed(alg: str) -> None:
    key = Key.generate(alg)
    token = await key.sign(CLAIMS, typ="at+jwt")
    assert verify(token, {key.kid: key}.get, typ={"at+jwt"}) == CLAIMS


async def test_joserfc_verifies_every_es256_signature() -> None:
    """They are made without it; of some hundred, a few have a half that begins with zero bytes (RFC 7518 §3.4)."""
    for number in range(400):
        token = await KEY.sign({"jti": number}, typ="at+jwt")
        assert jwt.decode(token, KEY.material, algorithms=["ES256"]).claims == {"jti": number}


@pytest.mark.rfc("7518#3.4")
@pytest.mark.parametrize("r", [1, 2**127, 2**248 - 1, 2**255 - 1, 2**255, 2**256 - 1])
@pytest.mark.parametrize("s", [1, 2**255, 2**256 - 1])
def test_a_signature_has_two_halves_of_32_bytes(r: int, s: int) -> None:
    """DER leaves zero bytes at the beginning of a number out, and puts one before a bit that would be its sign."""
    halves = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert raw_signature(encode_dss_signature(r, s)) == halves
    assert der_signature(halves) == encode_dss_signature(r, s)


@pytest.mark.rfc("7518#3.4", "7515#2")
@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_a_signature_has_one_spelling(spelling: str) -> None:
    token = signature = ""
    while "-" not in signature and "_" not in signature:  # which base64 spells otherwise
        token = await KEY.sign(CLAIMS, typ="at+jwt")
        signature = token.rpartition(".")[2]
    assert verify(token, find, typ={"at+jwt"}) == CLAIMS
    with pytest.raises(JwtRefused):
        verify(token.removesuffix(signature) + SPELLINGS[spelling](signature), find, typ={"at+jwt"})


@pytest.mark.parametrize("alg", SIGNING_ALGORITHMS)
def test_a_key_is_the_same_after_it_was_kept(alg: str) -> None:
    key = Key.generate(alg)
    again = Key.load(orjson.dumps(key.private_jwk), alg)
    assert (again.public_jwk, again.is_private) == (key.public_jwk, True)
    assert not Key.load(key.public_jwk, alg).is_private


@pytest.mark.parametrize(
    "header",
    [
        {"typ": "JWT"},
        {"typ": None},
        {"alg": "none"},
        {"alg": "HS256"},
        {"alg": "ES384"},
        {"kid": "another"},
        {"kid": None},
        {"crit": ["exp"]},
        {"x": "changed"},
    ],
    ids=str,
)
async def test_an_unexpected_header_is_refused(header: Mapping[str, object]) -> None:
    token = await token_with(header)
    with pytest.raises(JwtRefused):
        verify(token, find, typ={"at+jwt"})


@pytest.mark.parametrize(
    "token",
    [
        "",
        "..",
        "a.b",
        "a.b.c.d",
        "!.!.!",
        "e30.e30.",
        "W10.e30.AA",
        "\x00.é.ü",
        "A" * (MAX_JWT_LENGTH + 1),
    ],
    ids=["empty", "dots", "two", "four", "alphabet", "no header", "a list", "bytes", "long"],
)
def test_a_malformed_jwt_is_refused(token: str) -> None:
    with pytest.raises(JwtRefused):
        verify(token, find, typ={"at+jwt"})


async def test_the_key_in_the_header_is_not_believed() -> None:
    stranger = Key.generate("ES256")
    header = {"alg": "ES256", "kid": KEY.kid, "typ": "at+jwt", "jwk": stranger.public_jwk}
    claims = (await stranger.sign(CLAIMS, typ="at+jwt")).split(".")
    with pytest.raises(JwtRefused):
        verify(".".join([encode(orjson.dumps(header)), *claims[1:]]), find, typ={"at+jwt"})


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reported signatures."""
    steps: list[str] = []
    sign_at_once = Key.sign_at_once

    def noted(key: Key, claims: Mapping[str, object], *, typ: str) -> str:
        steps.append("signed")
        return sign_at_once(key, claims, typ=typ)

    monkeypatch.setattr(Key, "sign_at_once", noted)
    return steps


async def test_signatures_of_one_turn_of_the_event_loop_follow_each_other(steps: list[str]) -> None:
    async def request() -> None:
        steps.append("asked")
        await KEY.sign(CLAIMS, typ="at+jwt")
        steps.append("answered")

    await asyncio.gather(request(), request())
    assert steps == ["asked", "asked", "signed", "signed", "answered", "answered"]


async def test_a_failed_signature_fails_its_own_request_alone() -> None:
    failed, signed = await asyncio.gather(
        KEY.sign({"sub": object()}, typ="at+jwt"),
        KEY.sign(CLAIMS, typ="at+jwt"),
        return_exceptions=True,
    )
    assert isinstance(failed, TypeError)
    assert verify(str(signed), find, typ={"at+jwt"}) == CLAIMS


async def test_nothing_is_signed_for_a_request_that_was_cancelled(steps: list[str]) -> None:
    cancelled = asyncio.ensure_future(KEY.sign(CLAIMS, typ="at+jwt"))
    await asyncio.sleep(0)
    cancelled.cancel()
    await KEY.sign(CLAIMS, typ="at+jwt")
    assert (cancelled.cancelled(), steps) == (True, ["signed"])
