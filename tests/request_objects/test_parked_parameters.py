"""The parameters of a parked request are encrypted under an id that only the browser knows (RFC 9700 §4.7)."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from service.model.handle import digest
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9700#4.7")


async def everything_in(web: Sender) -> bytes:
    """All that the store holds about requests that wait."""
    kv = web.app.service.features.shared.kv
    values = [await kv.get(key) async for key in kv.find_keys("ts:*:pk")]
    assert values
    return b"".join(value or b"" for value in values)


async def test_nothing_of_a_parked_request_is_legible_in_the_store(web: Sender) -> None:
    page = await web.send(await web.signed(login_hint="alice@example.com"))
    (parked_id,) = parse_qs(urlsplit(page.url).query)["request"]
    stored = await everything_in(web)
    for told in ("alice@example", "the-state", "login_hint", "redirect_uri", parked_id):
        assert told.encode() not in stored


async def test_the_pages_know_the_parameters_of_a_parked_request(web: Sender) -> None:
    page = await web.send(await web.signed(login_hint="alice", ui_locales="de"))
    assert (page.element("username")["value"], page.lang) == ("alice", "de")


async def test_one_record_in_the_place_of_another_opens_nothing(web: Sender) -> None:
    features = web.app.service.features
    parking = features.parked_requests

    async def park(scope: str) -> str:
        params = Params({"scope": (scope,)})
        return await parking.park(params, browser="browser", address="192.0.2.7")

    first, other = await park("openid"), await park("api1")
    places = [digest(f"authorize {parked_id}") for parked_id in (first, other)]
    (record,) = await features.shared.kv.read(features.shared.stores.parked.read(places[0]))
    assert record is not None
    await features.shared.kv.write(features.shared.stores.parked.rewrite(record, places[1]))
    with pytest.raises(InvalidRequest):
        await parking.find(other, browser="browser")
    assert (await parking.find(first, browser="browser")).params.values == {"scope": ("openid",)}
