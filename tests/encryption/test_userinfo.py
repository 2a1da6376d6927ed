"""Userinfo is signed, encrypted, or the one in the other, as the client is registered (OIDC Core §5.3.2)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from tests.conftest import Start
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, header_of
from tests.encryption.conftest import KEYLESS, SECRET, Signed, as_registered, decrypt
from tests.users.switched import SwitchedUsers

pytestmark = pytest.mark.rfc("openid-core#5.3.2", "openid-core#10.2")


async def userinfo(service: RunningService) -> Answer:
    """Return the userinfo response for `frontend` and alice."""
    form = {"username": "alice", "password": "alice-password", "scope": "openid email"}
    answer = await service.token(("frontend", SECRET), grant_type="password", **form)
    token = answer["access_token"]
    return await service.get("/connect/userinfo", headers={"Authorization": f"Bearer {token}"})


@as_registered({"userinfo_signed_response_alg": "HS256"}, {"userinfo_signed_response_alg": "ES256"})
async def test_userinfo_is_signed(service: RunningService, signed: Signed) -> None:
    answer = await userinfo(service)
    claims = signed(answer.body.decode())
    assert answer.headers["Content-Type"] == "application/jwt"
    assert (claims["iss"], claims["aud"]) == (service.issuer, "frontend")
    assert (claims["sub"], claims["email"]) == ("818727", "alice@example.com")


@as_registered(
    {"userinfo_encrypted_response_alg": "RSA-OAEP-256"},
    {
        "userinfo_encrypted_response_alg": "ECDH-ES",
        "userinfo_encrypted_response_enc": "A256GCM",
    },
)
async def test_userinfo_is_encrypted(service: RunningService, config: dict[str, Any]) -> None:
    answer = await userinfo(service)
    header, content = decrypt(answer.body.decode())
    client = client_in(config, "frontend")
    assert answer.headers["Content-Type"] == "application/jwt"
    assert header["enc"] == client.get("userinfo_encrypted_response_enc", "A128CBC-HS256")
    assert "cty" not in header
    assert orjson.loads(content)["email"] == "alice@example.com"


@as_registered({"userinfo_encrypted_response_alg": "ECDH-ES"})
async def test_encrypted_userinfo_has_a_number_of_more_than_64_bits(
    config: dict[str, Any], start: Start
) -> None:
    """A column of a database may have one."""
    client_in(config, "frontend")["user_claims"] = {"userinfo": ["website"]}
    config["users"] = {"source": "tests.users.switched:SwitchedUsers"}
    service = await start(config)
    store = SwitchedUsers.made[-1]
    store.users[0] = replace(store.users[0], claims={"website": 2**70})
    _, content = decrypt((await userinfo(service)).body.decode())
    assert f'"website":{2**70}' in content.decode()


@pytest.mark.rfc("7519#5.2", "openid-core#16.14")
@as_registered(
    {"userinfo_encrypted_response_alg": "ECDH-ES", "userinfo_signed_response_alg": "HS256"}
)
async def test_userinfo_is_signed_and_then_encrypted(
    service: RunningService, signed: Signed
) -> None:
    header, content = decrypt((await userinfo(service)).body.decode())
    assert header["cty"] == "JWT"
    assert header_of(content.decode())["alg"] == "HS256"
    assert signed(content.decode())["sub"] == "818727"


@as_registered({"userinfo_encrypted_response_alg": "ECDH-ES"})
async def test_userinfo_is_refused_without_a_key_to_encrypt_to(
    service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "frontend").update(KEYLESS[1])
    service.reload(config)
    assert (await userinfo(service)).refusal == (400, "unauthorized_client")
