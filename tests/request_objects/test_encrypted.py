"""Request objects that only the service can read: signed, then encrypted (OIDC Core §6.1, §10.2, RFC 9101 §4)."""

from __future__ import annotations

from typing import Any

import pytest

from service.keys.algorithms import ENCRYPTION_ALGORITHMS, SECRET_ALGORITHMS
from service.keys.jose import Key
from service.keys.jwe import (
    CONTENT_ENCRYPTION,
    encrypt,
    encryption_key_of_secret,
)
from tests.clients.signing import SECRET
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.request_objects.sending import ENC, Sender, find_published_key

pytestmark = pytest.mark.rfc("openid-core#6.1", "openid-core#10.2", "9101#4")

REFUSED = "invalid_request_object"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Web declares that it may encrypt, so that there is a key to do it with."""
    client_in(config, "web")["request_object_encryption_alg"] = "ECDH-ES"
    client_in(config, "spa")["request_object_encryption_alg"] = "RSA-OAEP-256"
    return config


@pytest.mark.parametrize("alg", ["ECDH-ES", "RSA-OAEP-256"])
@pytest.mark.parametrize("enc", CONTENT_ENCRYPTION)
async def test_a_request_object_is_encrypted_to_the_published_key(
    web: Sender, alg: str, enc: str
) -> None:
    key = await find_published_key(web.app.service, alg)
    request = encrypt((await web.signed()).encode(), key, enc=enc, cty="JWT")
    assert "code" in (await web.sign_in(request)).parameters


@pytest.mark.parametrize("alg", SECRET_ALGORITHMS)
async def test_a_request_object_is_encrypted_by_the_secret(web: Sender, alg: str) -> None:
    key = encryption_key_of_secret(SECRET, alg, ENC)
    request = encrypt((await web.signed()).encode(), key, enc=ENC, cty=None)
    assert (await web.send(request)).has("login")


async def test_only_the_encrypted_object_counts_where_the_client_requires_it(
    strict: Sender,
) -> None:
    key = await find_published_key(strict.app.service, "ECDH-ES")
    request = encrypt((await strict.signed()).encode(), key, enc=ENC, cty="JWT")
    assert (await strict.send(request, response_type=None, scope=None)).has("login")


async def test_an_encrypted_object_without_a_signature_is_refused(
    web: Sender, strict: Sender
) -> None:
    key = await find_published_key(web.app.service, "ECDH-ES")
    for sender in (web, strict):
        request = encrypt(sender.unsigned().encode(), key, enc=ENC, cty="JWT")
        page = await sender.send(request, redirect_uri=sender.app.redirect_uri)
        assert page.error == REFUSED


async def test_an_object_that_cannot_be_decrypted_is_refused(web: Sender) -> None:
    signed = (await web.signed()).encode()
    key = await find_published_key(web.app.service, "ECDH-ES")
    twice = encrypt(encrypt(signed, key, enc=ENC, cty="JWT").encode(), key, enc=ENC, cty="JWT")
    foreign = encrypt(signed, Key.generate("ECDH-ES"), enc=ENC, cty="JWT")
    binary = encrypt(b"\xff\xfe", key, enc=ENC, cty=None)
    for request in (twice, foreign, binary, foreign[:-4] + "AAAA", "a.b.c.d.e", "...."):
        page = await web.send(request, redirect_uri=web.app.redirect_uri)
        assert page.error == REFUSED


@pytest.mark.rfc("openid-discovery#3")
async def test_discovery_lists_what_there_are_keys_for(service: RunningService) -> None:
    told = await service.get("/.well-known/openid-configuration")
    algorithms = told["request_object_encryption_alg_values_supported"]
    listed = [alg for alg in ENCRYPTION_ALGORITHMS if alg in {"ECDH-ES", "RSA-OAEP-256"}]
    assert sorted(algorithms) == sorted([*listed, *SECRET_ALGORITHMS])
    encs = told["request_object_encryption_enc_values_supported"]
    assert encs == list(CONTENT_ENCRYPTION)


@pytest.mark.rfc("9126#3", "9101#6.1")
async def test_a_pushed_object_may_be_encrypted(web: Sender, service: RunningService) -> None:
    key = await find_published_key(service, "ECDH-ES")
    object_ = encrypt((await web.signed()).encode(), key, enc=ENC, cty="JWT")
    assert (await service.post("/connect/par", auth="web", request=object_)).status == 201
    other = encrypt((await web.signed()).encode(), Key.generate("ECDH-ES"), enc=ENC, cty="JWT")
    answer = await service.post("/connect/par", auth="web", request=other)
    assert answer.refusal == (400, REFUSED)
