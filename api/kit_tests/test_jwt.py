"""JWT access tokens are accepted from the issuer, for this API, and in no other form (RFC 9068 §4, RFC 8725)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey
from oauth_resource_server import ResourceServer
from oauth_resource_server.jose import base64url
from oauth_resource_server.testing import LocalIssuer, sign
from time_machine import TimeMachineFixture

from .conftest import ISSUER, MakeApi, authenticate, refusal_of


async def test_token_of_the_issuer_describes_its_caller(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    caller = await authenticate(api, local_issuer.token("orders.read orders.write", acr="gold"))
    assert (caller.subject, caller.client_id, caller.acr) == ("alice", "app", "gold")
    assert caller.has_scope("orders.read", "orders.write")
    assert caller.token not in repr(caller)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "https://other.example.com"}, "another issuer"),
        ({"iss": f"{ISSUER}/"}, "another issuer"),
        ({"aud": "payments"}, "not for this API"),
        ({"aud": ["payments", ["orders"]]}, "not for this API"),
        ({"aud": None}, "not for this API"),
        ({"exp": 1}, "has expired"),
        ({"exp": None}, "exp or sub is missing"),
        ({"exp": True}, "exp is not a time"),
        ({"exp": "9999999999"}, "exp is not a time"),
        ({"exp": float("inf")}, "exp is not a time"),
        ({"nbf": 32503680000}, "not valid yet"),
        ({"sub": None}, "exp or sub is missing"),
        ({"sub": 1}, "exp or sub is missing"),
    ],
    ids=str,
)
async def test_claims_of_another_token_are_refused(
    api: ResourceServer, local_issuer: LocalIssuer, claims: dict[str, Any], reason: str
) -> None:
    refusal = await refusal_of(api, local_issuer.token(**claims))
    assert (refusal.status, refusal.error) == (401, "invalid_token")
    assert reason in refusal.description


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"typ": "JWT"}, "another type"),
        ({"typ": "dpop+jwt"}, "another type"),
        ({"typ": None}, "another type"),
        ({"crit": ["exp"]}, "critical"),
        ({"b64": False}, "critical"),
        ({"kid": ["x"]}, "key id is not a text"),
        ({"kid": "../../etc/passwd"}, "no such key"),
        ({"kid": "' OR 1=1"}, "no such key"),
        ({"kid": ""}, "no such key"),
    ],
    ids=str,
)
async def test_headers_of_another_token_are_refused(
    api: ResourceServer, local_issuer: LocalIssuer, header: dict[str, Any], reason: str
) -> None:
    refusal = await refusal_of(api, local_issuer.token(header=header))
    assert (refusal.status, refusal.error) == (401, "invalid_token")
    assert reason in refusal.description


async def test_media_type_in_full_is_the_same_type(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.token(header={"typ": "application/at+JWT"})
    assert (await authenticate(api, token)).subject == "alice"


async def test_unsigned_tokens_are_refused(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    await authenticate(api, local_issuer.token())
    for alg in ("none", "None", "", None):
        header = {"alg": alg, "typ": "at+jwt", "kid": local_issuer.keys[-1].kid}
        parts = [base64url(json.dumps(part).encode()) for part in (header, local_issuer.claims())]
        for signature in ("", "AAAA"):
            refusal = await refusal_of(api, ".".join([*parts, signature]))
            assert "algorithm is not allowed" in refusal.description


async def test_public_key_is_no_shared_secret(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    """The classic confusion: HS256 with the published key as the secret (RFC 8725 §2.1)."""
    published = local_issuer.keys[-1]
    public = published.raw_value.public_key()
    spellings = (
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(published.as_dict(private=False)).encode(),
    )
    for secret in spellings:
        header = {"alg": "HS256", "typ": "at+jwt", "kid": published.kid}
        token = sign(header, local_issuer.claims(), OctKey.import_key(secret.hex()))
        assert "algorithm is not allowed" in (await refusal_of(api, token)).description


@pytest.mark.parametrize("member", ["jwk", "jku", "x5u", "x5c"])
async def test_keys_in_the_header_are_ignored(
    api: ResourceServer, local_issuer: LocalIssuer, member: str
) -> None:
    stranger = ECKey.generate_key("P-256")
    values = {
        "jwk": stranger.as_dict(private=False),
        "jku": "https://attacker.example/jwks",
        "x5u": "https://attacker.example/x5u",
        "x5c": ["MII="],
    }
    header = {"typ": "at+jwt", "kid": local_issuer.keys[-1].kid, member: values[member]}
    refusal = await refusal_of(api, sign(header, local_issuer.claims(), stranger))
    assert "signature does not verify" in refusal.description
    assert {path for path, _ in local_issuer.requests} <= {
        "/jwks",
        "/.well-known/oauth-authorization-server",
    }


@pytest.mark.parametrize(
    "key",
    [
        RSAKey.generate_key(2048, {"kid": "k"}),
        OKPKey.generate_key("Ed25519", {"kid": "k"}),
        ECKey.generate_key("P-521", {"kid": "k"}),
    ],
    ids=["RS256", "EdDSA", "ES512"],
)
async def test_every_listed_algorithm_is_read(
    make_api: MakeApi, local_issuer: LocalIssuer, key: Any, request: pytest.FixtureRequest
) -> None:
    api, local_issuer.keys = make_api(), [key]
    token = local_issuer.token(header={"alg": request.node.callspec.id})
    assert (await authenticate(api, token)).subject == "alice"
    refusal = await refusal_of(make_api(algorithms=["ES256"]), token)
    assert "algorithm is not allowed" in refusal.description


@pytest.mark.parametrize("algorithm", ["none", "HS256", "HS512", "RS1"])
def test_shared_secrets_cannot_be_allowed(make_api: MakeApi, algorithm: str) -> None:
    with pytest.raises(ValueError, match=algorithm):
        make_api(algorithms=["ES256", algorithm])


async def test_key_for_another_purpose_is_not_used(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    wrong: tuple[Any, ...] = ({"use": "enc"}, {"alg": "ES384"})
    for members in wrong:
        local_issuer.keys = [ECKey.generate_key("P-256", members | {"kid": "k"})]
        assert "no such key" in (await refusal_of(api, local_issuer.token())).description


async def test_short_rsa_key_is_not_used(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    with pytest.warns(match="2048"):
        local_issuer.keys = [RSAKey.generate_key(1024, {"kid": "k"})]
    token = local_issuer.token(header={"alg": "RS256"})
    assert "no such key" in (await refusal_of(api, token)).description


async def test_token_without_key_id_needs_an_unambiguous_key(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.token(header={"kid": None})
    assert (await authenticate(api, token)).subject == "alice"
    local_issuer.rotate()
    local_issuer.serve(api)
    assert "no such key" in (await refusal_of(api, token)).description


@pytest.mark.parametrize(
    "token",
    [
        "a.b",
        "a.b.c.d",
        "...",
        "é.é.é",
        "e30.e30.AA=",
        f"{'eyJh' * 15000}.e30.AA",
        f"{base64url(b'[' * 100_000)[:40000]}.e30.AA",
        f"{base64url(b'[]')}.e30.AA",
        f"{base64url(b'{}')}..",
        f"{base64url(chr(0xFF).encode('latin-1'))}.e30.AA",
    ],
    ids=range(10),
)
async def test_nonsense_is_refused(make_api: MakeApi, token: str) -> None:
    refusal = await refusal_of(make_api(credentials=None), token)
    assert (refusal.status, refusal.error) == (401, "invalid_token")


async def test_signature_counts_in_one_spelling_only(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.token()
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    other = alphabet[alphabet.index(token[-1]) ^ 1]  # of the last character, four bits do not count
    assert (await refusal_of(api, token[:-1] + other)).error == "invalid_token"


async def test_remembered_token_ends_on_time(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    time_machine.move_to(1_900_000_000)
    token = local_issuer.token(exp=1_900_000_020)
    await authenticate(api, token)
    time_machine.move_to(1_900_000_019)
    await authenticate(api, token)
    time_machine.move_to(1_900_000_020)
    assert "has expired" in (await refusal_of(api, token)).description


async def test_changed_token_is_not_taken_for_a_remembered_one(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    token = local_issuer.token("orders.read")
    await authenticate(api, token)
    head, _, signature = token.split(".")
    forged = base64url(json.dumps(local_issuer.claims("orders.admin")).encode())
    refusal = await refusal_of(api, f"{head}.{forged}.{signature}")
    assert "signature does not verify" in refusal.description


@pytest.mark.parametrize(
    "settings", [{"audience": (), "url": None}, {"url": "orders"}, {"url": "https://a/?b"}], ids=str
)
def test_api_says_which_tokens_are_for_it(make_api: MakeApi, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"audience|URL"):
        make_api(**settings)
