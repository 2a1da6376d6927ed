"""Each endpoint limits what one network can store unauthenticated, as docs/security/storage-limits.md lists it.

Limits are a tenth of their defaults here, and requests a tenth of a thousand: what is left after them is a tenth, too.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from service.clock import clock
from service.model.polling import DEVICE_CODE
from service.protocol.token_types import CLIENT_ASSERTION
from service.store import rate_limit
from service.store.room import OVERHEAD
from tests.clients.signing import Signer, key_of
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.listening import listening
from tests.driving.registering import RegisteredApp, register
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import Answer, RunningService
from tests.identity_providers.fake_provider import BACKCHANNEL_LOGOUT, FakeProvider
from tests.identity_providers.journey import provider_entry

REQUESTS = 100
TENTH = 10
DETAILS = '[{"type":"any","more":"' + "x" * 8_000 + '"}]'
PAGE = Path(__file__).parents[2] / "docs" / "security" / "storage-limits.md"
ROW = re.compile(
    r"^\| `(?P<endpoint>[^`]+)`[^|]*\|[^|]*\|[^|]*\| (?P<keys>[\d,]+) \| (?P<kb>[\d,]+) \|"
)


@cache
def bounds() -> dict[str, tuple[int, int]]:
    """By endpoint: the keys, and the bytes, that one network can have stored by 1,000 requests in a minute."""
    rows = filter(None, map(ROW.match, PAGE.read_text().splitlines()))
    return {
        row["endpoint"]: (
            int(row["keys"].replace(",", "")),
            int(row["kb"].replace(",", "")) * 1000,
        )
        for row in rows
    }


@pytest.fixture
async def fake() -> AsyncIterator[FakeProvider]:
    """A provider of the operator's."""
    provider = FakeProvider()
    async with listening(provider.handle) as provider.issuer:
        yield provider


@pytest.fixture
def config(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All that strangers may use is on; the minute does not end. Four registrations are those of the fixture."""
    now = clock()
    monkeypatch.setattr(rate_limit, "clock", lambda: now // 60 * 60)
    monkeypatch.setattr("service.app.OPEN_PER_MINUTE", 60 // TENTH + 4)
    monkeypatch.setattr("service.clients.documents.PER_NETWORK", 20 // TENTH)
    config = fresh_configuration()
    config["limits"] = {
        "login_failures": 1,
        "parked_requests_per_minute": 600 // TENTH,
        "registrations_per_day": 1000 // TENTH,
        "parked_bytes": 64 * 2**20 // TENTH,
        "registered_bytes": 128 * 2**20 // TENTH,
    }
    scopes = ["openid", "api1", "offline_access"]
    config["registration"] = {"enabled": True, "allowed_scopes": scopes}
    config["client_id_metadata"] = {"enabled": True, "allowed_scopes": scopes}
    config["pairwise_salt"] = "salt-of-sixteen-or-more"
    config["identity_providers"] = [provider_entry(fake.issuer)]
    config["authorization_details_types"] = [
        {"type": "any", "api_resource": "api1", "schema": {"type": "object"}}
    ]
    config["mfa"] = {"webauthn": {"rp_id": "localhost"}}
    client_in(config, "spa")["allowed_grant_types"] += [DEVICE_CODE]
    return config


@dataclass
class Stranger:
    """Sends requests from one address, and begins each time as somebody else."""

    service: RunningService
    browser: Browser
    app: ClientApp
    spa: ClientApp
    clients: dict[str, RegisteredApp]
    key: DpopKey

    @property
    def spa_request(self) -> dict[str, Any]:
        """An authorization request of a public client."""
        return dict(self.spa.parameters(state="s" * 7_000))

    async def get(self, path: str, **parameters: Any) -> Answer:
        return await self.service.get(f"{path}?{urlencode(parameters)}")

    async def of(self, name: str, path: str, **form: Any) -> Answer:
        """A form of a client that registered itself."""
        client = self.clients[name]
        secret = client.registered["client_secret"]
        return await self.service.post(path, auth=(client.client_id, secret), **form)


@pytest.fixture
async def stranger(service: RunningService, browser: Browser) -> Stranger:
    """With clients that are registered already."""
    es256 = key_of("ES256")
    clients: dict[str, dict[str, Any]] = {
        "device": {"grant_types": [DEVICE_CODE], "authorization_details_types": ["any"]},
        "code": {"authorization_details_types": ["any"]},
        "itself": {"grant_types": ["client_credentials"], "subject_type": "pairwise"},
        "signing": {
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": {"keys": [es256.public_jwk]},
        },
    }
    app = ClientApp(service, browser)
    registered = {
        name: await RegisteredApp.register(service, browser, **metadata)
        for name, metadata in clients.items()
    }
    spa = ClientApp(service, browser, "spa")
    return Stranger(service, browser, app, spa, registered, DpopKey(service.issuer))


Send = Callable[[Stranger, int], Awaitable[object]]


async def sign_in_at_provider(stranger: Stranger, _: int) -> object:
    stranger.browser.forget_cookies()
    return await stranger.app.authorize(acr_values="idp:upstream")


async def log_in(stranger: Stranger, number: int) -> object:
    stranger.browser.forget_cookies()
    page = await stranger.app.authorize()
    return await stranger.browser.log_in(page, f"somebody-{number}") if page.has("login") else page


async def enter_user_code(stranger: Stranger, _: int) -> object:
    stranger.browser.forget_cookies()
    page = await stranger.browser.get("/device")
    return await stranger.browser.submit(page, user_code="BBBB-BBBB")


async def sign_assertion(stranger: Stranger, number: int) -> Answer:
    client_id = stranger.clients["signing"].client_id
    signer = Signer(stranger.service, client_id, "ES256")
    assertion = await key_of("ES256").sign(signer.claims(jti=f"{number}"), typ="JWT")
    return await stranger.service.post(
        "/connect/token",
        grant_type="client_credentials",
        client_assertion_type=CLIENT_ASSERTION,
        client_assertion=assertion,
        scope="nothing",
    )


async def prove_key(stranger: Stranger, _: int) -> Answer:
    proof = {"DPoP": stranger.key.proof()}
    form = {"grant_type": "authorization_code", "code": "x", "client_id": "spa"}
    return await stranger.service.post("/connect/token", headers=proof, **form)


def garbage(path: str, **form: Any) -> Send:
    return lambda stranger, number: stranger.service.post(path, **form, token=f"{number}")


SENT: dict[str, Send] = {
    "/connect/authorize": lambda stranger, _: stranger.get(
        "/connect/authorize", **stranger.app.parameters(state="s" * 6_000)
    ),
    "/connect/authorize, then a provider": sign_in_at_provider,
    "/connect/endsession": lambda stranger, _: stranger.service.post(
        "/connect/endsession", state="s" * 6_000
    ),
    "/connect/par, a public client": lambda stranger, _: stranger.service.post(
        "/connect/par", **stranger.spa_request
    ),
    "/connect/par, a client that registered itself": lambda stranger, _: stranger.of(
        "code",
        "/connect/par",
        **stranger.clients["code"].parameters(state="s" * 7_000),
        authorization_details=DETAILS,
    ),
    "/connect/deviceauthorization, a public client": lambda stranger, _: stranger.service.post(
        "/connect/deviceauthorization", client_id="spa", scope="openid"
    ),
    "/connect/deviceauthorization, a client that registered itself": lambda stranger, _: (
        stranger.of("device", "/connect/deviceauthorization", authorization_details=DETAILS)
    ),
    "/connect/register": lambda stranger, number: register(
        stranger.service,
        redirect_uris=[f"https://a{number}-{n}.example/{'x' * 1_900}" for n in range(7)],
    ),
    "/connect/token, a client assertion": sign_assertion,
    "/connect/token, a DPoP proof": prove_key,
    "/connect/token, a client for itself": lambda stranger, _: stranger.of(
        "itself", "/connect/token", grant_type="client_credentials", scope="api1"
    ),
    "/connect/token, nothing that is right": garbage("/connect/token", client_id="web"),
    "/account/login": log_in,
    "/account/provider/callback": lambda stranger, number: stranger.get(
        "/account/provider/callback", state=f"{number}", code="x"
    ),
    "/device": enter_user_code,
    "/connect/idp/{name}/backchannel_logout": garbage(BACKCHANNEL_LOGOUT, logout_token="x.y.z"),
    "/connect/authorize, a metadata document": lambda stranger, number: stranger.get(
        "/connect/authorize", client_id=f"https://a{number}.invalid/client.json"
    ),
    "/connect/introspect": garbage("/connect/introspect"),
    "/connect/revocation": garbage("/connect/revocation", client_id="spa"),
    "/connect/global-token-revocation": garbage("/connect/global-token-revocation"),
    "/connect/userinfo": garbage("/connect/userinfo", access_token="x"),
}


def test_the_page_lists_each_endpoint_with_its_bound() -> None:
    assert set(bounds()) == set(SENT)


@pytest.mark.parametrize("endpoint", SENT)
async def test_what_one_network_stores_is_within_its_bound(
    stranger: Stranger, endpoint: str
) -> None:
    before = await measure(stranger.service)
    answers = [await SENT[endpoint](stranger, number) for number in range(REQUESTS)]
    statuses = Counter(getattr(answer, "status", None) for answer in answers)
    keys, size = (
        after - other for after, other in zip(await measure(stranger.service), before, strict=True)
    )
    most_keys, most_bytes = bounds()[endpoint]
    assert keys * TENTH <= most_keys, statuses
    assert size * TENTH <= most_bytes, statuses
    assert bool(keys) == bool(most_keys), statuses
    assert 500 not in statuses


COUNTED = [
    endpoint for endpoint in SENT if endpoint.startswith(("/connect/par", "/connect/device"))
]
COUNTED += ["/connect/authorize", "/connect/endsession"]
COUNTED += [f"/connect/token, {what}" for what in ("a client assertion", "a DPoP proof")]
COUNTED += ["/connect/token, a client for itself"]


@pytest.mark.parametrize("endpoint", COUNTED)
async def test_network_at_its_limit_stores_nothing_more(stranger: Stranger, endpoint: str) -> None:
    room = stranger.service.features.shared.room
    assert room.parked.per_minute is not None
    await room.parked.count_network("127.0.0.1", room.parked.per_minute)
    before = await measure(stranger.service)
    answer = await SENT[endpoint](stranger, 0)
    assert isinstance(answer, Answer)
    assert answer.status == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert await measure(stranger.service) == before


async def measure(service: RunningService) -> tuple[int, int]:
    """The number of keys, and about how many bytes they take."""
    kv = service.features.shared.kv
    keys = [key async for key in kv.find_keys("ts:*")]
    sizes = await asyncio.gather(*[size_of(service, key) for key in keys])
    return len(keys), sum(sizes)


async def size_of(service: RunningService, key: str) -> int:
    kv = service.features.shared.kv
    (kind,) = await kv.write(("TYPE", key))
    if kind == b"zset":
        (members,) = await kv.write(("ZCARD", key))
        return OVERHEAD + len(key) + 100 * int(members)
    return OVERHEAD + len(key) + len(await kv.get(key) or b"")
