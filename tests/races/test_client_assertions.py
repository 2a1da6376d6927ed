"""However often an assertion comes at once, at however many replicas, it counts once (RFC 7523 §3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.clients.signing import Signer, key_of
from tests.conftest import Start
from tests.driving.registry import client_in

AT_ONCE = 200


@pytest.mark.rfc("7523#3", "7521#4.2.1")
async def test_one_of_many_requests_with_the_same_assertion_gets_a_token(
    start: Start, config: dict[str, Any], store_url: str
) -> None:
    client_in(config, "machine").update(
        client_secrets=[],
        jwks={"keys": [key_of("ES256").public_jwk]},
        token_endpoint_auth_method="private_key_jwt",
    )
    number = 1 if store_url.startswith("memory") else 3
    replicas = [await start(config) for _ in range(number)]
    signer = Signer(replicas[0], "machine", "ES256")
    assertion = await signer.assertion()
    answers = await asyncio.gather(
        *(
            replace(signer, service=replicas[n % number]).ask(assertion, scope="api1")
            for n in range(AT_ONCE)
        )
    )
    counted = Counter(answer.refusal for answer in answers)
    assert counted == {(200, None): 1, (401, "invalid_client"): AT_ONCE - 1}
