"""A token that is bound by DPoP counts only with a proof of its key, made just now for this request, once (RFC 9449)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, RSAKey
from oauth_resource_server import Refusal, Request, ResourceServer
from oauth_resource_server.dpop import ReplaysInMemory
from oauth_resource_server.jose import base64url
from oauth_resource_server.testing import DpopKey, LocalIssuer, sign
from time_machine import TimeMachineFixture

from .conftest import ORDERS, URL, MakeApi, accepts, refusal_of, request, together

START = 1_900_000_000


@pytest.fixture(autouse=True)
def _time(time_machine: TimeMachineFixture) -> None:
    time_machine.move_to(START, tick=False)


@pytest.fixture
def token(local_issuer: LocalIssuer, dpop_key: DpopKey) -> str:
    """Return a bound token."""
    return local_issuer.token("orders.read", cnf={"jkt": dpop_key.thumbprint})


def sent(token: str, proof: str, **more: Any) -> Request:
    """Return a request with a token and a proof."""
    return request({"Authorization": f"DPoP {token}", "DPoP": proof}, **more)


async def test_bound_token_is_accepted_with_its_proof(
    api: ResourceServer, dpop_key: DpopKey, token: str
) -> None:
    caller = await api.authenticate(request(dpop_key.headers("GET", ORDERS, token)))
    assert caller.subject == "alice"


async def test_introspected_token_is_bound_as_well(
    api: ResourceServer, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    cnf = {"jkt": dpop_key.thumbprint}
    token = local_issuer.opaque_token(cnf=cnf, token_type="DPoP")
    assert await accepts(api, request(dpop_key.headers("GET", ORDERS, token)))
    assert (await refusal_of(api, token)).error == "invalid_token"


async def test_proof_counts_once(api: ResourceServer, dpop_key: DpopKey, token: str) -> None:
    used = request(dpop_key.headers("GET", ORDERS, token))
    answers = await together(*(api.authenticate(used) for _ in range(20)))
    assert sum(not isinstance(answer, Exception) for answer in answers) == 1
    refusal = await refusal_of(api, used)
    assert (refusal.status, refusal.error) == (401, "invalid_dpop_proof")
    assert refusal.headers["WWW-Authenticate"].startswith('DPoP error="invalid_dpop_proof"')
    assert 'algs="ES256 ES384' in refusal.headers["WWW-Authenticate"]


async def test_bound_token_is_no_bearer_token(
    api: ResourceServer, dpop_key: DpopKey, token: str
) -> None:
    headers = dpop_key.headers("GET", ORDERS, token) | {"Authorization": f"Bearer {token}"}
    assert (await refusal_of(api, request(headers))).error == "invalid_token"
    assert (await refusal_of(api, token)).error == "invalid_token"


async def test_bearer_token_is_not_bound_by_a_proof(
    api: ResourceServer, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    headers = dpop_key.headers("GET", ORDERS, local_issuer.token())
    assert (await refusal_of(api, request(headers))).error == "invalid_token"


@pytest.mark.parametrize("number", [0, 2])
async def test_exactly_one_proof_is_needed(
    api: ResourceServer, dpop_key: DpopKey, token: str, number: int
) -> None:
    proofs = [("dpop", dpop_key.proof("GET", ORDERS, token))] * number
    asked = Request(
        method="GET", path="/orders", headers=[("authorization", f"DPoP {token}"), *proofs]
    )
    assert (await refusal_of(api, asked)).error == "invalid_dpop_proof"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"htm": "POST"},
        {"htm": "get"},
        {"htm": None},
        {"htu": None},
        {"htu": ["https://api.example.com/orders"]},
        {"htu": "https://api.example.com/"},
        {"htu": "https://api.example.com/orders/"},
        {"htu": "https://api.example.com/Orders"},
        {"htu": "http://api.example.com/orders"},
        {"htu": "https://api.example.com:8443/orders"},
        {"htu": "https://api.example.com.evil.example/orders"},
        {"htu": "https://evil.example/orders"},
        {"htu": "https://api.example.com@evil.example/orders"},
        {"htu": "https://evil.example@api.example.com/orders"},
        {"htu": "https://evil.example/https://api.example.com/orders"},
        {"htu": "//api.example.com/orders"},
        {"htu": "/orders"},
        {"htu": "https://api.example.com%2Forders"},
        {"htu": "https://api.example.com/%2Forders"},
        {"htu": "https://api.example.com/orders%3F"},
        {"htu": "https://api.example.com//orders"},
        {"htu": "https://[api.example.com/orders"},
        {"htu": "https://api.example.com:99999/orders"},
        {"ath": None},
        {"ath": "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
        {"jti": "x" * 257},
        {"iat": None},
        {"iat": "now"},
        {"iat": START - 66},
        {"iat": START + 6},
        {"header": {"typ": "JWT"}},
        {"header": {"typ": None}},
        {"header": {"crit": ["b64"], "b64": False}},
        {"header": {"jwk": None}},
        {"header": {"jwk": "key"}},
        {"header": {"jwk": {}}},
        {"header": {"jwk": ECKey.generate_key("P-256").as_dict(private=False)}},
        {"header": {"jwk": ECKey.generate_key("P-256").as_dict(private=True)}},
        {"header": {"jwk": OctKey.generate_key(256).as_dict(private=True)}},
        {"header": {"jwk": RSAKey.generate_key(2048).as_dict(private=False)}},
    ],
    ids=lambda spoiled: str(spoiled)[:22],
)
async def test_proof_for_something_else_is_refused(
    api: ResourceServer, dpop_key: DpopKey, token: str, spoiled: dict[str, Any]
) -> None:
    proof = dpop_key.proof("GET", ORDERS, token, **spoiled)
    refusal = await refusal_of(api, sent(token, proof))
    assert (refusal.status, refusal.error) == (401, "invalid_dpop_proof")


@pytest.mark.parametrize("alg", ["none", "HS256"])
async def test_proof_is_signed_by_a_private_key(
    api: ResourceServer, dpop_key: DpopKey, token: str, alg: str
) -> None:
    _, claims, _ = dpop_key.proof("GET", ORDERS, token).split(".")
    jwk = dpop_key.key.as_dict(private=False)
    secret = OctKey.import_key(json.dumps(jwk))
    spoiled = sign({"alg": "HS256", "typ": "dpop+jwt", "jwk": jwk}, {}, secret).split(".")
    header = base64url(json.dumps({"alg": alg, "typ": "dpop+jwt", "jwk": jwk}).encode())
    for signature in ("", spoiled[2]):
        refusal = await refusal_of(api, sent(token, f"{header}.{claims}.{signature}"))
        assert "algorithm is not allowed" in refusal.description


async def test_proof_of_another_key_is_refused(api: ResourceServer, token: str) -> None:
    stranger = DpopKey()
    refusal = await refusal_of(api, sent(token, stranger.proof("GET", ORDERS, token)))
    assert "bound to another key" in refusal.description


@pytest.mark.parametrize(
    ("htu", "path"),
    [
        ("HTTPS://API.EXAMPLE.COM/orders", "/orders"),
        ("https://api.example.com:443/orders", "/orders"),
        ("https://api.example.com/orders?page=2#top", "/orders"),
        ("https://api.example.com/%6frders", "/orders"),
        ("https://api.example.com/a%2fb", "/a%2Fb"),
        ("https://api.example.com/x/../orders", "/orders"),
        ("https://api.example.com", "/"),
    ],
)
async def test_url_may_be_spelled_differently(
    api: ResourceServer, dpop_key: DpopKey, token: str, htu: str, path: str
) -> None:
    proof = dpop_key.proof("GET", htu, token)
    assert await accepts(api, sent(token, proof, path=path))


async def test_host_header_does_not_count(
    api: ResourceServer, dpop_key: DpopKey, token: str
) -> None:
    headers = dpop_key.headers("GET", "https://evil.example/orders", token)
    headers |= {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    assert (await refusal_of(api, request(headers))).error == "invalid_dpop_proof"


@pytest.mark.parametrize("path", ["/orders", "/v1/orders"])
async def test_path_prefix_that_a_proxy_removes_is_put_back(
    make_api: MakeApi, local_issuer: LocalIssuer, dpop_key: DpopKey, path: str
) -> None:
    api = make_api(url=f"{URL}/v1")
    token = local_issuer.token(cnf={"jkt": dpop_key.thumbprint})
    proof = dpop_key.proof("GET", f"{URL}/v1/orders", token)
    assert await accepts(api, sent(token, proof, path=path))


async def test_api_without_a_url_takes_no_bound_tokens(
    make_api: MakeApi, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    api = make_api(url=None)
    token = local_issuer.token(cnf={"jkt": dpop_key.thumbprint})
    refusal = await refusal_of(api, request(dpop_key.headers("GET", ORDERS, token)))
    assert refusal.error == "invalid_token"


async def test_only_bound_tokens_are_taken_where_the_api_says_so(
    make_api: MakeApi, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    api = make_api(require_bound_tokens=True)
    assert "bound to a key" in (await refusal_of(api, local_issuer.token())).description
    token = local_issuer.token(cnf={"jkt": dpop_key.thumbprint})
    assert await accepts(api, request(dpop_key.headers("GET", ORDERS, token)))


async def test_nonce_is_asked_for_and_ends(
    make_api: MakeApi,
    local_issuer: LocalIssuer,
    dpop_key: DpopKey,
    time_machine: TimeMachineFixture,
) -> None:
    api, other = (make_api(dpop_nonce_secret=b"s" * 32) for _ in range(2))
    token = local_issuer.token(cnf={"jkt": dpop_key.thumbprint}, exp=START + 5000)
    refusal = await refusal_of(api, request(dpop_key.headers("GET", ORDERS, token)))
    assert (refusal.status, refusal.error) == (401, "use_dpop_nonce")
    nonce = refusal.headers["DPoP-Nonce"]
    for replica in (api, other):
        assert await accepts(replica, request(dpop_key.headers("GET", ORDERS, token, nonce=nonce)))
    for wrong in ("guessed", None, 1, [nonce]):
        headers = dpop_key.headers("GET", ORDERS, token, nonce=wrong)
        assert (await refusal_of(api, request(headers))).error == "use_dpop_nonce"
    time_machine.move_to(START + 601)
    headers = dpop_key.headers("GET", ORDERS, token, nonce=nonce)
    assert (await refusal_of(api, request(headers))).error == "use_dpop_nonce"


async def test_memory_of_proofs_is_bounded_and_accepts_no_replay() -> None:
    memory = ReplaysInMemory(size=100)
    first = [(f"proof-{n}", START + n / 100) for n in range(1000)]
    for key, issued_at in first:
        assert await memory.is_first_use(key, issued_at, 70)
    assert len(memory._seen) <= 100  # noqa: SLF001
    assert not any([await memory.is_first_use(key, at, 70) for key, at in first])
    assert await memory.is_first_use("new", START + 10, 70)


async def test_expired_proofs_are_forgotten(time_machine: TimeMachineFixture) -> None:
    memory = ReplaysInMemory()
    for n in range(100):
        await memory.is_first_use(str(n), START, 70)
    time_machine.move_to(START + 71)
    assert await memory.is_first_use("new", START + 71, 70)
    assert len(memory._seen) == 1  # noqa: SLF001


class Shared:
    """A store that several processes share."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.seconds: set[int] = set()

    async def is_first_use(self, key: str, issued_at: float, seconds: int) -> bool:
        await asyncio.sleep(0)
        self.seconds.add(seconds)
        is_new = key not in self.keys
        self.keys.add(key)
        return is_new


async def test_shared_memory_of_proofs_serves_several_processes(
    make_api: MakeApi, local_issuer: LocalIssuer, dpop_key: DpopKey
) -> None:
    shared = Shared()
    apis = [make_api(replays=shared) for _ in range(2)]
    token = local_issuer.token(cnf={"jkt": dpop_key.thumbprint})
    used = request(dpop_key.headers("GET", ORDERS, token))
    assert await accepts(apis[0], used)
    assert (await refusal_of(apis[1], used)).error == "invalid_dpop_proof"
    with pytest.raises(Refusal):
        await asyncio.to_thread(apis[0].authenticate_blocking, used)
    assert shared.seconds == {70}
