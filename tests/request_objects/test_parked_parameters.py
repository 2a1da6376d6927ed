"""The parameters of a parked request are encrypted under an id that only the browser knows (RFC 9700 §4.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from msgspec.structs import replace

from service.keys.sealing import Unreadable, open_by_id, seal_as_before, seal_by_id
from service.model.handle import digest
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9700#4.7")

Seal = Callable[[bytes, str, bytes], str]


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


async def test_nothing_of_a_pushed_request_is_legible_in_the_store(web: Sender) -> None:
    form: dict[str, Any] = web.app.parameters(login_hint="alice@example.com")
    pushed = await web.app.service.post("/connect/par", auth="web", **form)
    assert pushed.status == 201
    stored = await everything_in(web)
    for told in ("alice@example", "the-state", "login_hint", pushed["request_uri"][-26:]):
        assert told.encode() not in stored


@pytest.mark.parametrize("seal", [seal_by_id, seal_as_before])
def test_both_forms_of_what_is_sealed_are_opened_by_their_id_alone(seal: Seal) -> None:
    sealed = seal(b"content", "the id", b"purpose")
    assert open_by_id(sealed, "the id", b"purpose") == b"content"
    wrong = (
        (sealed, "another id", b"purpose"),
        (sealed, "the id", b"another purpose"),
        (sealed[:-8] + "AAAAAAAA", "the id", b"purpose"),
        (sealed[:8], "the id", b"purpose"),
        (sealed[:1], "the id", b"purpose"),
        (sealed + "é", "the id", b"purpose"),
    )
    for changed, record_id, purpose in wrong:
        with pytest.raises(Unreadable):
            open_by_id(changed, record_id, purpose)


async def test_a_parked_request_in_the_form_of_the_next_release_is_read(web: Sender) -> None:
    features = web.app.service.features
    stores, parking = features.shared.stores, features.parked_requests
    params = Params({"scope": ("openid",)})
    parked_id = await parking.park(params, browser="browser", address="192.0.2.7")
    place = digest(f"authorize {parked_id}")
    (record,) = await features.shared.kv.read(stores.parked.read(place))
    assert record is not None
    assert record.sealed.startswith("gAAAAA")  # as 0.2.0 reads it
    content = open_by_id(record.sealed, parked_id, b"parameters")
    later = replace(record, sealed=seal_by_id(content, parked_id, b"parameters"))
    await features.shared.kv.write(stores.parked.rewrite(later, place))
    assert (await parking.find(parked_id, browser="browser")).params == params
