"""The keys of a platform: written into the file, or read from a server with an authority of its own (RFC 7517 §5)."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.certificate import certified
from tests.driving.listening import listening
from tests.workloads.platform import Platform, pod

pytestmark = [pytest.mark.rfc("7523#3", "7517#5"), pytest.mark.usefixtures("one_store")]


async def test_keys_in_the_file_need_no_request(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    cluster = config["workload_issuers"][0]
    del cluster["token_file"]
    cluster["jwks"] = {"keys": [key.public_jwk for key in platform.keys]}
    checkout = pod(await start(config), platform, "shop", "checkout")
    assert (await checkout.ask()).status == 200
    assert (await checkout.ask_with(number=1)).refusal == (401, "invalid_client")  # another key
    assert platform.asked == []


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "unknown"])
async def test_an_authority_of_the_platform_counts_where_it_is_named(
    start: Start, config: dict[str, Any], tmp_path: Path, is_named: bool
) -> None:
    platform, file = Platform(), certified(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    async with listening(platform.serve, tls=context) as platform.origin:
        authority = {"ca_file": str(file)} if is_named else {}
        config["workload_issuers"][0] |= {"issuer": platform.origin} | authority
        answer = await pod(await start(config), platform, "shop", "checkout").ask()
    assert answer.status == (200 if is_named else 401)
    assert bool(platform.asked) is is_named
