"""Every refusal of the device authorization endpoint and of a poll (RFC 8628 §3.1, §3.2, §3.5)."""

from __future__ import annotations

from typing import Any

import pytest

from service.model.polling import DEVICE_CODE
from tests.conftest import Clock
from tests.device.tv import PATH, Television, ask_for_codes
from tests.driving.browser import Browser
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("8628#3.1", "8628#3.5")

DETAILS = '[{"type": "nobody-knows"}]'


@pytest.mark.usefixtures("one_store")
@pytest.mark.parametrize(
    ("client", "form", "refusal"),
    [
        ("box", {"scope": "api1 nonsense"}, (400, "invalid_scope")),
        ("box", {"scope": "email"}, (400, "invalid_scope")),
        ("box", {"scope": "offline_access"}, (400, "invalid_scope")),
        ("box", {"scope": ["api1", "api2"]}, (400, "invalid_request")),
        ("box", {"scope": "x" * 1001}, (400, "invalid_request")),
        ("box", {"scope": "api1", "resource": "nothing"}, (400, "invalid_target")),
        ("box", {"authorization_details": DETAILS}, (400, "invalid_authorization_details")),
        ("web", {"scope": "api1"}, (400, "unauthorized_client")),
        (("box", "wrong"), {"scope": "api1"}, (401, "invalid_client")),
        (None, {"scope": "api1"}, (401, "invalid_client")),
        (None, {"scope": "api1", "client_id": "nobody"}, (401, "invalid_client")),
    ],
    ids=str,
)
async def test_a_wrong_request_for_codes_is_refused(
    service: RunningService, client: Any, form: Any, refusal: tuple[int, str]
) -> None:
    assert (await service.post(PATH, auth=client, **form)).refusal == refusal


@pytest.mark.usefixtures("one_store")
async def test_the_endpoint_takes_forms_by_post_only(service: RunningService) -> None:
    got = await service.get(PATH)
    assert (got.status, got.headers["Allow"]) == (405, "POST")
    json = await service.post(PATH, raw="{}", headers={"Content-Type": "application/json"})
    assert json.refusal == (415, "invalid_request")


async def test_without_a_scope_a_device_gets_the_api_scopes_of_its_client(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser, scope=None)
    await tv.decide()
    assert (await tv.poll())["scope"] == "api1 api2"


async def test_a_device_may_ask_for_one_api_of_its_scope(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser, scope="api1 api2", resource=["api1", "api2"])
    await tv.decide()
    assert claims_in((await tv.poll(resource="api2"))["access_token"])["aud"] == "api2"


async def test_a_poll_without_a_code_or_with_none_of_ours_is_refused(tv: Television) -> None:
    assert (await tv.poll(device_code=None)).refusal == (400, "invalid_request")
    for code in ("nonsense", tv.codes["device_code"][:-1] + "_", tv.codes["user_code"]):
        assert (await tv.poll(device_code=code)).refusal == (400, "invalid_grant")
    assert (await tv.poll(device_code="d" * 257)).refusal == (400, "invalid_request")


async def test_a_poll_that_is_too_early_makes_the_interval_five_seconds_longer(
    tv: Television, clock: Clock
) -> None:
    seconds = [0, 1, 6, 20, 20]
    answers = []
    for pause in seconds:
        clock.forward(seconds=pause)
        answers.append((await tv.poll()).error)
    early, waits = "slow_down", "authorization_pending"
    # After the second poll the interval is 10, after the third 15.
    assert answers == [waits, early, early, waits, waits]


async def test_an_approved_code_is_granted_however_early_the_poll(tv: Television) -> None:
    assert [(await tv.poll()).error for _ in range(2)] == ["authorization_pending", "slow_down"]
    await tv.decide()
    assert (await tv.poll()).status == 200


async def test_a_code_that_has_expired_says_so_for_ten_minutes(
    tv: Television, clock: Clock
) -> None:
    clock.forward(seconds=601)
    assert (await tv.poll()).refusal == (400, "expired_token")
    clock.forward(seconds=590)
    assert (await tv.poll()).error == "expired_token"
    clock.forward(seconds=10)
    assert (await tv.poll()).refusal == (400, "invalid_grant")


async def test_an_approval_that_is_not_fetched_expires_with_its_code(
    tv: Television, clock: Clock
) -> None:
    await tv.decide()
    clock.forward(seconds=601)
    assert (await tv.poll()).error == "expired_token"


async def test_another_clients_poll_spends_nothing(
    service: RunningService, browser: Browser
) -> None:
    box = await Television.switch_on(service, browser, "box")
    await box.decide()
    assert [(await box.poll("box2")).refusal for _ in range(3)] == 3 * [(400, "invalid_grant")]
    assert (await box.poll()).status == 200


async def test_another_clients_poll_does_not_slow_down_the_client(
    service: RunningService, browser: Browser
) -> None:
    box = await Television.switch_on(service, browser, "box")
    assert [(await box.poll("box2")).error for _ in range(2)] == 2 * ["invalid_grant"]
    assert (await box.poll()).error == "authorization_pending"


async def test_a_used_code_is_refused_and_revokes_nothing(tv: Television) -> None:
    await tv.decide()
    token = (await tv.poll())["access_token"]
    for _ in range(2):
        assert (await tv.poll()).refusal == (400, "invalid_grant")
    assert await tv.service.is_active(token)


async def test_a_wrong_secret_leaves_an_approved_code_unspent(
    service: RunningService, browser: Browser
) -> None:
    box = await Television.switch_on(service, browser, "box")
    await box.decide()
    form = {"grant_type": DEVICE_CODE, "device_code": box.codes["device_code"]}
    assert (await service.token(("box", "wrong"), **form)).status == 401
    assert (await box.poll()).status == 200


async def test_a_logout_before_the_poll_takes_the_approval_back(tv: Television) -> None:
    await tv.decide()
    await tv.browser.submit(await tv.browser.get("/connect/endsession"))
    assert (await tv.poll()).refusal == (400, "invalid_grant")


@pytest.mark.rfc("9449#10")
class TestBoundCodes:
    """A proof that comes with the request for codes binds them to its key."""

    async def test_only_the_key_of_the_request_gets_the_tokens(
        self, service: RunningService, browser: Browser
    ) -> None:
        key, other = DpopKey(service.issuer), DpopKey(service.issuer)
        tv = await Television.switch_on(service, browser, headers=key.header(PATH))
        assert (await tv.poll(headers=other.header())).refusal == (400, "invalid_grant")
        await tv.decide()
        assert (await tv.poll()).refusal == (400, "invalid_dpop_proof")
        tokens = await tv.poll(headers=key.header())
        assert (tokens.status, tokens["token_type"]) == (200, "DPoP")
        assert claims_in(tokens["access_token"])["cnf"] == {"jkt": key.thumbprint}

    async def test_a_bad_proof_is_refused(self, service: RunningService) -> None:
        refused = await ask_for_codes(service, scope="api1", headers={"DPoP": "nonsense"})
        assert refused.refusal == (400, "invalid_dpop_proof")

    async def test_a_key_that_is_proved_first_at_the_poll_binds_the_tokens(
        self, tv: Television
    ) -> None:
        key = DpopKey(tv.service.issuer)
        await tv.decide()
        assert (await tv.poll(headers=key.header()))["token_type"] == "DPoP"


class TestWithoutLocalLogin:
    """The client's permissions are checked again when the user decides."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        client_in(config, "tv")["enable_local_login"] = False
        return config

    async def test_a_client_without_local_login_takes_no_password(self, tv: Television) -> None:
        page = await tv.enter()
        assert not page.has("password")
        assert page.has("cancel")
