"""A token with cnf counts only in a request that proves the key (RFC 7800 §3.1, RFC 8705 §3)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

import pytest

from service.keys.jose import unverified_claims
from service.protocol.octets import base64url
from tests.driving.certificate import certified
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("8705#3", "9449#7.1")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    server = {"trusted_proxies": ["127.0.0.1"], "client_certificate_header": "Client-Cert"}
    return config | {"server": server}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    pem = certified(tmp_path_factory.mktemp("certificate")).read_text()
    return b64decode(pem.partition("-----BEGIN CERTIFICATE-----")[2].partition("-----END")[0])


async def userinfo(
    service: RunningService, cnf: dict[str, str] | None, certificate: bytes | None
) -> Answer:
    """Call userinfo with a token that is bound to `cnf`, and perhaps a certificate."""
    issued = (await service.user_token(scope="openid"))["access_token"]
    claims = {**unverified_claims(issued), **({"cnf": cnf} if cnf else {})}
    token = await service.features.ring.signing_key().sign(claims, typ="at+jwt")
    headers = {"Authorization": f"Bearer {token}"}
    if certificate is not None:
        headers["Client-Cert"] = f":{b64encode(certificate).decode()}:"
    return await service.get("/connect/userinfo", headers=headers)


def thumbprint(certificate: bytes) -> str:
    return base64url(sha256(certificate).digest())


async def test_a_bound_token_is_accepted_with_its_certificate(
    service: RunningService, certificate: bytes
) -> None:
    cnf = {"x5t#S256": thumbprint(certificate)}
    assert (await userinfo(service, cnf, certificate)).status == 200


async def test_a_token_that_is_not_bound_is_accepted_with_any_certificate(
    service: RunningService, certificate: bytes
) -> None:
    assert (await userinfo(service, None, certificate)).status == 200


@pytest.mark.parametrize("shown", [True, False], ids=["another certificate", "none"])
async def test_a_bound_token_without_its_certificate_is_invalid(
    service: RunningService, certificate: bytes, shown: bool
) -> None:
    cnf = {"x5t#S256": thumbprint(b"another")}
    answer = await userinfo(service, cnf, certificate if shown else None)
    assert answer.refusal == (401, "invalid_token")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


async def test_a_token_that_is_bound_to_a_dpop_key_is_not_accepted_as_bearer(
    service: RunningService, certificate: bytes
) -> None:
    answer = await userinfo(service, {"jkt": thumbprint(certificate)}, certificate)
    assert answer.refusal == (401, "invalid_token")
