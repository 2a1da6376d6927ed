"""Whatever somebody sends as a token, or publishes as a key, is refused and nothing worse (RFC 8725 §3)."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64encode
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.foreign_keys import ForeignKeys, accepted_header
from service.keys.jose import JwtRefused, Key
from service.keys.jwe import CONTENT_ENCRYPTION, decrypt

pytestmark = pytest.mark.rfc("8725#3.4", "8725#3.5")


def base64url(content: bytes) -> str:
    """Without padding (RFC 7515 §2)."""
    return urlsafe_b64encode(content).rstrip(b"=").decode()


QUICKLY = settings(max_examples=300)
KEYS = {alg: Key.generate(alg) for alg in ENCRYPTION_ALGORITHMS}
SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20)
ODD = st.recursive(
    SCALARS,
    lambda some: (
        st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=5), some, max_size=3)
    ),
    max_leaves=4,
)
POINT = st.fixed_dictionaries(
    {"kty": st.sampled_from(["EC", "OKP", "RSA", "oct"]), "crv": st.sampled_from(["P-256", "X"])},
    optional=dict.fromkeys(("x", "y", "n", "e", "d", "k"), st.sampled_from(["AQAB", "AA", 1, ""])),
)
PARTS = st.lists(st.binary(max_size=40).map(base64url), min_size=4, max_size=4)


@QUICKLY
@given(
    alg=st.sampled_from(ENCRYPTION_ALGORITHMS),
    enc=st.sampled_from(CONTENT_ENCRYPTION),
    header=st.dictionaries(st.sampled_from(["apu", "apv", "kid", "cty", "b64", "x5c"]), ODD),
    epk=ODD | POINT | st.just(KEYS["ECDH-ES"].public_jwk),
    parts=PARTS,
)
def test_any_bytes_as_a_jwe_are_refused(
    alg: str, enc: str, header: dict[str, Any], epk: object, parts: list[str]
) -> None:
    protected = base64url(orjson.dumps(header | {"alg": alg, "enc": enc, "epk": epk}))
    with pytest.raises(JwtRefused):
        asyncio.run(decrypt(".".join([protected, *parts]), KEYS[alg]))


@QUICKLY
@given(
    alg=st.sampled_from(SIGNING_ALGORITHMS),
    entries=st.lists(POINT | st.dictionaries(st.text(max_size=5), ODD, max_size=4), max_size=3),
    extra=st.dictionaries(st.sampled_from(["use", "alg", "kid", "key_ops", "kty"]), ODD),
)
def test_keys_with_arbitrary_members_verify_and_encrypt_nothing(
    alg: str, entries: list[dict[str, Any]], extra: dict[str, Any]
) -> None:
    keys = ForeignKeys.from_jwks({"keys": [entry | extra for entry in entries]})
    token = base64url(orjson.dumps({"alg": alg})) + ".e30.AA"
    with pytest.raises(JwtRefused):
        keys.verify(token, accepted_header(token, algorithms=SIGNING_ALGORITHMS, typ={"jwt"}))
    for wanted in ENCRYPTION_ALGORITHMS:
        assert keys.find_recipient(wanted) is None


@QUICKLY
@given(body=st.binary(max_size=100) | ODD.map(lambda one: repr(one).encode()))
def test_a_malformed_key_set_is_a_value_error(body: bytes) -> None:
    with suppress(ValueError):
        ForeignKeys.parse(body)
