"""A `typ` may be written with or without `application/`, in any case (RFC 7515 §4.1.9)."""

from __future__ import annotations

import pytest

from service.authorize.request_object import _EXPLICIT_TYP
from service.keys.foreign_keys import accepted_header
from service.keys.jose import JwtRefused, verify
from service.protocol.token_types import TRANSACTION_TOKEN_TYP
from service.tokens.active import ACCESS_TOKEN_TYPES
from tests.clients.signing import key_of
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7515#4.1.9")

SPELLINGS = ["{}", "application/{}", "APPLICATION/{}", "Application/{}"]
spelled = pytest.mark.parametrize("spelling", SPELLINGS)
each_type = pytest.mark.parametrize(
    "types",
    [ACCESS_TOKEN_TYPES - {"jwt"}, {TRANSACTION_TOKEN_TYP}, _EXPLICIT_TYP - {""}, {"logout+jwt"}],
    ids=sorted,
)


@spelled
@each_type
async def test_types_of_jwts_are_compared_as_media_types(types: set[str], spelling: str) -> None:
    (typ,) = types
    key = key_of("ES256")
    jwt = await key.sign({"sub": "x"}, typ=spelling.format(typ.upper()))
    assert accepted_header(jwt, algorithms={"ES256"}, typ=types)["alg"] == "ES256"
    assert verify(jwt, lambda _: key, typ=types)["sub"] == "x"


@pytest.mark.parametrize(
    "typ", ["text/at+jwt", "at", "application/", "application/application/at+jwt", " at+jwt", ""]
)
async def test_another_type_is_refused_in_every_spelling(typ: str) -> None:
    key = key_of("ES256")
    jwt = await key.sign({}, typ=typ)
    with pytest.raises(JwtRefused):
        verify(jwt, lambda _: key, typ=ACCESS_TOKEN_TYPES)


@spelled
async def test_proof_of_a_key_may_name_its_type_as_a_media_type(
    service: RunningService, spelling: str
) -> None:
    proof = DpopKey(service.issuer).proof(header={"typ": spelling.format("DPoP+JWT")})
    answer = await service.token(
        "machine", grant_type="client_credentials", headers={"DPoP": proof}
    )
    assert answer["token_type"] == "DPoP"
