"""Attacks with URLs as client_ids (draft-ietf-oauth-client-id-metadata-document-02 §8, RFC 7591 §5)."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import force_setattr

from service.clients.documents import AT_ONCE, PER_NETWORK
from service.events.clients import ClientDocumentRefused
from tests.client_documents.conftest import LOOPBACK, DocumentApp, Site
from tests.conftest import Clock, Start
from tests.driving.browser import Browser, Page
from tests.driving.service import Answer, RunningService

pytestmark = [
    pytest.mark.rfc("client-id-metadata-document#8", "7591#5"),
    pytest.mark.usefixtures("one_store"),
]

NOT_URLS = {
    "http": "http://{place}/client.json",
    "no path": "https://{place}",
    "a fragment": "https://{place}/client.json#a",
    "a query": "https://{place}/client.json?a=1",
    "an empty query": "https://{place}/client.json?",
    "user information": "https://a@{place}/client.json",
    "a dot segment": "https://{place}/a/../client.json",
    "an encoded dot segment": "https://{place}/%2e%2E/client.json",
    "a backslash": "https://{place}\\client.json",
    "capitals": "HTTPS://{place}/client.json",
    "a line break": "https://{place}/client.json\n",
    "too long": "https://{place}/" + "a" * 256,
    "another host": "https://other.example/client.json",
    "another port": "https://127.0.0.1/client.json",
    "a name of this machine": "https://localhost/client.json",
}
INSIDE = {
    "loopback": "127.0.0.1",
    "a short address": "127.1",
    "a number": "2130706433",
    "hexadecimal": "0x7f000001",
    "octal": "0177.0.0.1",
    "IPv6": "[::1]",
    "IPv6 with IPv4": "[::ffff:127.0.0.1]",
    "a name": "localhost",
    "the cloud's metadata": "169.254.169.254",
    "this network": "0.0.0.0",  # noqa: S104 - a client_id
    "a private network": "10.0.0.1",
}


def authorize(service: RunningService, client_id: str) -> Any:
    """GET /connect/authorize, as a program."""
    return service.get(
        f"/connect/authorize?response_type=code&client_id={quote(client_id, safe='')}"
    )


async def test_what_is_no_such_url_is_not_fetched(service: RunningService, site: Site) -> None:
    site.publish()
    for spelling in NOT_URLS.values():
        client_id = spelling.format(place=site.place)
        assert (await authorize(service, client_id)).status == 400, spelling
        answer = await service.token(None, client_id=client_id, grant_type="authorization_code")
        assert answer.status in {400, 401}, spelling
    assert site.fetched == []


async def test_no_address_inside_is_reached(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    port = site.place.partition(":")[2]
    config["client_id_metadata"]["allowed_hosts"] = [f"{host}:{port}" for host in INSIDE.values()]
    config["outgoing"]["allowed_networks"] = []
    service = await start(config)
    for host in INSIDE.values():
        answer = await authorize(service, f"https://{host}:{port}/client.json")
        assert answer.status == 503, host
    assert site.fetched == []


async def test_without_a_list_of_hosts_only_port_443_is_asked(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    config["client_id_metadata"]["allowed_hosts"] = []
    service = await start(config)
    assert (await authorize(service, site.publish())).status == 400
    assert site.fetched == []


async def test_urls_are_unknown_clients_where_it_is_off(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    del config["client_id_metadata"]
    service = await start(config)
    assert (await authorize(service, site.publish())).status == 400
    document = (await service.get("/.well-known/openid-configuration")).json
    assert "client_id_metadata_document_supported" not in document
    assert site.fetched == []


ABSENT: dict[str, dict[str, Any]] = {
    "of another client": {"client_id": "https://other.example/client.json"},
    "of nobody": {"client_id": None},
    "in another spelling": {"client_id": "{base}/%63lient.json"},
}
REFUSED: dict[str, dict[str, Any]] = {
    "client_secret": {"client_secret": "mine"},
    "client_secret_expires_at": {"client_secret_expires_at": 0},
    "token_endpoint_auth_method": {"token_endpoint_auth_method": "client_secret_basic"},
    "redirect_uris[0]": {"redirect_uris": ["https://other.example/callback"]},
    "redirect_uris[1]": {"redirect_uris": ["{base}/callback", "https://127.0.0.1:1/callback"]},
    "redirect_uris[0] by user information": {"redirect_uris": ["https://{place}@other.example/"]},
    "redirect_uris[0] by its port": {"redirect_uris": ["https://127.0.0.1/callback"]},
    "redirect_uris[0] by its scheme": {"redirect_uris": ["app.example:/callback"]},
    "redirect_uris": {"redirect_uris": None},
    "redirect_uris by their number": {
        "redirect_uris": [f"http://127.0.0.1:{port}/" for port in range(1, 22)]
    },
    "post_logout_redirect_uris[0]": {"post_logout_redirect_uris": ["https://other.example/bye"]},
    "jwks_uri": {
        "jwks_uri": "https://other.example/jwks",
        "token_endpoint_auth_method": "private_key_jwt",
    },
    "jwks": {"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}},
    "initiate_login_uri": {"initiate_login_uri": "https://other.example/start"},
    "client_name": {"client_name": "Your\u202ebank"},
    "client_name that is missing": {"client_name": None},
    "response_types": {"response_types": ["token"]},
    "grant_types": {"grant_types": "authorization_code"},
}


def at_site(site: Site, members: dict[str, Any]) -> dict[str, Any]:
    """The members with the site's addresses."""
    text = json.dumps(members).replace("{base}", site.base).replace("{place}", site.place)
    changed: dict[str, Any] = json.loads(text)
    return changed


async def redeem(service: RunningService, client_id: str) -> Answer:
    """POST /connect/token as this client, with nothing to redeem."""
    return await service.token(None, client_id=client_id, grant_type="authorization_code")


@pytest.mark.parametrize("members", ABSENT.values(), ids=ABSENT)
async def test_a_document_of_another_client_id_is_refused(
    service: RunningService, site: Site, members: dict[str, Any]
) -> None:
    answer = await redeem(service, site.publish(**at_site(site, members)))
    assert answer.refusal == (401, "invalid_client")
    description = "there is no metadata document of the client at its client_id"
    assert answer["error_description"] == description


async def test_a_document_that_breaks_a_rule_is_refused(
    service: RunningService, site: Site
) -> None:
    for number, (member, members) in enumerate(REFUSED.items()):
        url = site.publish(f"/{number}.json", **at_site(site, members))
        answer = await redeem(service, url)
        assert answer.refusal == (401, "invalid_client"), member
        named = member.partition(" ")[0]
        description = f"the client's metadata document is refused: {named}: "
        assert answer["error_description"].startswith(description)


async def test_a_refused_document_shows_the_error_page(agent: DocumentApp, site: Site) -> None:
    site.publish(client_secret="mine")
    page = await agent.authorize()
    assert (page.status, page.error) == (400, "invalid_request")
    assert page.path == "/connect/authorize"


async def test_what_is_no_document_is_none(service: RunningService, site: Site) -> None:
    for content, headers, status in (
        (b"{" + b" " * 5200 + b"}", {}, 503),
        (b"[]", {}, 401),
        (b'{"a": "\xff"}', {}, 401),
        (b"[" * 5000, {}, 401),
        (None, {"Content-Type": "text/html"}, 401),
        (None, {"Content-Encoding": "gzip"}, 503),
    ):
        url = site.publish()
        site.documents["/client.json"] = content or site.documents["/client.json"]
        site.headers = headers
        assert (await redeem(service, url)).status == status, (content, headers)


async def test_no_redirect_is_followed(service: RunningService, site: Site) -> None:
    site.publish()
    paths = {"/elsewhere": 401, "/nothing": 401, "/broken": 503}
    for path, status in paths.items():
        assert (await redeem(service, site.base + path)).status == status, path
    assert site.fetched == [*paths]


async def test_requests_do_not_wait_long_for_a_document(
    start: Start, config: dict[str, Any], site: Site
) -> None:
    config["outgoing"]["timeout"] = "1s"
    assert (await redeem(await start(config), f"{site.base}/slow")).status == 503


async def test_an_error_is_not_kept(
    service: RunningService, site: Site, events: list[object]
) -> None:
    url = f"{site.base}/client.json"
    assert (await authorize(service, url)).status == 400
    assert ClientDocumentRefused(client_id=url, cause="status 404") in events
    site.publish()
    page = await authorize(service, url)
    assert "redirect_uri is missing" in page.body.decode()


async def test_unavailable_document_shows_the_error_page(
    clock: Clock, agent: DocumentApp, site: Site, browser: Browser
) -> None:
    tokens = await agent.tokens(scope="openid api1 offline_access")
    clock.forward(hours=1)
    site.documents["/client.json"] = b" " * 6000
    page: Page = await agent.authorize()
    assert (page.status, page.error) == (503, "temporarily_unavailable")
    refused = await agent.refresh(tokens["refresh_token"])
    assert refused.refusal == (503, "temporarily_unavailable")
    assert refused.headers["Retry-After"]
    account = await browser.get(f"{agent.service.issuer}/account")
    assert agent.client_id in account.text
    site.publish()
    assert (await agent.refresh(tokens["refresh_token"])).status == 200


async def test_token_stays_active_while_its_document_is_unavailable(
    clock: Clock, agent: DocumentApp, site: Site
) -> None:
    tokens = await agent.tokens(scope="openid api1")
    site.documents.clear()
    clock.forward(minutes=59)
    fetched = len(site.fetched)
    assert await agent.service.is_active(tokens["access_token"])
    assert len(site.fetched) == fetched


async def test_userinfo_says_whether_a_document_is_unavailable_or_gone(
    clock: Clock, agent: DocumentApp, site: Site
) -> None:
    site.headers["Cache-Control"] = "no-store"
    headers = {"Authorization": f"Bearer {(await agent.tokens())['access_token']}"}
    site.documents["/client.json"] = b" " * 6000
    clock.forward(minutes=5)
    assert (await agent.service.get("/connect/userinfo", headers=headers)).status == 503
    site.documents.clear()
    gone = await agent.service.get("/connect/userinfo", headers=headers)
    assert gone.refusal == (401, "invalid_token")


async def test_tokens_of_a_host_that_is_no_longer_allowed_are_inactive(
    agent: DocumentApp,
) -> None:
    service, tokens = agent.service, await agent.tokens(scope="api1")
    documents = service.features.clients.documents
    assert documents is not None
    force_setattr(documents.policy, "allowed_hosts", frozenset({"other.example"}))
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.usefixtures("fresh_minute")
async def test_many_urls_of_one_network_are_not_all_fetched(
    service: RunningService, site: Site
) -> None:
    statuses = [
        (await authorize(service, f"{site.base}/{number}")).status
        for number in range(PER_NETWORK + 5)
    ]
    assert 429 in statuses
    assert len(site.fetched) <= PER_NETWORK


async def test_unknown_callers_do_not_keep_out_a_known_client(
    clock: Clock, agent: DocumentApp, site: Site
) -> None:
    assert (await agent.authorize()).has("login")
    documents = agent.service.features.clients.documents
    assert documents is not None
    force_setattr(documents.per_host, "per_minute", 0)  # as after very many URLs
    clock.forward(hours=1)
    assert (await authorize(agent.service, f"{site.base}/other.json")).status == 429
    assert (await agent.authorize()).has("login")


async def test_slow_documents_do_not_add_up(service: RunningService, site: Site) -> None:
    documents = service.features.clients.documents
    assert documents is not None
    for _ in range(AT_ONCE):
        await documents._places.acquire()  # noqa: SLF001 - as that many slow fetches do
    answer = await authorize(service, site.publish())
    assert answer.status == 503
    assert site.fetched == []


async def test_a_client_at_loopback_has_no_answer_elsewhere(
    service: RunningService, browser: Browser, site: Site
) -> None:
    url = site.publish(redirect_uris=[LOOPBACK])
    for uri in ("http://127.0.0.2:1/callback", "http://127.0.0.1:1/other", f"{site.base}/callback"):
        page = await DocumentApp(service, browser, url, uri=uri).authorize()
        assert page.error == "invalid_request"
        assert not page.has("login")


async def test_a_url_in_basic_credentials_is_decoded_and_has_no_secret(
    agent: DocumentApp,
) -> None:
    answer: Answer = await agent.service.token(
        (agent.client_id, "guess"), grant_type="client_credentials"
    )
    assert answer.refusal == (401, "invalid_client")


async def test_a_url_is_no_label_of_a_metric(agent: DocumentApp) -> None:
    await agent.tokens()
    await asyncio.gather(*(authorize(agent.service, f"https://{n}.example/") for n in range(3)))
    metrics = (await agent.service.get("/metrics")).body.decode()
    assert agent.client_id not in metrics
    assert "0.example" not in metrics
