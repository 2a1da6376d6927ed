"""The keys for a client's algorithms are checked before the first request (OIDC Core §10, §16.19)."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.clients.signing import key_of

pytestmark = pytest.mark.rfc("openid-core#10.2", "openid-core#16.19", "7518#3.2")

EC = {"kty": "EC", "crv": "P-256", "x": "…", "y": "…"}
ENCRYPTED = "id_token_encrypted_response_alg"


def file(**keys: Any) -> str:
    """One client with these keys and those that it always needs."""
    web = {
        "client_id": "web",
        "client_secrets": [{"sha256": "0" * 64}],
        "redirect_uris": ["https://a/"],
    }
    return yaml.dump({"clients": [web | keys]})


@pytest.mark.parametrize(
    ("alg", "least"), [("HS256", 32), ("HS384", 48), ("HS512", 64), ("A128KW", 32), ("dir", 32)]
)
def test_a_secret_that_is_a_key_is_long_enough(problems: Any, alg: str, least: int) -> None:
    name = "id_token_signed_response_alg" if alg.startswith("HS") else ENCRYPTED
    for length in (least - 1, least):
        found = problems(file(**{name: alg}, client_secrets=[{"value": "x" * length}]))
        assert list(found) == ([f"clients[web].{name}"] if length < least else [])


@pytest.mark.rfc("openid-core#9")
def test_one_that_signs_assertions_is_long_enough_for_the_shortest_hash(problems: Any) -> None:
    method = "token_endpoint_auth_method"
    for length in (31, 32):
        secrets = [{"value": "x" * length}]
        found = problems(file(client_secrets=secrets, **{method: "client_secret_jwt"}))
        assert list(found) == ([f"clients[web].{method}"] if length < 32 else [])


@pytest.mark.parametrize(
    "keys",
    [
        {ENCRYPTED: "dir", "client_secrets": [{"sha256": "0" * 64}]},
        {ENCRYPTED: "ECDH-ES"},
        {ENCRYPTED: "RSA-OAEP", "jwks": {"keys": [EC]}},
        {ENCRYPTED: "ECDH-ES", "jwks": {"keys": [EC | {"use": "sig"}]}},
        {ENCRYPTED: "ECDH-ES", "jwks": {"keys": [EC | {"alg": "ECDH-ES+A128KW"}]}},
    ],
    ids=["hashed secret", "no keys", "another type", "another use", "another algorithm"],
)
def test_encryption_needs_a_key_of_the_clients(problems: Any, keys: dict[str, Any]) -> None:
    assert problems(file(**keys))[f"clients[web].{ENCRYPTED}"].severity == "error"


@pytest.mark.parametrize(
    "keys",
    [
        {"jwks": {"keys": [EC]}},
        {"jwks": {"keys": [EC | {"use": "enc"}]}},
        {"jwks_uri": "https://a/"},
    ],
    ids=["any use", "its use", "behind a link"],
)
def test_a_key_for_it_will_do(problems: Any, keys: dict[str, Any]) -> None:
    assert problems(file(**{ENCRYPTED: "ECDH-ES"}, **keys)) == {}


@pytest.mark.rfc("openid-core#6.1")
@pytest.mark.parametrize(
    ("key", "sound"),
    [
        ({}, True),
        ({"algorithm": "ECDH-ES"}, True),
        ({"algorithm": "RSA-OAEP"}, False),
        (None, False),
    ],
    ids=["any", "the same", "another", "none"],
)
def test_the_operators_keys_decrypt_what_clients_encrypt(
    problems: Any, tmp_path: Any, key: dict[str, str] | None, sound: bool
) -> None:
    (tmp_path / "key.pem").touch()
    keys = [
        {"path": "key.pem"},
        *([{"path": "key.pem", "use": "enc"} | key] if key is not None else []),
    ]
    asked = {"encryption_algorithms": ["ECDH-ES"]}
    signing = yaml.dump({"signing": {"source": "files", "keys": keys} | asked})
    found = problems(signing + file(request_object_encryption_alg="ECDH-ES"))
    assert ("clients[web].request_object_encryption_alg" in found) is not sound
    assert ("signing.encryption_algorithms[0]" in found) is not sound


@pytest.mark.rfc("7517#5")
@pytest.mark.parametrize(
    ("key", "missing"),
    [
        ({"kty": "RSA"}, "n, e"),
        ({"kty": "EC", "crv": "P-256", "x": "…"}, "y"),
        ({"kty": "OKP", "x": "…"}, "crv"),
        ({"n": "…", "e": "AQAB"}, "kty"),
        ({"kty": []}, "kty"),
    ],
    ids=["RSA", "EC", "OKP", "no type", "empty type"],
)
def test_a_key_that_lacks_a_part_is_told_with_it(
    problems: Any, key: dict[str, Any], missing: str
) -> None:
    (found,) = problems(file(jwks={"keys": [EC, key]})).values()
    assert found.path == "clients[web].jwks.keys[1]"
    assert found.message == f"this key cannot be used: {missing} missing"


def test_a_key_of_a_type_that_is_none_is_no_harm(problems: Any) -> None:
    assert problems(file(jwks={"keys": [EC, {"kty": ["RSA"]}]})) == {}


SOUND = key_of("ES256").public_jwk
LONG_ENOUGH = {**key_of("RS256").public_jwk, "alg": "PS256"}
USELESS = {
    "a short RSA key": ({"kty": "RSA", "e": "AQAB", "n": "w" * 171}, {}),
    "a point that is not on the curve": (SOUND | {"x": "A" * 43}, {}),
    "a key to encrypt to": (SOUND | {"use": "enc"}, {}),
    "a type that is not known": ({"kty": "AKP"}, {}),
    "another algorithm": (SOUND, {"token_endpoint_auth_signing_alg": "ES384"}),
    "an algorithm that the profile forbids": (
        key_of("ES384").public_jwk,
        {"profile": "fapi2_security"},
    ),
}


@pytest.mark.rfc("7518#3.1", "openid-core#9")
@pytest.mark.parametrize(("key", "keys"), USELESS.values(), ids=USELESS)
def test_a_client_that_authenticates_by_a_key_has_one_that_verifies_its_assertions(
    problems: Any, key: dict[str, Any], keys: dict[str, Any]
) -> None:
    usual = {"token_endpoint_auth_method": "private_key_jwt", "client_secrets": []}
    (found,) = (
        one
        for path, one in problems(file(**usual, **keys, jwks={"keys": [key]})).items()
        if path == "clients[web].jwks"
    )
    assert found.severity == "error"
    assert found.message.startswith("no key in it can verify an assertion by ")
    beside = {"jwks": {"keys": [key, LONG_ENOUGH]}}
    if "token_endpoint_auth_signing_alg" not in keys:
        assert "clients[web].jwks" not in problems(file(**usual, **keys, **beside))


def test_a_key_that_verifies_nothing_is_no_harm_where_the_client_has_a_secret(
    problems: Any,
) -> None:
    assert problems(file(jwks={"keys": [EC]})) == {}


INTROSPECTION = "introspection_encrypted_response_alg"


def api(**keys: Any) -> str:
    """One API with these keys and those that it always needs."""
    return yaml.dump({"api_resources": [{"name": "api", "secrets": [{"sha256": "0" * 64}]} | keys]})


@pytest.mark.rfc("9701#6")
@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({INTROSPECTION: "ECDH-ES"}, INTROSPECTION),
        ({INTROSPECTION: "dir"}, INTROSPECTION),
        ({INTROSPECTION: "RSA-OAEP", "jwks": {"keys": [EC]}}, INTROSPECTION),
        ({"jwks": {"keys": [EC]}, "jwks_uri": "https://a/"}, "jwks_uri"),
        ({"jwks": {}}, "jwks"),
        ({"jwks": {"keys": [EC | {"d": "…"}]}}, "jwks.keys[0]"),
    ],
    ids=["no keys", "a secret", "another type", "twice", "no set", "private"],
)
def test_the_keys_of_an_api_are_checked(problems: Any, keys: dict[str, Any], name: str) -> None:
    (found,) = problems(api(**keys)).values()
    assert (found.path, found.severity) == (f"api_resources[api].{name}", "error")


@pytest.mark.rfc("9701#6")
@pytest.mark.parametrize(
    "keys", [{"jwks": {"keys": [EC]}}, {"jwks_uri": "https://a/"}], ids=["in place", "by a link"]
)
def test_an_api_with_a_key_may_have_its_answers_encrypted(
    problems: Any, keys: dict[str, Any]
) -> None:
    assert problems(api(**{INTROSPECTION: "ECDH-ES"}, **keys)) == {}
