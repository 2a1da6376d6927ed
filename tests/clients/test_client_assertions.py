"""client_secret_jwt and private_key_jwt (RFC 7521 §4.2, RFC 7523 §2.2 and §3, draft-ietf-oauth-rfc7523bis §4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.jose import Key
from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import SECRET, Signer, key_of, unsigned
from tests.conftest import Clock, Start
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7523#2.2", "7523#3", "7521#4.2", "openid-core#9")

BY_SECRET, BY_KEY = ("by-secret", "HS256"), ("by-key", "ES256")
NEVER = (401, "invalid_client")

SignerOf = Callable[..., Signer]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Clients with a key for every algorithm, with a secret's value, with both."""
    usual = client_in(config, "machine")
    kinds = ("RS256", "ES256", "ES384", "ES512", "EdDSA")
    jwks = {"keys": [_any_use_of(key_of(alg).public_jwk) for alg in kinds]}
    value = {"client_secrets": [{"value": SECRET}]}

    def add(client_id: str, **changes: Any) -> None:
        config["clients"].append(
            usual | {"client_secrets": []} | changes | {"client_id": client_id}
        )

    add("by-secret", **value)
    add("by-key", jwks=jwks)
    add("either", jwks=jwks, **value)
    add("only-key", jwks=jwks, token_endpoint_auth_method="private_key_jwt", **value)
    add("only-secret", jwks=jwks, token_endpoint_auth_method="client_secret_jwt", **value)
    add("only-post", jwks=jwks, token_endpoint_auth_method="client_secret_post", **value)
    add("only-es384", jwks=jwks, token_endpoint_auth_signing_alg="ES384")
    add("only-hs512", token_endpoint_auth_signing_alg="HS512", **value)
    add("disabled", jwks=jwks, enabled=False)
    return config


def _any_use_of(jwk: dict[str, Any]) -> dict[str, Any]:
    """Without `alg`, a key serves for all algorithms of its type."""
    return {name: value for name, value in jwk.items() if name != "alg"}


@pytest.fixture
def signer(service: RunningService) -> SignerOf:
    """A client that signs."""
    return lambda client_id, alg: Signer(service, client_id, alg)


@pytest.fixture(params=[BY_SECRET, BY_KEY], ids=["client_secret_jwt", "private_key_jwt"])
def client(request: pytest.FixtureRequest, signer: SignerOf) -> Signer:
    """A client of either method."""
    return signer(*request.param)


@pytest.mark.parametrize("alg", MAC_ALGORITHMS)
async def test_a_secret_signs_with_every_hmac(signer: SignerOf, alg: str) -> None:
    assert (await signer("by-secret", alg).ask()).status == 200


@pytest.mark.parametrize("alg", SIGNING_ALGORITHMS)
async def test_a_key_signs_with_every_algorithm(signer: SignerOf, alg: str) -> None:
    assert (await signer("by-key", alg).ask()).status == 200


async def test_the_token_belongs_to_the_client(client: Signer) -> None:
    token = (await client.ask())["access_token"]
    told = await client.service.introspect(token)
    assert told["client_id"] == client.client_id


async def test_client_id_may_be_sent_with_the_assertion(client: Signer) -> None:
    assert (await client.ask(client_id=client.client_id)).status == 200


@pytest.mark.rfc("7521#4.2")
async def test_another_client_id_with_the_assertion_is_refused(client: Signer) -> None:
    assert (await client.ask(client_id="machine")).refusal == NEVER


@pytest.mark.rfc("rfc7523bis#4", "7515#4.1.9")
@pytest.mark.parametrize(
    "typ",
    [
        *("JWT", "jwt", "client-authentication+jwt", "application/jwt", "APPLICATION/JWT"),
        "application/Client-Authentication+JWT",
    ],
)
async def test_an_assertion_of_the_registered_type_is_accepted(client: Signer, typ: str) -> None:
    assert (await client.ask(await client.assertion(typ=typ))).status == 200


@pytest.mark.rfc("8725#3.11")
@pytest.mark.parametrize("typ", ["at+jwt", "logout+jwt", "oauth-authz-req+jwt"])
async def test_a_jwt_of_another_type_is_refused(client: Signer, typ: str) -> None:
    assert (await client.ask(await client.assertion(typ=typ))).refusal == NEVER


@pytest.mark.rfc("rfc7523bis#4")
@pytest.mark.parametrize("path", ["", "/connect/token"], ids=["issuer", "token endpoint"])
@pytest.mark.parametrize("listed", [False, True], ids=["text", "list of one"])
async def test_an_assertion_for_this_service_is_accepted(
    client: Signer, path: str, listed: bool
) -> None:
    audience = client.service.issuer + path
    assertion = await client.assertion(aud=[audience] if listed else audience)
    assert (await client.ask(assertion)).status == 200


@pytest.mark.rfc("rfc7523bis#4")
@pytest.mark.parametrize(
    "audience",
    [
        None,
        [],
        ["{issuer}", "https://other.example"],
        ["{issuer}", "{issuer}/connect/token"],
        "https://other.example",
        "{issuer}/",
        "{issuer}/connect/introspect",
        "{issuer}/connect/authorize",
        {"aud": "{issuer}"},
        7,
    ],
    ids=str,
)
async def test_another_audience_or_more_than_one_is_refused(
    client: Signer, audience: object
) -> None:
    filled = _filled(audience, client.service.issuer)
    assert (await client.ask(await client.assertion(aud=filled))).refusal == NEVER


def _filled(value: Any, issuer: str) -> Any:
    if isinstance(value, str):
        return value.format(issuer=issuer)
    return [_filled(one, issuer) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": None},
        {"iss": "machine"},
        {"sub": None},
        {"sub": "machine"},
        {"sub": ["by-key"]},
        {"exp": None},
        {"exp": timedelta(minutes=-1)},
        {"exp": timedelta(hours=2)},
        {"exp": "tomorrow"},
        {"exp": True},
        {"iat": timedelta(minutes=5)},
        {"iat": "now"},
        {"nbf": timedelta(minutes=5)},
        {"nbf": []},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
    ],
    ids=lambda changes: " ".join(f"{name}={value}" for name, value in changes.items()),
)
async def test_an_assertion_with_a_wrong_claim_is_refused(
    client: Signer, changes: dict[str, Any]
) -> None:
    answer = await client.ask(await client.assertion(**changes))
    assert answer.refusal == NEVER


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"aud": "https://other.example"}, "aud is not this service alone"),
        ({"exp": timedelta(minutes=-1)}, "it has expired"),
        ({"jti": None}, "jti is missing"),
        ({"iss": "machine"}, "iss and sub are not the client_id"),
    ],
    ids=["aud", "exp", "jti", "iss"],
)
async def test_the_refusal_of_an_assertion_that_the_client_signed_names_what_is_wrong(
    client: Signer, changes: dict[str, Any], cause: str
) -> None:
    answer = await client.ask(await client.assertion(**changes))
    assert answer.refusal == NEVER
    assert answer["error_description"].startswith(f"the client assertion is refused: {cause}")


async def test_the_refusal_of_an_assertion_by_an_unknown_key_names_nothing(
    client: Signer,
) -> None:
    answer = await client.ask(await client.assertion(number=1, aud="https://other.example"))
    assert answer.refusal == NEVER
    assert answer["error_description"] == "the client is unknown or its credentials are wrong"


@pytest.mark.rfc("9101#10.8", "8725#3.12")
@pytest.mark.parametrize("name", ["response_type", "redirect_uri", "client_id", "scope"])
async def test_a_request_object_that_passed_a_browser_is_refused(client: Signer, name: str) -> None:
    claims: dict[str, Any] = {name: "keyed"}
    assert (await client.ask(await client.assertion(**claims))).refusal == NEVER


async def test_clocks_may_differ_a_little(client: Signer) -> None:
    ahead = await client.assertion(iat=timedelta(seconds=20), nbf=timedelta(seconds=20))
    assert (await client.ask(ahead)).status == 200
    behind = await client.assertion(exp=timedelta(seconds=-20))
    assert (await client.ask(behind)).status == 200


async def test_an_assertion_may_be_valid_for_an_hour(client: Signer) -> None:
    """It is what Authlib asks for."""
    answer = await client.ask(await client.assertion(exp=timedelta(hours=1)))
    assert answer.status == 200


async def test_an_assertion_of_another_key_is_refused(client: Signer) -> None:
    assert (await client.ask(await client.assertion(number=1))).refusal == NEVER


@pytest.mark.rfc("8725#3.1")
@pytest.mark.parametrize("alg", ["none", "None", "HS1", "RSA-OAEP", ["HS256"], 5, None], ids=str)
async def test_an_unsigned_assertion_is_refused(client: Signer, alg: object) -> None:
    forged = unsigned({"alg": alg, "typ": "JWT"}, client.claims())
    assert (await client.ask(forged)).refusal == NEVER
    assert (await client.ask(forged + "AA")).refusal == NEVER


@pytest.mark.rfc("8725#3.1")
async def test_a_public_key_is_not_taken_for_a_secret(signer: SignerOf) -> None:
    """The clients' public keys are known to everybody, as a secret would not be."""
    assert (await signer("by-key", "HS256").ask()).refusal == NEVER
    assert (await signer("by-secret", "ES256").ask()).refusal == NEVER


async def test_a_secret_registered_as_a_hash_cannot_sign(service: RunningService) -> None:
    assert (await Signer(service, "machine", "HS256").ask()).refusal == NEVER


@pytest.mark.parametrize("kind", ["urn:ietf:params:oauth:grant-type:jwt-bearer", "jwt", None])
async def test_a_wrong_client_assertion_type_is_refused(client: Signer, kind: str | None) -> None:
    for one in (client, replace(client, client_id="nobody")):
        answer = await one.ask(client_assertion_type=kind)
        assert answer.refusal == NEVER
        assert answer["error_description"] == f"client_assertion_type is not {CLIENT_ASSERTION}"


@pytest.mark.parametrize(
    ("client_id", "alg", "status"),
    [
        ("either", "ES256", 200),
        ("either", "HS256", 200),
        ("only-key", "RS256", 200),
        ("only-key", "HS256", 401),
        ("only-secret", "HS384", 200),
        ("only-secret", "ES256", 401),
        ("only-post", "HS256", 401),
        ("only-post", "ES256", 401),
        ("only-es384", "ES384", 200),
        ("only-es384", "ES256", 401),
        ("only-hs512", "HS512", 200),
        ("only-hs512", "HS256", 401),
        ("disabled", "ES256", 401),
        ("nobody", "ES256", 401),
        ("nobody", "RS256", 401),
        ("nobody", "HS256", 401),
    ],
)
async def test_a_client_uses_the_registered_method_and_algorithm(
    signer: SignerOf, client_id: str, alg: str, status: int
) -> None:
    assert (await signer(client_id, alg).ask()).status == status


@pytest.mark.rfc("9700#2.5")
@pytest.mark.parametrize(
    ("alg", "kid"), [("HS256", ""), ("HS256", "any"), ("ES256", ""), ("RS256", "")]
)
@pytest.mark.parametrize("client_id", ["either", "nobody"])
async def test_an_unknown_clients_assertion_is_verified_like_any_other(
    signer: SignerOf, client_id: str, alg: str, kid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(Key, "verifies", lambda key, *_: looked_at.append(key.alg))
    client = signer(client_id, alg)
    key = replace(key_of(alg, 1), kid=kid)
    await client.ask(await key.sign(client.claims(), typ="JWT"))
    assert looked_at == [alg]


async def test_a_client_that_may_sign_may_also_send_its_secret(signer: SignerOf) -> None:
    auth = ("either", SECRET)
    answer = await signer("either", "ES256").service.token(auth, grant_type="client_credentials")
    assert answer.status == 200


@pytest.mark.rfc("6749#2.3")
async def test_an_assertion_with_a_secret_is_refused(client: Signer) -> None:
    answer = await client.ask(client_id=client.client_id, client_secret=SECRET)
    assert answer.refusal == (400, "invalid_request")


async def test_an_assertion_works_once(client: Signer) -> None:
    assertion = await client.assertion()
    assert (await client.ask(assertion)).status == 200
    assert (await client.ask(assertion)).refusal == NEVER


async def test_an_assertion_works_once_in_all_replicas(
    start: Start, service: RunningService, config: dict[str, Any], store_url: str
) -> None:
    first = Signer(service, "by-key", "ES256")
    alone = store_url.startswith("memory")
    second = first if alone else Signer(await start(config), "by-key", "ES256")
    assertion = await first.assertion()
    answers = await asyncio.gather(*(one.ask(assertion) for one in (first, second) * 10))
    assert sorted(answer.status for answer in answers) == [200] + [401] * 19


async def test_two_clients_may_use_the_same_jti(signer: SignerOf) -> None:
    for client_id in ("by-key", "either"):
        client = signer(client_id, "ES256")
        assert (await client.ask(await client.assertion(jti="the-same"))).status == 200


async def test_only_a_valid_assertion_uses_up_its_jti(client: Signer) -> None:
    forged = await client.assertion(jti="mine", number=1)
    assert (await client.ask(forged)).refusal == NEVER
    assert (await client.ask(await client.assertion(jti="mine"))).status == 200


async def test_a_jti_is_remembered_until_the_assertion_ends(client: Signer, clock: Clock) -> None:
    assertion = await client.assertion(exp=timedelta(minutes=5))
    assert (await client.ask(assertion)).status == 200
    clock.forward(minutes=4, seconds=59)
    assert (await client.ask(assertion)).refusal == NEVER
    clock.forward(seconds=25)  # the clocks may differ
    assert (await client.ask(assertion)).refusal == NEVER


@pytest.mark.rfc("7009#2.1", "7662#2.1")
@pytest.mark.parametrize("path", ["/connect/introspect", "/connect/revocation"])
@pytest.mark.parametrize("audience", ["", "/connect/token", None])
async def test_an_assertion_authenticates_at_the_other_endpoints_too(
    client: Signer, path: str, audience: str | None
) -> None:
    token = (await client.ask())["access_token"]
    aud = client.service.issuer + (path if audience is None else audience)
    proof = await client.assertion(aud=aud)
    form: dict[str, Any] = {"client_assertion": proof, "client_assertion_type": CLIENT_ASSERTION}
    assert (await client.service.post(path, token=token, **form)).status == 200
    assert (await client.service.post(path, token=token, **form)).refusal == NEVER


@pytest.mark.rfc("8414#2")
@pytest.mark.parametrize(
    ("endpoint", "public"), [("token", ["none"]), ("revocation", ["none"]), ("introspection", [])]
)
async def test_discovery_lists_methods_and_algorithms(
    service: RunningService, endpoint: str, public: list[str]
) -> None:
    told = await service.get("/.well-known/openid-configuration")
    methods = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]
    assert told[f"{endpoint}_endpoint_auth_methods_supported"] == methods + public
    algorithms = told[f"{endpoint}_endpoint_auth_signing_alg_values_supported"]
    assert algorithms == [*MAC_ALGORITHMS, *SIGNING_ALGORITHMS]
