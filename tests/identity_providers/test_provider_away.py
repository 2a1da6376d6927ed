"""A provider that is down or works badly costs a moment, and the other ways in stay open (RFC 9700 §2.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey

from service.events.providers import ProviderSignInFailed
from service.identity.providers import provider
from service.keys.jose import Key
from service.outgoing.http_client import MAX_BODY
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.identity_providers.fake_provider import JWKS, METADATA, TOKEN, USERINFO, FakeProvider
from tests.identity_providers.journey import ComeBack, arrived

Instead = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
def config(faked_config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    """Short of patience only with a provider that asks for it, because a busy machine answers late, too."""
    is_slow = any(kind in request.node.name for kind in ("hangs", "drips"))
    faked_config["identity_providers"][0]["claims"] = {"mail": "email"}
    faked_config["outgoing"] = {"timeout": "1s" if is_slow else "30s"}
    return faked_config


def answering(**response: Any) -> Instead:
    """Always the same answer."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(**response)

    return answer


async def hanging(_: web.Request) -> web.StreamResponse:
    """No answer."""
    await asyncio.sleep(2)
    return web.Response()


async def dripping(request: web.Request) -> web.StreamResponse:
    """An answer that does not end."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(20):
        await response.write(b" ")
        await asyncio.sleep(0.1)
    return response


async def huge(request: web.Request) -> web.StreamResponse:
    """An answer longer than is read, of no announced length."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(MAX_BODY // 65536 + 1):
        await response.write(b" " * 65536)
    return response


async def compressed(_: web.Request) -> web.StreamResponse:
    """An answer that grows."""
    response = web.Response(body=b"{}" * 1000)
    response.enable_compression(force=web.ContentCoding.gzip)
    return response


BROKEN: dict[str, Instead] = {
    "hangs": hanging,
    "drips": dripping,
    "floods": huge,
    "compresses": compressed,
    "fails": answering(status=500),
    "redirects": answering(status=302, headers={"Location": "http://localhost:1/"}),
    "says nothing": answering(status=200),
    "says no JSON": answering(text="<html>"),
    "says a list": answering(text="[]"),
    "says too deep a thing": answering(text='{"a":' * 100_000),
}


def causes(events: list[object]) -> list[str]:
    """The causes in the audit log."""
    return [event.cause for event in events if isinstance(event, ProviderSignInFailed)]


@pytest.mark.parametrize(
    ("path", "broken"),
    [(TOKEN, kind) for kind in BROKEN]
    + [(path, kind) for path in (METADATA, JWKS, USERINFO) for kind in ("hangs", "says a list")],
)
async def test_login_page_names_a_broken_provider_and_the_password_still_works(
    fake: FakeProvider, come_back: ComeBack, app: ClientApp, path: str, broken: str
) -> None:
    fake.instead[path] = BROKEN[broken]
    page = await come_back()
    assert page.text_of("login-error").startswith("Upstream ")
    assert arrived(await app.browser.log_in(page))


async def test_unreachable_provider_is_unavailable(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.instead[METADATA] = answering(status=503)
    page = await come_back()
    assert page.text_of("login-error").startswith("Upstream cannot be reached")
    assert causes(events) == ["its metadata or keys: status 503"]


async def test_unavailable_provider_is_named_on_the_login_page_without_a_client(
    fake: FakeProvider, browser: Browser
) -> None:
    fake.instead[METADATA] = answering(status=503)
    page = await browser.get("/account/provider?idp=upstream")
    assert (page.has("login-error"), page.has("username")) == (True, True)


BAD_METADATA = {
    "another issuer": {"issuer": "https://evil.example"},
    "no issuer": {"issuer": None},
    "no token endpoint": {"token_endpoint": None},
    "a file": {"jwks_uri": "file:///etc/passwd"},
    "a number": {"authorization_endpoint": 5},
    "a line break": {"authorization_endpoint": "http://127.0.0.1/\r\nSet-Cookie: evil=1"},
    "a control character": {"authorization_endpoint": "http://127.0.0.1/\x00"},
    "a port that is too high": {"authorization_endpoint": "http://127.0.0.1:65536/"},
    "no host": {"userinfo_endpoint": "http:///userinfo"},
    "no way to authenticate": {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
}


@pytest.mark.rfc("openid-discovery#4.3")
@pytest.mark.parametrize("metadata", BAD_METADATA.values(), ids=BAD_METADATA)
async def test_wrong_metadata_is_not_used(
    fake: FakeProvider, come_back: ComeBack, metadata: dict[str, Any]
) -> None:
    fake.metadata = metadata
    assert (await come_back()).text_of("login-error").startswith("Upstream cannot be reached")
    assert fake.forms == []


@pytest.mark.rfc("6749#2.3.1")
async def test_client_secret_is_sent_as_the_provider_supports_it(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert arrived(await come_back())
    assert fake.forms[0]["client_secret"] == "downstream-secret"


@pytest.mark.rfc("6749#5.2")
async def test_refused_code_ends_the_login(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.instead[TOKEN] = answering(status=400, text='{"error": "invalid_grant"}')
    assert (await come_back()).text_of("login-error").startswith("Upstream did not sign you in")
    assert causes(events) == ["its token endpoint: invalid_grant"]


async def test_error_of_a_provider_is_logged_only_if_it_looks_like_a_code(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.instead[TOKEN] = answering(status=400, text='{"error": "x\\nadmin signed in"}')
    await come_back()
    assert causes(events) == ["its token endpoint: an error without an ordinary code"]


@pytest.mark.rfc("openid-core#5.3.2")
async def test_userinfo_of_another_user_is_refused(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.userinfo = {"sub": "their-bob"}
    assert (await come_back()).has("login-error")
    assert causes(events) == ["its userinfo endpoint told of somebody else"]


async def test_userinfo_does_not_set_the_authentication_methods(
    fake: FakeProvider, come_back: ComeBack, app: ClientApp
) -> None:
    fake.userinfo = {"amr": ["hwk"], "auth_time": 1, "idp": "local", "mail": "a@b.example"}
    tokens = await app.redeem((await come_back()).parameters["code"])
    introspected = await app.service.introspect(tokens["access_token"])
    assert (introspected["amr"], introspected["idp"]) == (["external"], "upstream")
    assert (introspected["email"], introspected["auth_time"] > 1) == ("a@b.example", True)


async def test_provider_without_userinfo_gives_claims_by_its_id_token(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.metadata, fake.claims = {"userinfo_endpoint": None}, {"email": "a@b.example"}
    assert arrived(await come_back())
    assert USERINFO not in fake.asked


async def test_metadata_and_keys_are_fetched_once_an_hour(
    fake: FakeProvider, come_back: ComeBack, clock: Clock
) -> None:
    await come_back(prompt="login")
    await come_back(prompt="login")
    assert (fake.asked.count(METADATA), fake.asked.count(JWKS)) == (1, 1)
    clock.forward(minutes=61)
    await come_back(prompt="login")
    assert (fake.asked.count(METADATA), fake.asked.count(JWKS)) == (2, 2)


async def test_simultaneous_sign_ins_cause_one_fetch(fake: FakeProvider, app: ClientApp) -> None:
    urls = [app.url(acr_values="idp:upstream")] * 5
    await asyncio.gather(*[app.browser.get(url) for url in urls])
    assert fake.asked == [METADATA, JWKS]


async def test_known_metadata_is_used_while_the_provider_is_unavailable(
    fake: FakeProvider, come_back: ComeBack, clock: Clock
) -> None:
    await come_back(prompt="login")
    clock.forward(minutes=61)
    fake.instead[METADATA] = answering(status=503)
    assert arrived(await come_back(prompt="login"))


@pytest.mark.rfc("openid-core#10.1.1")
async def test_a_key_that_the_provider_changes_to_is_found_at_once(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    await come_back(prompt="login")
    fake.signer = Key.generate("RS256")
    fake.published[:] = [fake.signer.public_jwk]
    assert arrived(await come_back(prompt="login"))


async def test_unknown_keys_cause_a_fetch_only_now_and_then(
    fake: FakeProvider, come_back: ComeBack, clock: Clock
) -> None:
    fake.signer = Key.generate("ES256")
    for _ in range(3):
        assert (await come_back(prompt="login")).has("login-error")
    assert fake.asked.count(JWKS) == 2
    clock.forward(seconds=31)
    await come_back(prompt="login")
    assert fake.asked.count(JWKS) == 3


async def test_unknown_keys_cause_no_more_fetches_from_a_provider_that_fails(
    fake: FakeProvider, come_back: ComeBack, clock: Clock
) -> None:
    await come_back(prompt="login")
    fake.signer = Key.generate("ES256")
    fake.instead[METADATA] = BROKEN["fails"]
    before = fake.asked.count(METADATA)
    for _ in range(3):
        assert (await come_back(prompt="login")).has("login-error")
    assert fake.asked.count(METADATA) == before + 1
    del fake.instead[METADATA]
    fake.published[:] = [fake.signer.public_jwk]
    clock.forward(seconds=31)
    assert arrived(await come_back(prompt="login"))


async def test_a_provider_that_never_answered_is_asked_only_now_and_then(
    fake: FakeProvider, app: ClientApp, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "REST", 60)
    fake.instead[METADATA] = BROKEN["fails"]
    for _ in range(3):
        page = await app.authorize(acr_values="idp:upstream", prompt="login")
        assert page.text_of("login-error").startswith("Upstream ")
    assert fake.asked.count(METADATA) == 1
    clock.forward(seconds=61)
    await app.authorize(acr_values="idp:upstream", prompt="login")
    assert fake.asked.count(METADATA) == 2


def without_key_id(fake: FakeProvider) -> str:
    """A proper token whose header names no key."""
    key = ECKey.import_key(fake.signer.private_jwk)
    return jwt.encode({"alg": "ES256"}, fake.identity(), key)


@pytest.mark.rfc("openid-core#10.1")
@pytest.mark.parametrize(("another", "signs_in"), [("RS256", True), ("ES256", False)])
async def test_a_token_without_a_key_id_needs_a_single_key_that_fits(
    fake: FakeProvider, come_back: ComeBack, another: str, signs_in: bool
) -> None:
    fake.published.append(Key.generate(another).public_jwk)
    fake.forge = without_key_id
    assert arrived(await come_back()) is signs_in
