"""An API or a client that registers for it gets every answer signed and encrypted (RFC 9701 §5, §6)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwe import decrypt_compact
from joserfc.jwk import KeySet

from service.keys.jose import Key
from tests.conftest import Start
from tests.driving.key_server import KeyServer, publishing
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, header_of

pytestmark = pytest.mark.rfc("9701#5", "9701#6")

JWT = "application/token-introspection+jwt"
OWN = Key.generate("ECDH-ES+A128KW")
"""The private key of the API and of the client."""
KEYS = {
    "introspection_encrypted_response_alg": OWN.alg,
    "jwks": {"keys": [OWN.public_jwk]},
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`api1` and `machine` publish a key."""
    config["api_resources"][0] |= KEYS
    machine = client_in(config, "machine")
    machine |= KEYS | {"introspection_encrypted_response_enc": "A256GCM"}
    return config


async def ask(
    service: RunningService, token: str, caller: str = "api1", accept: str = JWT
) -> Answer:
    headers = {"Accept": accept}
    return await service.post("/connect/introspect", auth=caller, headers=headers, token=token)


async def read(service: RunningService, answer: Answer, enc: str = "A128CBC-HS256") -> Any:
    """The claims of an encrypted answer, once its recipient has decrypted and verified it."""
    assert (answer.status, answer.headers["Content-Type"]) == (200, JWT)
    sealed = answer.body.decode()
    expected = {"alg": OWN.alg, "enc": enc, "kid": OWN.kid, "cty": "JWT"}
    assert header_of(sealed).items() >= expected.items()
    content = decrypt_compact(sealed, OWN.material, algorithms=[OWN.alg, enc]).plaintext or b""
    assert header_of(content.decode())["typ"] == "token-introspection+jwt"
    keys = KeySet.import_key_set((await service.get("/.well-known/jwks.json")).json)  # type: ignore[arg-type]
    return jwt.decode(content, keys, algorithms=["ES256"]).claims


async def test_only_the_api_can_read_the_claims(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    claims = await read(service, await ask(service, token))
    assert (claims["iss"], claims["aud"]) == (service.issuer, "api1")
    assert claims["token_introspection"].items() >= {"active": True, "scope": "api1"}.items()


@pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
async def test_no_request_makes_the_answer_readable(service: RunningService, accept: str) -> None:
    token = (await service.user_token())["access_token"]
    claims = await read(service, await ask(service, token, accept=accept))
    assert claims["token_introspection"]["sub"] == "818727"


async def test_the_answer_about_an_inactive_token_looks_the_same(service: RunningService) -> None:
    claims = await read(service, await ask(service, "nonsense"))
    assert claims["token_introspection"] == {"active": False}


async def test_a_client_gets_its_answers_encrypted_as_it_registered(
    service: RunningService,
) -> None:
    token = await service.token("machine", grant_type="client_credentials", scope="api1")
    answer = await ask(service, token["access_token"], "machine", "application/json")
    claims = await read(service, answer, enc="A256GCM")
    assert claims["token_introspection"]["client_id"] == "machine"


async def test_another_api_is_not_concerned(service: RunningService) -> None:
    answer = await ask(service, "nonsense", "api2", "application/json")
    assert answer.json == {"active": False}


@pytest.fixture
async def server() -> AsyncIterator[KeyServer]:
    async with publishing() as server:
        yield server


async def test_the_keys_of_an_api_are_fetched_once(
    start: Start, config: dict[str, Any], server: KeyServer
) -> None:
    config["api_resources"][0] |= {"jwks": None, "jwks_uri": server.url}
    server.publish(OWN)
    service = await start(config)
    for _ in range(3):
        await read(service, await ask(service, "nonsense"))
    assert len(server.asked) == 1


async def test_without_a_key_there_is_an_error_in_place_of_a_readable_answer(
    start: Start, config: dict[str, Any], server: KeyServer
) -> None:
    config["api_resources"][0] |= {"jwks": None, "jwks_uri": server.url}
    server.publish()
    service = await start(config)
    token = (await service.user_token())["access_token"]
    for _ in range(3):
        answer = await ask(service, token, accept="application/json")
        assert answer.refusal == (400, "unauthorized_client")
        assert answer.json.keys() == {"error", "error_description"}
    assert len(server.asked) < 3


@pytest.mark.rfc("9701#7")
async def test_discovery_names_encryption_only_if_a_client_can_decrypt(
    start: Start, config: dict[str, Any]
) -> None:
    path = "/.well-known/openid-configuration"
    name = "introspection_encryption_alg_values_supported"
    for key in (*KEYS, "introspection_encrypted_response_enc"):
        del client_in(config, "machine")[key]
    document = await (await start(config)).get(path)
    assert OWN.alg in document[name]
    assert "A256GCM" in document["introspection_encryption_enc_values_supported"]
    assert document["introspection_signing_alg_values_supported"] == ["ES256"]
    for key in KEYS:
        del config["api_resources"][0][key]
    assert name not in (await (await start(config)).get(path)).json
