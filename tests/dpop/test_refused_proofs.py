"""A proof is compared by what it means, and counts once (RFC 9449 §4.3); the table of refusals has what is wrong in one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9449#4.3")


async def test_two_proofs_are_refused(service: RunningService, key: DpopKey) -> None:
    body = "grant_type=client_credentials&client_id=machine&client_secret=machine-secret"
    headers = [("DPoP", key.proof()), ("DPoP", key.proof())]
    content = ("Content-Type", "application/x-www-form-urlencoded")
    answer = await service.request("POST", "/connect/token", data=body, headers=[*headers, content])
    assert answer.refusal == (400, "invalid_dpop_proof")
    assert answer["error_description"] == "the request has more than one DPoP header"


async def test_a_client_that_sends_no_proof_is_told_so(service: RunningService) -> None:
    answer = await service.token("robot", grant_type="client_credentials")
    assert answer.refusal == (400, "invalid_dpop_proof")
    assert answer["error_description"] == "the request has no DPoP header"


@pytest.mark.parametrize("length", [1, 256])
async def test_a_jti_may_have_1_to_256_characters(
    service: RunningService, key: DpopKey, length: int
) -> None:
    headers = key.header(jti="j" * length)
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.status == 200


async def test_a_proof_counts_once(service: RunningService, key: DpopKey) -> None:
    headers = key.header()
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    assert (await service.token("machine", **form)).status == 200
    assert (await service.token("machine", **form)).refusal == (400, "invalid_dpop_proof")


@pytest.mark.rfc("9449#11.1")
async def test_a_used_proof_is_refused_by_a_replica_whose_clock_is_behind(
    service: RunningService, key: DpopKey, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = key.header(iat=int(time.time()) + 30)
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    assert (await service.token("machine", **form)).status == 200
    clock.forward(seconds=30 + 60 + 30 + 3)  # skew, lifetime, skew
    monkeypatch.setattr("service.clients.proofs.clock", lambda: int(time.time()) - 5)
    again = await service.token("machine", **form)
    assert again["error_description"] == "the DPoP proof has been used before"


async def test_right_proof_is_consumed_whatever_follows(
    service: RunningService, key: DpopKey
) -> None:
    headers = key.header()
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    refused = await service.token("machine", scope="unknown", **form)
    assert refused.refusal == (400, "invalid_scope")
    assert (await service.token("machine", **form)).refusal == (400, "invalid_dpop_proof")


async def test_another_key_may_use_the_same_jti(service: RunningService, key: DpopKey) -> None:
    for each in (key, DpopKey(service.issuer)):
        headers = each.header(jti="the-same")
        answer = await service.token("machine", grant_type="client_credentials", headers=headers)
        assert answer.status == 200


@pytest.mark.parametrize(
    "spell",
    [
        lambda url: url + "?query=1#fragment",
        lambda url: url.replace("http", "HTTP"),
        lambda url: url.replace("localhost", "LocalHost"),
        lambda url: url.replace("token", "%74oken"),
        lambda url: url.replace("/connect", "/other/../connect"),
    ],
    ids=["query and fragment", "scheme", "host", "escaped", "dots"],
)
@pytest.mark.rfc("3986#6.2.2")
async def test_htu_is_compared_by_what_it_means(
    service: RunningService, key: DpopKey, spell: Callable[[str], str]
) -> None:
    headers = key.header(htu=spell(f"{service.issuer}/connect/token"))
    answer = await service.token("machine", grant_type="client_credentials", headers=headers)
    assert answer.status == 200
