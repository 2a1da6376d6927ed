"""Workloads authenticate by JWT-SVIDs, with the keys of their trust domain's bundle (draft-ietf-oauth-spiffe-client-auth)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.clients import published_keys
from service.clients.workloads import keys as workload_keys
from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import key_of
from tests.conftest import Clock
from tests.driving.service import RunningService, claims_in
from tests.workloads.platform import BUNDLE, Platform, Workload, svid

REFUSED = (401, "invalid_client")


@pytest.fixture
def checkout(service: RunningService) -> Workload:
    return svid(service, "shop/checkout")


@pytest.mark.parametrize("kind", ["jwt-spiffe", "jwt-bearer"])
async def test_an_svid_authenticates_the_client_that_a_rule_names(
    checkout: Workload, kind: str
) -> None:
    answer = await replace(checkout, type=CLIENT_ASSERTION.replace("jwt-bearer", kind)).ask()
    assert claims_in(answer["access_token"])["client_id"] == "checkout"


@pytest.mark.parametrize("typ", ["JWT", "JOSE", None])
async def test_its_type_is_jwt_or_jose_or_missing(checkout: Workload, typ: str | None) -> None:
    header = {} if typ is None else {"typ": typ}
    assert (await checkout.ask_with(header=header)).status == 200


async def test_the_path_of_a_made_client_is_encoded(service: RunningService) -> None:
    token = (await svid(service, "ns/Shop/sa/cart_1").ask(scope="api1"))["access_token"]
    answer = await service.introspect(token)
    assert answer["client_id"] == "spiffe:ns%2F%53hop%2Fsa%2Fcart%5F1"


BAD = {
    "another trust domain": "spiffe://other.org/shop/checkout",
    "a longer trust domain": "spiffe://example.org.evil/shop/checkout",
    "upper case": "spiffe://EXAMPLE.ORG/shop/checkout",
    "no path": "spiffe://example.org",
    "a slash at the end": "spiffe://example.org/shop/checkout/",
    "an empty segment": "spiffe://example.org/ns//sa/x",
    "dots": "spiffe://example.org/ns/../sa/x",
    "encoded letters": "spiffe://example.org/ns/a%2Fb/sa/x",
    "a port": "spiffe://example.org:8443/shop/checkout",
    "a query": "spiffe://example.org/shop/checkout?x=1",
    "too many segments": "spiffe://example.org/ns/a/sa/b/c",
    "too long a path": "spiffe://example.org/ns/a/sa/" + "A" * 100,
}


@pytest.mark.parametrize("sub", BAD.values(), ids=BAD.keys())
@pytest.mark.usefixtures("one_store")
async def test_a_spiffe_id_is_refused_with(checkout: Workload, sub: str) -> None:
    assert (await checkout.ask_with(sub=sub)).refusal == REFUSED


async def test_an_iss_is_not_asked_for_and_not_looked_at(checkout: Workload) -> None:
    assert (await checkout.ask_with(iss="https://spire.example.org")).status == 200


async def test_an_assertion_that_a_client_made_for_itself_is_no_svid(checkout: Workload) -> None:
    assert (await checkout.ask_with(iss=checkout.claims["sub"])).refusal == REFUSED


async def test_only_keys_for_jwt_svids_count(platform: Platform, checkout: Workload) -> None:
    platform.use = "x509-svid"
    assert (await checkout.ask()).refusal == REFUSED


async def test_the_bundle_is_read_again_when_it_asks_for_it(
    platform: Platform, checkout: Workload, clock: Clock
) -> None:
    platform.refresh_hint = 1000
    assert (await checkout.ask()).status == 200
    clock.forward(seconds=published_keys.LIFETIME + 1)
    assert (await checkout.ask()).status == 200
    assert platform.asked == [BUNDLE]
    clock.forward(seconds=1000)
    assert (await checkout.ask()).status == 200
    assert platform.asked == [BUNDLE, BUNDLE]


@pytest.mark.parametrize(("hint", "seconds"), [(1, workload_keys.SHORTEST), (None, 300)])
async def test_the_bundle_is_not_read_more_often_than(
    platform: Platform, checkout: Workload, clock: Clock, hint: int | None, seconds: int
) -> None:
    platform.refresh_hint = hint
    assert (await checkout.ask()).status == 200
    clock.forward(seconds=seconds - 1)
    assert (await checkout.ask()).status == 200
    assert platform.asked == [BUNDLE]


async def test_an_older_bundle_does_not_replace_a_newer_one(
    platform: Platform, checkout: Workload, clock: Clock
) -> None:
    platform.sequence = 2
    assert (await checkout.ask()).status == 200
    platform.sequence, platform.keys = 1, [key_of("ES256", 1)]
    clock.forward(seconds=published_keys.LIFETIME + 1)
    assert (await checkout.ask_with(number=1)).refusal == REFUSED
    assert (await checkout.ask()).status == 200
    platform.sequence = 3
    clock.forward(seconds=published_keys.PAUSE + 1)
    assert (await checkout.ask_with(number=1)).status == 200
    assert (await checkout.ask()).refusal == REFUSED


async def test_keys_are_kept_while_the_endpoint_is_unavailable(
    platform: Platform, checkout: Workload, clock: Clock
) -> None:
    assert (await checkout.ask()).status == 200
    platform.is_away = True
    clock.forward(seconds=published_keys.LIFETIME + 1)
    assert (await checkout.ask()).status == 200


@pytest.mark.parametrize(
    "bundle", [{}, {"keys": {}}, {"keys": [], "spiffe_sequence": "1"}, {"keys": [1]}, []]
)
async def test_a_malformed_bundle_is_no_server_error(
    platform: Platform, checkout: Workload, bundle: Any
) -> None:
    platform.bundle = bundle
    assert (await checkout.ask()).refusal == REFUSED
