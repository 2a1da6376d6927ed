"""The user is notified of a request: by a note to the webhook, or by a class of the operator's own."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.ciba import CibaMessageDelivered, CibaMessageFailed, CibaNotifierFailed
from tests.ciba import telling
from tests.ciba.consumption import REQUESTS, Device, Listener, answer, ref_of
from tests.ciba.test_ping import nothing_waits
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.contents import CONTENTS
from tests.driving.service import RunningService, claims_in, header_of

pytestmark = [pytest.mark.rfc("ciba#7.3"), pytest.mark.usefixtures("one_store")]


@pytest.fixture
async def told(start: Start, config: dict[str, Any], party: Listener) -> Device:
    """A client of a service with a webhook."""
    config["ciba"] = {"webhook": party.url}
    return Device(await start(config))


async def test_the_webhook_gets_a_signed_note(told: Device, party: Listener) -> None:
    auth_req_id = await told.begin(binding_message="W4SCT")
    note = (await party.wait())[0].decode()
    assert party.headers[0]["Content-Type"] == "application/jwt"
    assert header_of(note)["typ"] == "ciba-request+jwt"
    claims = claims_in(note)
    assert claims.pop("exp") - claims.pop("iat") in range(118, 121)
    assert claims.pop("jti")
    assert claims == {
        "iss": told.service.issuer,
        "aud": party.url,
        "auth_req_ref": ref_of(auth_req_id),
        "sub": "818727",
        "client_id": "till",
        "scope": "api1 openid",
        "binding_message": "W4SCT",
    }
    assert auth_req_id not in note


async def test_the_note_is_signed_by_a_published_key(told: Device, party: Listener) -> None:
    await told.begin()
    kid = header_of((await party.wait())[0].decode())["kid"]
    keys = (await told.service.get("/.well-known/jwks.json"))["keys"]
    assert kid in {key["kid"] for key in keys}


async def test_the_name_in_the_note_leads_to_the_page_and_polls_for_nothing(
    told: Device, party: Listener
) -> None:
    await told.begin()
    ref = claims_in((await party.wait())[0].decode())["auth_req_ref"]
    assert (await told.poll(ref)).refusal == (400, "invalid_grant")
    browser = Browser(told.service.issuer)
    page = await browser.log_in(await browser.get(f"{REQUESTS}/{ref}"))
    await browser.close()
    assert page.has("request-allow")


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
async def test_answer_to_a_note_is_a_success_whatever_its_content(
    told: Device, party: Listener, content: tuple[bytes, dict[str, str]]
) -> None:
    party.status, party.content = 200, content
    await told.begin()
    await party.wait()
    await nothing_waits(told.service)
    assert any(isinstance(event, CibaMessageDelivered) for event in told.service.events)


async def test_a_webhook_that_refuses_holds_nothing_up(told: Device, party: Listener) -> None:
    party.status = 400
    assert (await told.ask()).status == 200
    await nothing_waits(told.service)
    (failed,) = [one for one in told.service.events if isinstance(one, CibaMessageFailed)]
    assert (failed.kind, failed.cause) == ("webhook", "status 400")


async def test_no_note_is_sent_of_a_request_that_is_over(
    told: Device, party: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.outbox.queue.PAUSES", (1, 1, 1, 1))
    party.status = 503
    auth_req_id = await told.begin()
    await party.wait()
    browser = Browser(told.service.issuer)
    await answer(browser, auth_req_id)
    await browser.close()
    await nothing_waits(told.service)
    assert len(party.bodies) <= 2


async def started(start: Start, config: dict[str, Any], name: str) -> RunningService:
    config["ciba"] = {"notifier": f"tests.ciba.telling:{name}"}
    return await start(config)


async def test_a_notifier_of_ones_own_is_told_everything_but_the_id(
    start: Start, config: dict[str, Any]
) -> None:
    telling.NOTICES.clear()
    service = await started(start, config, "Keeping")
    auth_req_id = await Device(service).begin(binding_message="W4SCT")
    (notice,) = telling.NOTICES
    assert (notice.subject, notice.client_id, notice.client_name) == ("818727", "till", "Till 7")
    assert notice.binding_message == "W4SCT"
    assert notice.uri == f"{service.issuer}{REQUESTS}/{notice.auth_req_ref}"
    assert auth_req_id not in repr(notice)


async def test_a_notifier_that_fails_does_not_fail_the_request(
    start: Start, config: dict[str, Any]
) -> None:
    service = await started(start, config, "Failing")
    assert (await Device(service).ask()).status == 200
    (failed,) = [one for one in service.events if isinstance(one, CibaNotifierFailed)]
    assert failed.cause.startswith("RuntimeError (telling.py:")  # its message may name a person
