"""However many polls of an approved device code come at once, at however many replicas, one gets the tokens (RFC 8628 §3.5)."""

from __future__ import annotations

import asyncio
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8628#3.5")

AT_ONCE = 1000


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["clients"] += deepcopy(TELEVISIONS)
    return config


async def test_one_of_many_polls_of_an_approved_code_gets_the_tokens(
    replicas: list[RunningService],
) -> None:
    browser = Browser(replicas[0].issuer)
    tv = await Television.switch_on(replicas[0], browser)
    await tv.decide()
    await browser.close()
    sets = [replace(tv, service=service) for service in replicas]
    answers = await asyncio.gather(*(sets[n % len(sets)].poll() for n in range(AT_ONCE)))
    counted = Counter(answer.refusal for answer in answers)
    assert counted == {(200, None): 1, (400, "invalid_grant"): AT_ONCE - 1}


async def test_of_several_answers_of_users_one_counts(replicas: list[RunningService]) -> None:
    people = [Browser(replicas[n % len(replicas)].issuer) for n in range(8)]
    tv = await Television.switch_on(replicas[0], people[0])
    pages = [await replace(tv, browser=person).confirmation() for person in people]
    answers = zip(people, pages, ["allow", "deny"] * 4, strict=True)
    ends = await asyncio.gather(*(who.submit(page, action=how) for who, page, how in answers))
    for person in people:
        await person.close()
    (said,) = [page.text_of("device-done") for page in ends if page.has("device-done")]
    assert (await tv.poll()).status == (200 if "wasn’t given access" not in said else 400)
