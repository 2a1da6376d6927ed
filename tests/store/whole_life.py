"""A service whose every record is short-lived, and all that people and clients do with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

from service.clock import clock
from service.identity.sources.last_seen import LastSeen
from service.keys.sealing import Seal
from service.model.factors import Factors
from service.model.password_hash import USUAL
from service.model.user import User
from service.store import verbs
from tests.account.account_page import revoke
from tests.admin.console.conftest import Operator
from tests.ciba.consumption import NOTIFICATION_TOKEN, Device, answer, ciba_client, open_request
from tests.clients.signing import SECRET, Signer
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registering import RegisteredApp
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.factors.keyring import enrol, remove, use
from tests.factors.phone import ALICE, Phone
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import provider_entry
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.request_objects.sending import Sender, jwks
from tests.token_exchange.exchanging import EXCHANGE, exchange
from tests.webhooks.receiver import SECRET as WEBHOOK_SECRET

CONSTANTS = {
    "service.identity.provider_accounts.REMEMBERED": 2,
    "service.admin.console.operators.IDLE_SECONDS": 2,
    "service.authorize.answer.REPLAY_WINDOW": 1,
    "service.grants.authorization_code.REPLAY_WINDOW": 1,
    "service.tokens.refresh_token.SPENT_FOR": 1,
    "service.tokens.liveness.SKEW": 0,
    "service.tokens.polling.REPLAY_WINDOW": 1,
    "service.authorize.parking.LIFETIME": 2,
    "service.authorize.user_codes.WINDOW": 1,
    "service.authorize.user_codes.MINUTE": 1,
    "service.identity.providers.sign_in.LIFETIME": 2,
    "service.identity.sign_in.LIFETIME": 2,
    "service.identity.provider_sessions.REMEMBERED": 1,
    "service.identity.factors.passkey_challenges.LIFETIME": 2,
    "service.identity.access.YEAR": 2,
    "service.identity.refusal_costs.LIFETIME": 2,
    "service.identity.sign_in.FRESH": 2,
    "service.identity.sessions.DELIVERY_LIFETIME": 3,
    "service.store.stores.DELIVERY_LIFETIME": 3,
    "service.store.stores.CIBA_DEAD": 2,
    "service.store.stores.EVENT_LIFETIME": 4,
    "service.webhooks.queueing.EVENT_LIFETIME": 4,
    "service.webhooks.sending.GIVEN_UP_AFTER": 1,
    "service.webhooks.sending.PAUSES": (1,),
    "service.clients.secret_uses.KEPT": 3,
    "service.clients.registered_list.COMPLETE_FOR": 3,
    "service.store.rate_limit.MINUTE": 1,
    "service.store.room.DAY": 2,
    "service.outbox.queue.PAUSES": (1,),
    "service.ciba.messages.LINGERS": 1,
}
"""Lifetimes that no configuration changes, in seconds."""

CLIENT = {
    "access_token_lifetime": "2s",
    "authorization_code_lifetime": "1s",
    "device_code_lifetime": "2s",
    "identity_token_lifetime": "2s",
    "absolute_refresh_token_lifetime": "4s",
    "sliding_refresh_token_lifetime": "3s",
}
NOBODY = "http://127.0.0.1:9"
"""Where nobody listens: the client that is to be told of logouts there is dead."""


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the service's own lifetimes be seconds."""
    for name, value in CONSTANTS.items():
        monkeypatch.setattr(name, value)
    for script in ("INDEX_ADD", "INDEX_ADD_IF", "INDEX_KEEP"):
        text: str = getattr(verbs, script)
        monkeypatch.setattr(verbs, script, text.replace(f"+ {verbs.LINGERS})", "+ 1)"))


def short_lived(config: dict[str, Any], fake: FakeProvider) -> dict[str, Any]:
    """A configuration in which nothing lasts for more than four seconds."""
    config["clients"] += deepcopy(TELEVISIONS)
    for client in config["clients"]:
        client.update(CLIENT, pushed_authorization_lifetime="1s")
    client_in(config, "web").update(
        jwks=jwks(), backchannel_logout_uri=f"{NOBODY}/told", refresh_token_reuse_interval="1s"
    )
    client_in(config, "consenting")["consent_lifetime"] = "2s"
    usual = client_in(config, "machine")
    config["clients"].append(
        usual | {"client_id": "by-secret", "client_secrets": [{"value": SECRET}]}
    )
    config["identity_providers"] = [provider_entry(fake.issuer)]
    config["trusted_issuers"] = [partner_entry(max_lifetime="4s")]
    config["clients"].append(presenter_entry("courier", hashed("courier"), **CLIENT))
    config["admin"] = {"url": "http://127.0.0.1:0", "writers": [{"sub": [ALICE]}]}
    config["session"] = {"lifetime": "3s", "max_lifetime": "4s"}
    config["limits"] = {
        "login_window": "1s",
        "lockout": "1s",
        "login_failures": 2,
        "token_requests_per_minute": 1000,
    }
    config["registration"] = {"enabled": True, "client_lifetime": "3s", "allowed_scopes": ["api1"]}
    config["server"] = {"clock_skew": "0s"}
    config["dpop"] = {"proof_lifetime": "3s"}
    client_in(config, "web")["allowed_grant_types"].append(EXCHANGE)
    config["token_exchange"] = [
        {
            "clients": ["web"],
            "subject_token_types": ["access_token", "refresh_token", "id_token"],
            "subject_audience": ["api1"],
            "requested_token_types": ["access_token", "jwt", "refresh_token", "id_token"],
            "scopes": ["openid", "api2"],
            "audiences": ["api2"],
        }
    ]
    config["events"] = {
        "webhooks": [{"url": NOBODY, "secrets": [WEBHOOK_SECRET], "kinds": ["session_*"]}]
    }
    config["outgoing"] = {"allowed_networks": ["127.0.0.0/8"]}
    config["ciba"] = {"expires_in": "4s", "max_expiry": "4s", "interval": "1s", "webhook": NOBODY}
    ping = {"backchannel_client_notification_endpoint": f"{NOBODY}/told"}
    ping |= {"backchannel_token_delivery_mode": "ping"}
    secrets = client_in(config, "web")["client_secrets"]
    config["clients"].append(ciba_client("till", secrets, **ping, **CLIENT))
    return config


Doing = Callable[[RunningService, Browser, FakeProvider], Awaitable[None]]


async def code_with_refresh(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A code, rotations, a repeat, a reuse, userinfo, a logout that reaches nobody."""
    app = ClientApp(service, browser)
    first = await app.tokens(scope="openid api1 offline_access")
    second = await app.refresh(first["refresh_token"])
    await app.refresh(first["refresh_token"])
    assert (await app.refresh(second["refresh_token"])).status == 200
    code = await app.code(prompt="none")
    assert (await app.redeem(code)).status == 200
    assert (await app.redeem(code)).error == "invalid_grant"
    await browser.submit(await browser.get("/connect/endsession"))


async def tokens_of_the_front_channel(
    service: RunningService, browser: Browser, _: FakeProvider
) -> None:
    """A hybrid answer in a session that is remembered."""
    app = ClientApp(service, browser, "implicit")
    page = await app.authorize(response_type="code id_token token")
    page = await browser.log_in(page, "bob", remember="1")
    assert "access_token" in page.parameters


async def consent(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """One that is remembered, used and taken back, and one that is never answered."""
    app = ClientApp(service, browser, "consenting")
    page = await app.authorize()
    page = await browser.log_in(page) if page.has("login") else page
    page = await browser.submit(page, action="allow", remember="1")
    assert "code" in page.parameters
    assert "code" in (await app.authorize(prompt="none")).parameters
    await revoke(browser, "consenting")
    await app.authorize(prompt="consent")


async def tokens_by_password(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """Reference tokens and JWTs, delegated and revoked; and for a client itself."""
    for client in ("opaque", "frontend"):
        token = (await service.user_token(client, scope="api1 offline_access"))["access_token"]
        await service.token("api1", grant_type="delegation", token=token, scope="api2")
        await service.post("/connect/revocation", auth=client, token=token)
    await service.token("robot", grant_type="client_credentials", scope="api1")


async def failed_logins(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """So many that nobody may go on."""
    for _attempt in range(3):
        answer = await service.token(
            "frontend", grant_type="password", username="carol", password="wrong", scope="api1"
        )
        assert answer.status == 400


async def assertions(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """A client that signs, twice with the same."""
    signer = Signer(service, "by-secret", "HS256")
    signed = await signer.assertion(exp=timedelta(seconds=3))
    assert (await signer.ask(signed)).status == 200
    assert (await signer.ask(signed)).error == "invalid_client"


async def foreign_assertions(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """An assertion of another issuer, twice, and a token by it that is revoked."""
    partner = Partner(service)
    signed = await partner.assertion(exp=timedelta(seconds=3))
    token = (await partner.present(signed))["access_token"]
    assert (await partner.present(signed)).error == "invalid_grant"
    await service.post("/connect/revocation", auth="courier", token=token)


async def proofs(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A request that is pushed with a proof of a key, and a proof that comes twice."""
    app, key = ClientApp(service, browser), DpopKey(service.issuer)
    form: dict[str, Any] = app.parameters()
    pushed = await service.post(
        "/connect/par", auth="web", headers=key.header("/connect/par"), **form
    )
    assert pushed.status == 201
    form = {"grant_type": "client_credentials", "headers": key.header()}
    assert (await service.token("machine", **form)).status == 200
    assert (await service.token("machine", **form)).error == "invalid_dpop_proof"


async def registration(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A client that registers itself, changes, and is forgotten; and one that deletes itself."""
    app = await RegisteredApp.register(service, browser, scope="api1")
    assert (await app.change(client_name="Mine")).status == 200
    other = await RegisteredApp.register(service, browser)
    assert (await other.manage("DELETE")).status == 204


async def provider_sign_in(service: RunningService, browser: Browser, fake: FakeProvider) -> None:
    """Away to a provider, and back; and a logout there."""
    browser.forget_cookies()
    sent = await ClientApp(service, browser).authorize(acr_values="idp:upstream")
    assert sent.url.startswith(fake.issuer)
    assert "code" in (await browser.get(fake.answer(sent))).parameters
    assert (await fake.log_out(service, exp=clock() + 2)).status == 200


async def request_object(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A signed request that waits for a person who goes away."""
    browser.forget_cookies()
    sender = Sender(ClientApp(service, browser))
    assert (await sender.send(await sender.signed())).has("login")


async def second_factor(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A sign-in that lacks a factor, a wrong code, a right one, and the end of the factor."""
    browser.forget_cookies()
    phone = Phone()
    await phone.enrol(service)
    half = await ClientApp(service, browser).login()
    assert (await browser.submit(half, otp=phone.wrong_code())).has("login-error")
    assert "code" in (await browser.submit(half, otp=phone.code())).parameters
    await service.features.shared.factors.change(ALICE, lambda _: Factors())


async def passkey(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A passkey that is asked for in vain, one that signs in, and the end of it."""
    browser.forget_cookies()
    mine = await enrol(service)
    await ClientApp(service, browser).authorize()
    assert (
        "code"
        in (await use(browser, await ClientApp(service, browser).authorize(), mine)).parameters
    )
    await remove(service, mine)


async def device(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A device that is allowed, and one for whose code somebody guesses."""
    allowed = await Television.switch_on(service, browser, scope="api1 offline_access")
    await allowed.decide()
    assert (await allowed.poll()).status == 200
    waiting = await Television.switch_on(service, browser)
    assert (await waiting.enter("BBBB-BBBB")).has("device-error")
    assert (await waiting.poll()).error == "authorization_pending"


async def exchanges(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """Tokens exchanged for tokens of every type, and a refresh token of an exchange that is used."""
    app = ClientApp(service, browser)
    for of_type in ("access_token", "refresh_token", "id_token"):
        for wanted in ("access_token", "jwt", "refresh_token", "id_token"):
            # New ones each time: all exchanges together may take longer than tokens last here.
            own = await app.tokens(scope="openid api1 offline_access")
            answer = await exchange(
                service, own[of_type], "web", of_type=of_type, requested_token_type=wanted
            )
            assert answer.status == 200, answer.json
            if wanted == "refresh_token":
                assert (await app.refresh(answer["access_token"])).status == 200


async def ciba(service: RunningService, browser: Browser, _: FakeProvider) -> None:
    """A request that is allowed, one that is denied, and one that nobody answers; nobody takes their messages."""
    browser.forget_cookies()
    device, token = Device(service), {"client_notification_token": NOTIFICATION_TOKEN}
    await open_request(browser, await device.begin(**token))  # which signs in
    allowed = await device.begin(**token)
    await answer(browser, allowed)
    assert (await device.poll(allowed)).status == 200
    denied = await device.begin(**token)
    await answer(browser, denied, "deny")
    assert (await device.poll(denied)).error == "access_denied"


async def console(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """An operator who goes away."""
    operator = Operator(service)
    assert (await operator.enter()).status == 200
    await operator.close()


async def users_of_another_system(service: RunningService, _: Browser, __: FakeProvider) -> None:
    """A user remembered for the time in which another system is unavailable, and the cost of a slow hash."""
    local, slow = service.features.local_sign_in, USUAL.write_decoy().replace("t=2", "t=4")
    local.passwords.learn_costs([User(sub="5", username="eve", password=slow)])
    await local.costs.share()
    shared = service.features.shared
    seen = LastSeen(stores=shared.stores, seal=Seal(()), grace=2)
    await seen.note(ALICE, await service.features.shared.users.by_subject(ALICE))


EVERYTHING: tuple[Doing, ...] = (
    code_with_refresh,
    tokens_of_the_front_channel,
    consent,
    tokens_by_password,
    failed_logins,
    assertions,
    foreign_assertions,
    proofs,
    registration,
    provider_sign_in,
    request_object,
    passkey,
    second_factor,
    console,
    users_of_another_system,
    exchanges,
    ciba,
    device,
)
