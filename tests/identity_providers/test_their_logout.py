"""A logout at the provider ends the sessions that came from there (OpenID Connect Back-Channel Logout §2.5-2.8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from service.events.providers import ProviderLogoutReceived, ProviderLogoutRefused
from service.events.users import SessionEnded
from service.keys.jose import Key
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.identity_providers.fake_provider import (
    BACKCHANNEL_LOGOUT,
    EVENT,
    METADATA,
    TOKEN,
    FakeProvider,
)
from tests.identity_providers.journey import ComeBack, arrived
from tests.identity_providers.test_provider_away import answering
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("openid-backchannel#2.6")


@pytest.fixture
def config(faked_config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    client_in(faked_config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return faked_config


async def is_signed_in(app: ClientApp) -> bool:
    """Whether the browser's session counts."""
    return "code" in (await app.authorize(prompt="none")).parameters


@pytest.mark.rfc("openid-backchannel#2.7", "openid-backchannel#2.8")
@pytest.mark.parametrize("named", [{"sid": None}, {"sub": None}, {}], ids=["sub", "sid", "both"])
async def test_session_tokens_and_clients_end_with_the_session_at_the_provider(  # noqa: PLR0917 - fixtures
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    party: RelyingParty,
    events: list[object],
    named: dict[str, None],
) -> None:
    fake.claims = {"sid": "theirs"}
    code = (await come_back(scope="openid api1")).parameters["code"]
    tokens = await app.redeem(code)
    answer = await fake.log_out(app.service, **({"sid": "theirs"} | named))
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-store")
    assert not await is_signed_in(app)
    assert not await app.service.is_active(tokens["access_token"])
    (told,) = await party.claims()
    assert told["sid"] == claims_in(tokens["id_token"])["sid"]
    assert ProviderLogoutReceived(provider="upstream", sessions=1) in events


async def test_tokens_for_offline_access_live_on(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    page = await come_back(scope="openid api1 offline_access")
    tokens = await app.redeem(page.parameters["code"])
    await fake.log_out(app.service)
    assert (await app.refresh(tokens["refresh_token"])).status == 200


OTHERS = {
    "another user": {"sub": "their-bob"},
    "another session": {"sid": "another"},
    "their session, another user": {"sid": "theirs", "sub": "their-bob"},
}


@pytest.mark.parametrize("named", OTHERS.values(), ids=OTHERS)
async def test_logout_of_others_ends_nothing(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, named: dict[str, str]
) -> None:
    fake.claims = {"sid": "theirs"}
    await come_back()
    assert (await fake.log_out(app.service, **named)).status == 200
    assert await is_signed_in(app)


async def test_logout_ends_no_session_of_another_provider_or_of_a_password(
    app: ClientApp, fake: FakeProvider
) -> None:
    await app.login()
    await fake.log_out(app.service, sub="818727")
    assert await is_signed_in(app)


async def test_session_is_that_of_the_last_sign_in(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider
) -> None:
    for sid in ("first", "second"):
        fake.claims = {"sid": sid}
        await come_back(prompt="login")
    await fake.log_out(app.service, sid="first", sub=None)
    assert await is_signed_in(app)
    await fake.log_out(app.service, sid="second", sub=None)
    assert not await is_signed_in(app)


async def forged(fake: FakeProvider) -> str:
    """A token that somebody else signed under the provider's key id."""
    fake.signer = Key("the-same", "ES256", Key.generate("ES256").material)
    fake.published[:] = [fake.published[0] | {"kid": "the-same"}]
    return await fake.logout_token()


async def unsigned(fake: FakeProvider) -> str:
    """A token with alg none."""
    _, claims, _ = (await fake.logout_token()).split(".")
    return f"eyJhbGciOiJub25lIn0.{claims}."


def changed(**changes: Any) -> Callable[[FakeProvider], Awaitable[str]]:
    return lambda fake: fake.logout_token(**changes)


BAD = {
    "forged": (forged, "its signature does not verify"),
    "unsigned": (unsigned, "its alg is not one of "),
    "no JWT": (lambda _: asyncio.sleep(0, "x"), "it is too long, or does not have three parts"),
    "of another issuer": (changed(iss="https://evil.example"), "another issuer made it"),
    "for another client": (changed(aud=["else"]), "it is for another client"),
    "for nobody": (changed(aud=None), "it is for another client"),
    "expired": (changed(exp=1), "it has expired"),
    "without an end": (changed(exp=None), "iat or exp is missing"),
    "of no time": (changed(iat=None), "iat or exp is missing"),
    "of the future": (changed(iat=9999999999, exp=9999999999), "it was issued in the future"),
    "of no end that is a time": (changed(exp=1e300), "its claim exp is not a time"),
    "of long ago": (changed(iat=1_700_000_000, exp=9999999999), "it was issued too long ago"),
    "an ID token": (changed(events=None), "its events do not have that of a back-channel logout"),
    "of another event": (changed(events={"x": {}}), "its events do not have"),
    "of no event object": (changed(events={EVENT: True}), "its events do not have"),
    "of a list of events": (changed(events=[EVENT]), "its events do not have"),
    "with a nonce": (changed(nonce="n"), "it has a nonce, as ID tokens have"),
    "about nobody": (changed(sub=None), "it names neither a user nor a session"),
    "about a number": (changed(sub=7), "sub is not a text"),
    "about too long a session": (changed(sid="s" * 256), "sid is not a text"),
    "without jti": (changed(jti=None), "jti is not a text"),
    "an access token": (changed(typ="at+jwt"), "its typ is not "),
}


@pytest.mark.rfc("8725#3.1", "8725#3.11", "openid-backchannel#2.8")
@pytest.mark.parametrize(("make", "cause"), BAD.values(), ids=BAD)
async def test_bad_logout_token_is_refused_and_ends_nothing(  # noqa: PLR0917 - fixtures
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    events: list[object],
    make: Callable[[FakeProvider], Awaitable[str]],
    cause: str,
) -> None:
    await come_back()
    answer = await app.service.post(BACKCHANNEL_LOGOUT, logout_token=await make(fake))
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"].startswith(f"the logout token: {cause}")
    (refused,) = [event for event in events if isinstance(event, ProviderLogoutRefused)]
    assert refused.cause.startswith(cause)
    assert await is_signed_in(app)


async def test_types_that_providers_use_are_accepted(app: ClientApp, fake: FakeProvider) -> None:
    for typ in ("JWT", "logout+jwt", "application/logout+jwt"):
        assert (await fake.log_out(app.service, typ=typ)).status == 200


async def test_requests_without_a_token_or_provider_are_refused(service: RunningService) -> None:
    assert (await service.post(BACKCHANNEL_LOGOUT)).refusal == (400, "invalid_request")
    unknown = BACKCHANNEL_LOGOUT.replace("upstream", "nobody")
    assert (await service.post(unknown, logout_token="x")).refusal == (400, "invalid_request")
    assert (await service.get(BACKCHANNEL_LOGOUT)).status == 405


async def test_token_that_cannot_be_verified_now_can_come_again(
    app: ClientApp, fake: FakeProvider, clock: Clock
) -> None:
    fake.instead[METADATA] = answering(status=503)
    token = await fake.logout_token()
    answer = await app.service.post(BACKCHANNEL_LOGOUT, logout_token=token)
    assert answer.refusal == (503, "temporarily_unavailable")
    clock.forward(seconds=2)
    del fake.instead[METADATA]
    assert (await app.service.post(BACKCHANNEL_LOGOUT, logout_token=token)).status == 200


async def test_replayed_logout_token_does_not_end_a_later_session(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, clock: Any
) -> None:
    await come_back()
    token = await fake.logout_token()
    assert (await app.service.post(BACKCHANNEL_LOGOUT, logout_token=token)).status == 200
    clock.forward(seconds=5)
    assert arrived(await come_back())
    replay = await app.service.post(BACKCHANNEL_LOGOUT, logout_token=token)
    assert replay["error_description"] == "the logout token: it has been used before"
    assert await is_signed_in(app)


async def test_logout_token_with_a_distant_end_is_remembered_for_a_day(
    app: ClientApp, fake: FakeProvider
) -> None:
    assert (await fake.log_out(app.service, exp=4_000_000_000)).status == 200
    kv = app.service.features.shared.kv
    ends = [await kv.write(("TTL", key)) async for key in kv.find_keys("ts:*:ja")]
    assert len(ends) == 1
    assert 0 < ends[0][0] <= 86400 + 60


@pytest.mark.parametrize("named", [{"sid": "theirs"}, {"sid": None}], ids=["sid", "sub"])
async def test_sign_in_that_is_on_its_way_ends_with_the_session_at_the_provider(
    app: ClientApp,
    come_back: ComeBack,
    fake: FakeProvider,
    events: list[object],
    named: dict[str, Any],
) -> None:
    fake.claims = {"sid": "theirs", "auth_time": timedelta(0)}

    async def token_and_logout(request: web.Request) -> web.Response:
        answer = await fake.token(request)
        assert (await fake.log_out(app.service, **named)).status == 200
        return answer

    fake.instead[TOKEN] = token_and_logout
    page = await come_back()
    assert (page.status, page.error) == (400, "invalid_request")
    assert page.text_of("error-description") == "the identity provider has ended this sign-in"
    assert not await is_signed_in(app)
    assert sum(isinstance(event, SessionEnded) for event in events) == 1


async def test_user_can_sign_in_again_after_the_logout(
    app: ClientApp, come_back: ComeBack, fake: FakeProvider, clock: Any
) -> None:
    fake.claims = {"sid": "first", "auth_time": timedelta(0)}
    await come_back()
    await fake.log_out(app.service)
    clock.forward(seconds=2)
    fake.claims["sid"] = "second"
    assert arrived(await come_back())
    assert await is_signed_in(app)
