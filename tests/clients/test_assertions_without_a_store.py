"""An assertion proves nothing while nobody can tell whether it has been used (RFC 7523 §3, RFC 9110 §15.6.4)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import SECRET, Signer
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7523#3", "9110#15.6.4")

Mortal = tuple[str, "subprocess.Popen[bytes]"]


@pytest.fixture
def config(config: dict[str, Any], mortal_redis: Mortal) -> dict[str, Any]:
    """A Redis that dies on the way."""
    config["store"] = {"url": mortal_redis[0]}
    client_in(config, "machine")["client_secrets"] = [{"value": SECRET}]
    return config


async def test_an_assertion_without_the_store_is_503(
    service: RunningService, mortal_redis: Mortal
) -> None:
    machine = Signer(service, "machine", "HS256")
    assert (await machine.ask()).status == 200
    mortal_redis[1].terminate()
    mortal_redis[1].wait(timeout=10)
    form: dict[str, Any] = {"client_assertion_type": CLIENT_ASSERTION, "token": "x"}
    for path in ("/connect/token", "/connect/introspect", "/connect/revocation"):
        answer = await service.post(path, client_assertion=await machine.assertion(), **form)
        assert answer.refusal == (503, "temporarily_unavailable")
        forged = await machine.assertion(number=1)
        answer = await service.post(path, client_assertion=forged, **form)
        assert answer.refusal == (401, "invalid_client")
