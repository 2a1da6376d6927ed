"""However often a proof comes at once, at however many replicas, it counts once (RFC 9449 §11.1)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService

AT_ONCE = 200


@pytest.mark.rfc("9449#11.1")
async def test_one_of_many_requests_with_the_same_proof_gets_a_token(
    replicas: list[RunningService],
) -> None:
    headers = DpopKey(replicas[0].issuer).header()
    form: dict[str, Any] = {"grant_type": "client_credentials", "headers": headers}
    answers = await asyncio.gather(
        *(replicas[n % len(replicas)].token("machine", **form) for n in range(AT_ONCE))
    )
    counted = Counter(answer.refusal for answer in answers)
    assert counted == {(200, None): 1, (400, "invalid_dpop_proof"): AT_ONCE - 1}
