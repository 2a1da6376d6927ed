"""Jobs of CI systems authenticate by ID tokens, whose claims rules compare (RFC 7523 §3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import RunningService, claims_in
from tests.workloads.platform import job

REFUSED = (401, "invalid_client")
DEPLOY = {"sub": "repo:acme/deploy:ref:refs/tags/1", "repository": "acme/deploy", "protected": True}


async def test_a_job_is_the_client_of_the_first_rule_that_fits(service: RunningService) -> None:
    answer = await job(service, **DEPLOY).ask()
    assert claims_in(answer["access_token"])["client_id"] == "deployer"


async def test_a_client_is_made_of_the_whole_claim(service: RunningService) -> None:
    token = (await job(service).ask(scope="api1"))["access_token"]
    made = (await service.introspect(token))["client_id"]
    assert made == "ci.repo%3Aacme%2Fshop%3Aref%3Arefs%2Fheads%2Fmain"


OTHERS: dict[str, dict[str, Any]] = {
    "of another repository": {"repository": "acme/other"},
    "of a branch with a slash": {"sub": "repo:acme/shop:ref:refs/heads/feature/x"},
    "without a claim": {"attempt": None},
    "with a text for a number": {"attempt": "1"},
    "with a truth for a number": {"attempt": True},
    "with a number for a truth": {**DEPLOY, "protected": 1},
    "with a list for a text": {**DEPLOY, "repository": ["acme/deploy"]},
}


@pytest.mark.parametrize("claims", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.usefixtures("one_store")
async def test_no_rule_fits_a_job(service: RunningService, claims: dict[str, Any]) -> None:
    assert (await job(service, **claims).ask()).refusal == REFUSED
