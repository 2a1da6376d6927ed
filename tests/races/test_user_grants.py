"""However many polls or assertions come at once, at however many replicas, one gets the tokens (CIBA Core §11, RFC 7523 §3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.ciba.consumption import Device, answer, ciba_client
from tests.driving.browser import Browser
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry

AT_ONCE = 1000
ONE_WINNER = {(200, None): 1, (400, "invalid_grant"): AT_ONCE - 1}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    secrets = client_in(config, "web")["client_secrets"]
    config["trusted_issuers"] = [partner_entry()]
    config["clients"] += [
        ciba_client("till", secrets),
        presenter_entry("courier", hashed("courier")),
    ]
    return config


async def test_one_of_many_polls_of_an_approved_request_gets_the_tokens(
    replicas: list[RunningService],
) -> None:
    tills = [Device(service) for service in replicas]
    browser = Browser(replicas[0].issuer)
    auth_req_id = await tills[0].begin()
    await answer(browser, auth_req_id)
    await browser.close()
    polls = (tills[n % len(tills)].poll(auth_req_id) for n in range(AT_ONCE))
    assert Counter(each.refusal for each in await asyncio.gather(*polls)) == ONE_WINNER


@pytest.mark.rfc("7523#3")
async def test_one_of_many_uses_of_an_assertion_gets_a_token(
    replicas: list[RunningService],
) -> None:
    partner = Partner(replicas[0])
    partners = [replace(partner, service=service) for service in replicas]
    assertion = await partner.assertion()
    uses = (partners[n % len(partners)].present(assertion) for n in range(AT_ONCE))
    assert Counter(each.refusal for each in await asyncio.gather(*uses)) == ONE_WINNER
