"""However often an assertion comes at once, at however many replicas, it counts once (RFC 7523 §3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.clients.signing import Signer, key_of
from tests.driving.registry import client_in
from tests.driving.service import RunningService

AT_ONCE = 200


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "machine").update(
        client_secrets=[],
        jwks={"keys": [key_of("ES256").public_jwk]},
        token_endpoint_auth_method="private_key_jwt",
    )
    return config


@pytest.mark.rfc("7523#3", "7521#4.2.1")
async def test_one_of_many_requests_with_the_same_assertion_gets_a_token(
    replicas: list[RunningService],
) -> None:
    signer = Signer(replicas[0], "machine", "ES256")
    assertion = await signer.assertion()
    answers = await asyncio.gather(
        *(
            replace(signer, service=replicas[n % len(replicas)]).ask(assertion, scope="api1")
            for n in range(AT_ONCE)
        )
    )
    counted = Counter(answer.refusal for answer in answers)
    assert counted == {(200, None): 1, (401, "invalid_client"): AT_ONCE - 1}
