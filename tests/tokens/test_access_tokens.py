"""The claims of access tokens, their verification, and tokens that are refused (RFC 9068, RFC 8725)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import orjson
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in, header_of

pytestmark = pytest.mark.rfc("9068#2", "9068#4", "8725#3.1")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A user with impostors among the claims; an API with an algorithm of its own; a talkative client."""
    config["signing"]["algorithms"] = ["ES256", "EdDSA"]
    config["api_resources"][0]["user_claims"] = ["email", "sub", "exp", "scope", "act"]
    config["api_resources"][1]["access_token_signing_algorithm"] = "EdDSA"
    config["users"]["list"][0]["claims"] |= {"sub": "root", "exp": 1, "scope": "admin", "act": {}}
    client_in(config, "frontend").update(claims={"tier": "gold"}, always_send_client_claims=True)
    client_in(config, "web").update(claims={"tier": "gold"}, access_token_lifetime="5m")
    return config


def encode(part: object) -> str:
    """A part of a JWT."""
    return urlsafe_b64encode(orjson.dumps(part)).rstrip(b"=").decode()


async def keys_of(service: RunningService) -> KeySet:
    """The published keys."""
    return KeySet.import_key_set((await service.get("/.well-known/jwks.json")).json)  # type: ignore[arg-type]


@pytest.mark.rfc("9068#2.1", "9068#4")
async def test_anybody_can_verify_it_with_the_published_keys(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    verified = jwt.decode(token, await keys_of(service), algorithms=["ES256"])
    assert verified.header["typ"] == "at+jwt"
    assert verified.claims["sub"] == "818727"


async def test_an_api_may_have_an_algorithm_of_its_own(service: RunningService) -> None:
    for scope, alg in (("api2", "EdDSA"), ("api1", "ES256"), ("api1 api2", "ES256")):
        token = (await service.user_token(scope=scope))["access_token"]
        assert header_of(token)["alg"] == alg
        caller = scope.split(" ", maxsplit=1)[0]
        assert await service.is_active(token, caller=caller)


@pytest.mark.rfc("9068#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_user_claims_never_replace_claims_of_the_protocol(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    told = await service.introspect(token)
    assert (told["sub"], told["scope"], told["email"]) == ("818727", "api1", "alice@example.com")
    assert told["exp"] - told["iat"] == 3600
    assert "act" not in told.json


async def test_the_clients_claims_come_with_a_user_only_where_registered(
    app: ClientApp, service: RunningService
) -> None:
    registered = claims_in((await service.user_token())["access_token"])
    assert registered["client_tier"] == "gold"
    assert "client_tier" not in claims_in((await app.tokens())["access_token"])


async def test_the_client_decides_how_long_it_lives(app: ClientApp) -> None:
    tokens = await app.tokens()
    claims = claims_in(tokens["access_token"])
    assert claims["exp"] - claims["iat"] == tokens["expires_in"] == 300


@pytest.mark.rfc("9068#3")
async def test_token_for_no_api_has_the_issuer_as_audience(app: ClientApp) -> None:
    claims = claims_in((await app.tokens(scope="openid email"))["access_token"])
    assert claims["aud"] == app.service.issuer
    assert "email" not in claims


@pytest.mark.rfc("7519#4.1.7")
async def test_every_token_has_its_own_jti(service: RunningService) -> None:
    names = {claims_in((await service.user_token())["access_token"])["jti"] for _ in range(5)}
    assert len(names) == 5


@pytest.mark.rfc("8725#3.1", "8725#3.2")
async def test_token_signed_by_another_key_is_refused(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    header, claims = header_of(token), claims_in(token)
    (published,) = [
        key.as_dict(private=False) for key in (await keys_of(service)).keys if key.key_type == "EC"
    ]
    own = ECKey.generate_key("P-256")
    bodies = {
        "none": f"{encode(header | {'alg': 'none'})}.{encode(claims)}.",
        "own key": jwt.encode(header, claims, own),
        "own key in the header": jwt.encode(
            header | {"jwk": own.as_dict(private=False)}, claims, own
        ),
        "own kid": jwt.encode(header | {"kid": own.thumbprint()}, claims, own),
        "no kid": jwt.encode({"alg": "ES256", "typ": "at+jwt"}, claims, own),
        "another algorithm": f"{encode(header | {'alg': 'EdDSA'})}.{token.partition('.')[2]}",
        "unknown crit": f"{encode(header | {'crit': ['exp']})}.{token.partition('.')[2]}",
    }
    signed = f"{encode(header | {'alg': 'HS256'})}.{encode(claims)}"
    mac = hmac.digest(orjson.dumps(published), signed.encode(), sha256)
    bodies["public key as secret"] = f"{signed}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    for forged in bodies.values():
        assert not await service.is_active(forged)
    assert await service.is_active(token)


@pytest.mark.rfc("8725#3.8")
@pytest.mark.parametrize(
    "issuer",
    ["a://x", "https://other.example", "{own}/", "{cut}"],
    ids=["lesser", "greater", "longer", "shorter"],
)
async def test_token_of_another_issuer_is_refused(service: RunningService, issuer: str) -> None:
    """Also of a longer or shorter name: the issuer has to be the same string."""
    claims = claims_in((await service.user_token())["access_token"])
    other = issuer.format(own=service.issuer, cut=service.issuer[:-1])
    key = service.features.ring.signing_key()
    assert await service.is_active(await key.sign(claims, typ="at+jwt"))
    assert not await service.is_active(await key.sign(claims | {"iss": other}, typ="at+jwt"))
