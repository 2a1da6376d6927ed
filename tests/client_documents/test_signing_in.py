"""A client whose client_id is the URL of its metadata document gets tokens (draft-ietf-oauth-client-id-metadata-document-02)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from service.events.clients import ClientDocumentFetched
from service.keys.jose import Key
from tests.client_documents.conftest import LOOPBACK, DocumentApp, Site
from tests.conftest import Clock, Start
from tests.driving.browser import Browser
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("client-id-metadata-document#3", "client-id-metadata-document#5")

SCOPE = "openid api1 offline_access"


async def test_it_gets_tokens_and_is_fetched_once(
    agent: DocumentApp, site: Site, events: list[object]
) -> None:
    tokens = await agent.tokens(scope=SCOPE)
    introspected = await agent.service.introspect(tokens["access_token"])
    assert introspected["client_id"] == agent.client_id
    refreshed = await agent.refresh(tokens["refresh_token"])
    assert refreshed.status == 200, refreshed.json
    assert refreshed.json["refresh_token"] != tokens["refresh_token"]  # a public client's rotates
    assert site.fetched == ["/client.json"]
    assert ClientDocumentFetched(client_id=agent.client_id) in events


@pytest.mark.profile("agents_need_no_operator")
async def test_discovery_says_so(service: RunningService) -> None:
    document = (await service.get("/.well-known/oauth-authorization-server")).json
    assert document["client_id_metadata_document_supported"] is True
    assert "none" in document["token_endpoint_auth_methods_supported"]
    assert "offline_access" in document["scopes_supported"]


async def test_it_proves_itself_by_a_key_of_its_document(
    service: RunningService, browser: Browser, site: Site
) -> None:
    key = Key.generate("ES256")
    jwks = {"keys": [dict(key.public_jwk)]}
    url = site.publish(token_endpoint_auth_method="private_key_jwt", jwks=jwks)
    client = DocumentApp(service, browser, url)
    code = await client.code()
    assert (await client.redeem(code)).refusal == (401, "invalid_client")
    claims = {
        "iss": url,
        "sub": url,
        "aud": service.issuer,
        "jti": "1",
        "exp": int(time.time()) + 60,
    }
    assertion = await key.sign(claims, typ="JWT")
    answer = await client.redeem(
        await client.code(),
        client_assertion=assertion,
        client_assertion_type="urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    )
    assert answer.status == 200, answer.json


async def test_the_consent_is_asked_for_each_time_and_shows_the_host(
    agent: DocumentApp, site: Site
) -> None:
    for _ in range(2):
        page = await agent.login()
        assert site.place in page.text_of("stranger")
        assert not page.has("remember")
        await agent.browser.submit(page, action="allow")
    assert (await agent.authorize(prompt="none")).error == "consent_required"


async def test_an_application_on_the_device_does_not_prove_the_host(
    service: RunningService, browser: Browser, site: Site
) -> None:
    url = site.publish(redirect_uris=[LOOPBACK])
    page = await DocumentApp(service, browser, url, uri="http://127.0.0.1:7/callback").login()
    assert page.text_of("stranger").startswith(
        f"An application on this device says it is {site.place}."
    )
    assert "127.0.0.1" in page.text_of("answer-host")


async def test_dynamically_registered_client_shows_no_logo(
    service: RunningService, browser: Browser, site: Site
) -> None:
    """The browser of the user would fetch it, and anybody could look like anybody (§8.8, §9.2)."""
    url = site.publish(logo_uri=f"{site.base}/logo.png", **{"logo_uri#de": f"{site.base}/de.png"})
    page = await DocumentApp(service, browser, url).login()
    assert page.has("stranger")
    assert ".png" not in page.text
    assert site.place not in page.headers["Content-Security-Policy"]


async def test_members_for_other_servers_are_ignored(
    service: RunningService, browser: Browser, site: Site
) -> None:
    url = site.publish(
        scope="api1 read:elsewhere",
        grant_types=["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
        backchannel_logout_uri="nonsense",
        vendor_extension={"a": 1},
    )
    client = DocumentApp(service, browser, url)
    assert (await client.tokens(scope="api1"))["scope"] == "api1"
    assert (await client.authorize(scope="openid")).error == "invalid_scope"


@pytest.mark.parametrize(
    "form",
    [
        {"grant_type": "client_credentials"},
        {"grant_type": "password", "username": "alice", "password": "alice-password"},
    ],
    ids=lambda form: form["grant_type"],
)
async def test_nothing_but_a_code_brings_a_token(agent: DocumentApp, form: dict[str, str]) -> None:
    answer = await agent.service.token(None, client_id=agent.client_id, **form)
    assert answer.refusal == (400, "unauthorized_client")


async def test_it_is_no_client_for_devices(agent: DocumentApp) -> None:
    answer = await agent.service.post("/connect/deviceauthorization", client_id=agent.client_id)
    assert answer.refusal == (400, "unauthorized_client")


async def test_a_code_needs_pkce_with_a_key_too(
    service: RunningService, browser: Browser, site: Site
) -> None:
    jwks = {"keys": [dict(Key.generate("ES256").public_jwk)]}
    url = site.publish(token_endpoint_auth_method="private_key_jwt", jwks=jwks)
    page = await DocumentApp(service, browser, url).authorize(code_challenge=None)
    assert page.error == "invalid_request"


async def test_a_person_can_take_back_the_access(agent: DocumentApp, browser: Browser) -> None:
    tokens = await agent.tokens(scope=SCOPE)
    account = await browser.get(f"{agent.service.issuer}/account")
    assert f'data-client="{agent.client_id}"' in account.text
    await browser.submit(account, action="revoke", client_id=agent.client_id)
    assert not await agent.service.is_active(tokens["access_token"])


async def test_it_revokes_its_token_and_comes_back_from_logout(
    service: RunningService, browser: Browser, site: Site
) -> None:
    bye = f"{site.base}/bye"
    client = DocumentApp(service, browser, site.publish(post_logout_redirect_uris=[bye]))
    tokens = await client.tokens(scope=SCOPE)
    answer = await service.post(
        "/connect/revocation", client_id=client.client_id, token=tokens["access_token"]
    )
    assert answer.status == 200
    assert not await service.is_active(tokens["access_token"])
    page = await browser.get(
        f"{service.issuer}/connect/endsession?id_token_hint={tokens['id_token']}"
        f"&post_logout_redirect_uri={bye}"
    )
    assert page.url == bye or bye in page.text


async def test_scripts_of_its_pages_may_call_the_service(agent: DocumentApp, site: Site) -> None:
    await agent.authorize()
    preflight = {"Origin": site.base, "Access-Control-Request-Method": "POST"}
    answer = await agent.service.request("OPTIONS", "/connect/token", headers=preflight)
    assert answer.headers["Access-Control-Allow-Origin"] == site.base


async def test_a_changed_document_counts_after_its_time(
    clock: Clock, agent: DocumentApp, site: Site
) -> None:
    assert (await agent.authorize()).has("login")
    site.publish(redirect_uris=[f"{site.base}/other"])
    assert (await agent.authorize()).has("login")
    clock.forward(hours=1)
    assert (await agent.authorize()).error == "invalid_request"
    assert len(site.fetched) == 2


@pytest.mark.parametrize(
    ("headers", "minutes"),
    [
        ({"Cache-Control": "max-age=600"}, 10),
        ({"Cache-Control": "max-age=3600", "Age": "3000"}, 10),
        ({"Cache-Control": "no-store"}, 5),
        ({"Cache-Control": "max-age=99999"}, 60),
        ({"Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 08:59:37 GMT"}, 10),
        ({"Expires": "0"}, 5),
        ({"Cache-Control": "max-age=600", "Expires": "0"}, 10),
    ],
    ids=str,
)
async def test_the_headers_of_the_document_count_within_limits(
    clock: Clock, agent: DocumentApp, site: Site, headers: dict[str, str], minutes: int
) -> None:
    site.headers = headers
    await agent.authorize()
    clock.forward(minutes=minutes - 1)
    await agent.authorize()
    assert len(site.fetched) == 1
    clock.forward(minutes=1)
    await agent.authorize()
    assert len(site.fetched) == 2


async def test_requests_that_come_together_share_a_fetch(agent: DocumentApp, site: Site) -> None:
    asked = [agent.service.get(agent.url().removeprefix(agent.service.issuer)) for _ in range(10)]
    assert {answer.status for answer in await asyncio.gather(*asked)} == {303}
    assert site.fetched == ["/client.json"]


async def test_an_entry_of_the_registry_needs_no_document(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    url = f"{site.base}/registered.json"
    entry: dict[str, Any] = {"client_id": url, "redirect_uris": ["https://other.example/callback"]}
    site.publish("/registered.json")
    entry |= {"require_client_secret": False, "allowed_scopes": ["api1"]}
    config["clients"].append(entry)
    service = await start(config)
    browser = Browser(service.issuer)
    client = DocumentApp(service, browser, url, uri="https://other.example/callback")
    page = await client.login(scope="api1")
    assert page.parameters["code"]
    assert not (await DocumentApp(service, browser, url).authorize()).has("login")
    assert site.fetched == []
    await browser.close()


async def test_a_disabled_entry_of_the_registry_blocks_a_document(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    config["clients"].append(
        {
            "client_id": site.publish(),
            "enabled": False,
            "require_client_secret": False,
            "redirect_uris": [f"{site.base}/callback"],
        }
    )
    service = await start(config)
    answer = await service.token(None, client_id=site.publish(), grant_type="client_credentials")
    assert answer.refusal == (401, "invalid_client")
    assert site.fetched == []
