"""The common rules of device codes and auth_req_ids (RFC 8628 §3.5, CIBA Core §11), at the seam of both."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

import pytest

from service.clock import clock
from service.model.authorization import Authorization
from service.model.handle import Handle, new_selector
from service.model.polling import PolledPlace, PolledRequest
from service.protocol.errors import AlreadyAnswered, OAuthError
from service.protocol.params import Params
from service.tokens.granting import ContinuedGrant, TokenRequest
from service.tokens.polling import Polling, start
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8628#3.5")

SCOPE = frozenset({"api1"})
GRANT = "password"
"""The grant type of the requests here: one that the clients of the tests may use."""


@dataclass
class Device:
    """A client that polls."""

    service: RunningService
    handle: Handle
    request: PolledRequest

    @classmethod
    async def begin(cls, service: RunningService) -> Device:
        """A new request of `frontend`."""
        request = PolledRequest(
            client_id="frontend", grant_type=GRANT, scope=SCOPE, expires_at=clock() + 60
        )
        stores = service.features.shared.stores
        started = start(stores, request, "device_code")
        await stores.kv.write(*started.writes)
        return cls(service, started.handle, request)

    @property
    def polling(self) -> Polling:
        return self.service.features.polling

    @property
    def place(self) -> PolledPlace:
        return PolledPlace(self.handle.selector, self.handle.digest)

    async def poll(self, client_id: str = "frontend") -> str:
        """The error of a poll, or the subject that it is granted."""
        client = self.service.features.shared.registry.current.clients[client_id]
        request = TokenRequest(
            client=client,
            grant_type=GRANT,
            params=Params({}),
            scope=SCOPE,
            resources=(),
            authorization_details=(),
            now=clock(),
            cnf=None,
        )
        try:
            granted = await self.polling.poll(self.handle, request)
            await self._issue(request, granted)
        except OAuthError as error:
            return error.code
        return str(granted.authorization.subject)

    async def _issue(self, request: TokenRequest, granted: ContinuedGrant) -> None:
        await self.service.features.token_issuer.issue(request, granted, user_claims={})

    async def allow(self, subject: str = "818727") -> None:
        """The user allows it, outside of a session."""
        authorization = Authorization(
            id=new_selector(),
            client_id="frontend",
            scope=SCOPE,
            subject=subject,
            idp="local",
            grant_type=GRANT,
            created_at=clock(),
        )
        await self.polling.approve(self.place, self.request, authorization, since=clock())

    async def deny(self) -> None:
        await self.polling.deny(self.place, self.request)


@pytest.fixture
async def device(service: RunningService) -> Device:
    return await Device.begin(service)


async def test_a_code_waits_until_the_user_allows_and_works_once(device: Device) -> None:
    assert await device.poll() == "authorization_pending"
    await device.allow()
    assert [await device.poll(), await device.poll()] == ["818727", "invalid_grant"]


async def test_polls_of_another_client_find_nothing_and_do_not_slow_down_the_client(
    device: Device,
) -> None:
    assert [await device.poll("opaque") for _ in range(3)] == 3 * ["invalid_grant"]
    assert await device.poll() == "authorization_pending"
    assert await device.poll() == "slow_down"


async def test_of_several_decisions_the_first_one_counts(device: Device) -> None:
    answers = (
        answer
        for _ in range(10)
        for answer in (
            device.allow("818727"),
            device.deny(),
            device.allow("88421113"),
            device.deny(),
        )
    )
    outcomes = await asyncio.gather(*answers, return_exceptions=True)
    assert Counter(map(type, outcomes)) == {type(None): 1, AlreadyAnswered: 39}
    first = ("818727", "access_denied", "88421113", "access_denied")[outcomes.index(None) % 4]
    assert await device.poll() == first


async def test_a_code_that_is_redeemed_again_revokes_nothing(device: Device) -> None:
    await device.allow()
    decision = await device.polling.find_decision(device.place)
    assert decision is not None
    stores = device.polling.stores
    for expected in ("818727", "invalid_grant", "invalid_grant"):
        assert await device.poll() == expected
        (kept,) = await stores.kv.read(stores.authorizations.read(str(decision.authorization_id)))
        assert kept is not None


async def test_of_many_polls_of_an_approved_code_one_wins(device: Device) -> None:
    await device.allow()
    answers = await asyncio.gather(*[device.poll() for _ in range(100)])
    assert Counter(answers) == {"818727": 1, "invalid_grant": 99}


async def test_what_was_answered_is_not_shown_again(device: Device) -> None:
    assert await device.polling.find_pending(device.place) == device.request
    await device.deny()
    assert await device.polling.find_pending(device.place) is None
