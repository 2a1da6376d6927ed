"""Refusals say what is missing, so that a client can mend it (RFC 6750 §3, RFC 9470 §3, RFC 9728 §5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oauth_resource_server import Demand, Request, ResourceServer
from oauth_resource_server.testing import LocalIssuer
from time_machine import TimeMachineFixture

from .conftest import MakeApi, accepts, refusal_of, request

START = 1_900_000_000
RESOURCE = 'resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"'
ALGORITHMS = "ES256 ES384 ES512 Ed25519 EdDSA PS256 PS384 PS512 RS256 RS384 RS512"


@pytest.mark.parametrize("header", [None, "", "Basic YTpi", "Negotiate", "token abc"])
async def test_request_without_a_token_learns_how_to_send_one(
    api: ResourceServer, header: str | None
) -> None:
    headers = {} if header is None else {"Authorization": header}
    refusal = await refusal_of(api, request(headers))
    assert refusal.status == 401
    assert refusal.headers["WWW-Authenticate"] == (
        f'Bearer {RESOURCE}, DPoP {RESOURCE}, algs="{ALGORITHMS}"'
    )


async def test_challenge_names_the_scope_also_before_there_is_a_token(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    """MCP clients ask for what the first 401 names."""
    for sent in ("", local_issuer.token(aud="other")):
        refusal = await refusal_of(api, sent, Demand(scope=("orders.read",)))
        assert refusal.status == 401
        assert f'scope="orders.read", {RESOURCE}' in refusal.headers["WWW-Authenticate"]


async def test_api_without_a_url_challenges_without_metadata(make_api: MakeApi) -> None:
    refusal = await refusal_of(make_api(url=None), "")
    assert refusal.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("sent", ["Bearer", "Bearer ", "Bearer a b", "Bearer é", "bearer a,b"])
async def test_malformed_token_is_refused(api: ResourceServer, sent: str) -> None:
    refusal = await refusal_of(api, request({"Authorization": sent}))
    assert (refusal.status, refusal.error) == (401, "invalid_token")
    assert refusal.headers["WWW-Authenticate"].startswith('Bearer error="invalid_token"')


async def test_two_authorization_headers_are_refused(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    headers = [("authorization", f"Bearer {local_issuer.token()}")] * 2
    refusal = await refusal_of(api, Request(method="GET", path="/", headers=headers))
    assert (refusal.status, refusal.error) == (400, "invalid_request")


async def test_body_names_the_error(api: ResourceServer) -> None:
    refusal = await refusal_of(api, "opaque.with.dots")
    assert json.loads(refusal.body) == {
        "error": "invalid_token",
        "error_description": refusal.description,
    }
    assert refusal.headers["Cache-Control"] == "no-store"
    assert "with" not in refusal.headers["WWW-Authenticate"]


async def test_missing_scope_is_named(api: ResourceServer, local_issuer: LocalIssuer) -> None:
    demand = Demand(scope=("orders.read", "orders.write"))
    for scope in ("orders.read", "", "orders.reader orders.writer", "ORDERS.READ orders.write"):
        refusal = await refusal_of(api, request(local_issuer.token(scope)), demand)
        assert (refusal.status, refusal.error) == (403, "insufficient_scope")
        assert 'scope="orders.read orders.write"' in refusal.headers["WWW-Authenticate"]
    token = local_issuer.token("a orders.write  orders.read")
    assert await accepts(api, request(token), demand)


@pytest.mark.parametrize(
    ("demand", "claims", "asked"),
    [
        (Demand(acr=("gold", "silver")), {"acr": "bronze"}, 'acr_values="gold silver"'),
        (Demand(acr=("gold",)), {}, 'acr_values="gold"'),
        (Demand(acr=("gold",)), {"acr": ["gold"]}, 'acr_values="gold"'),
        (Demand(max_age=60), {"auth_time": START - 61}, 'max_age="60"'),
        (Demand(max_age=60), {}, 'max_age="60"'),
        (Demand(max_age=60), {"auth_time": True}, 'max_age="60"'),
        (Demand(acr=("gold",), max_age=0), {"auth_time": 1}, 'acr_values="gold", max_age="0"'),
    ],
    ids=str,
)
async def test_weaker_authentication_asks_for_a_step_up(  # noqa: PLR0917
    api: ResourceServer,
    local_issuer: LocalIssuer,
    time_machine: TimeMachineFixture,
    demand: Demand,
    claims: dict[str, Any],
    asked: str,
) -> None:
    time_machine.move_to(START, tick=False)
    refusal = await refusal_of(api, request(local_issuer.token(**claims)), demand)
    assert (refusal.status, refusal.error) == (401, "insufficient_user_authentication")
    assert asked in refusal.headers["WWW-Authenticate"]


async def test_strong_and_recent_authentication_suffices(
    api: ResourceServer, local_issuer: LocalIssuer, time_machine: TimeMachineFixture
) -> None:
    time_machine.move_to(START, tick=False)
    token = local_issuer.token(acr="silver", auth_time=START - 60)
    demand = Demand(acr=("gold", "silver"), max_age=60)
    assert (await api.authenticate(request(token), demand)).acr == "silver"


async def test_challenge_cannot_be_broken_out_of(make_api: MakeApi) -> None:
    api = make_api(url='https://api.example.com/a"b\\c')
    challenge = (await refusal_of(api, "")).headers["WWW-Authenticate"]
    assert '/a\\"b\\\\c"' in challenge


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://api.example.com", "/.well-known/oauth-protected-resource"),
        ("https://api.example.com/", "/.well-known/oauth-protected-resource"),
        ("https://api.example.com/v1", "/.well-known/oauth-protected-resource/v1"),
    ],
)
def test_metadata_document_describes_the_api(make_api: MakeApi, url: str, path: str) -> None:
    api = make_api(url=url, algorithms=["ES256"])
    assert api.metadata_path == path
    assert api.metadata({"b", "a"}) == {
        "resource": url,
        "authorization_servers": ["https://login.example.com"],
        "bearer_methods_supported": ["header"],
        "dpop_signing_alg_values_supported": ["ES256"],
        "tls_client_certificate_bound_access_tokens": True,
        "scopes_supported": ["a", "b"],
    }
