"""Request objects by reference: registered URLs, fetched once and kept for a moment (OIDC Core §6.2, RFC 9101 §5.2)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.authorize import request_uri
from service.authorize.request_uri import (
    FAILURE_LIFETIME,
    LIFETIME,
    MAX_KEPT,
    PER_MINUTE,
    RequestUris,
)
from service.keys.jose import MAX_JWT_LENGTH
from service.model.outgoing import ClientHttp, HttpAnswer, HttpRequest
from service.protocol.errors import InvalidRequestUri
from tests.conftest import Clock
from tests.request_objects.sending import Sender
from tests.request_objects.site import Site

pytestmark = pytest.mark.rfc("openid-core#6.2", "9101#5.2", "9101#10.4")

REFUSED = "invalid_request_uri"


async def test_an_object_is_fetched_whatever_its_content_type(web: Sender, site: Site) -> None:
    uri = site.publish(await web.signed() + "\n")
    page = await web.sign_in(None, request_uri=uri)
    assert "code" in page.parameters
    assert site.fetched == ["/request"]


async def test_a_fetched_object_may_be_unsigned_for_a_client_registered_for_none(
    unsigning: Sender, site: Site
) -> None:
    uri = site.publish(unsigning.unsigned())
    assert (await unsigning.send(None, request_uri=uri)).has("login")


async def test_only_the_fetched_object_counts_where_the_client_requires_it(
    strict: Sender, site: Site
) -> None:
    uri = site.publish(await strict.signed())
    page = await strict.sign_in(None, request_uri=uri, response_type=None, scope=None, state="x")
    assert page.parameters["state"] == "the-state"


@pytest.mark.parametrize(
    ("path", "fragment"),
    [("/request", "#another"), ("/other", "#hash"), ("/other", ""), ("/other", "#a#b")],
)
async def test_the_fragment_of_a_request_uri_is_neither_compared_nor_sent(
    web: Sender, site: Site, path: str, fragment: str
) -> None:
    uri = site.publish(await web.signed(), path)
    assert (await web.send(None, request_uri=uri + fragment)).has("login")
    assert site.fetched == [path]


@pytest.mark.parametrize("path", ["/unregistered", "/Request", "/request/", "/request?of=2", ""])
async def test_only_a_registered_request_uri_is_fetched(web: Sender, site: Site, path: str) -> None:
    uri = site.publish(await web.signed(), path)
    page = await web.send(None, request_uri=uri, redirect_uri=web.app.redirect_uri)
    assert (page.status, page.error) == (303, REFUSED)
    assert site.fetched == []


@pytest.mark.parametrize(
    "uri", ["urn:ietf:params:oauth:request_uri:x", "file:///etc/passwd", "x", "http://[", "#"]
)
async def test_a_request_uri_that_is_not_a_url_is_not_fetched(web: Sender, uri: str) -> None:
    page = await web.send(None, request_uri=uri, redirect_uri=web.app.redirect_uri)
    assert page.error == REFUSED


@pytest.mark.parametrize("path", ["/nothing", "/elsewhere", "/slow"])
async def test_an_unsuccessful_answer_is_refused(web: Sender, site: Site, path: str) -> None:
    site.publish(await web.signed())
    page = await web.send(None, request_uri=site.base + path, redirect_uri=web.app.redirect_uri)
    assert page.error == REFUSED
    assert site.fetched == [path]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"x" * (MAX_JWT_LENGTH + 1), REFUSED),
        (b"\xff\xfe", REFUSED),
        (b"", "invalid_request_object"),
        (b"<html>", "invalid_request_object"),
        (b"a.b.c", "invalid_request_object"),
    ],
    ids=["too long", "not ASCII", "empty", "a page", "no JWT"],
)
async def test_a_fetched_text_that_is_not_a_request_object_is_refused(
    web: Sender, site: Site, content: bytes, error: str
) -> None:
    uri = site.publish(content)
    page = await web.send(None, request_uri=uri, redirect_uri=web.app.redirect_uri)
    assert page.error == error


async def test_a_server_that_does_not_answer_is_a_refusal(web: Sender, site: Site) -> None:
    """Nothing is said of why, which would tell strangers about the network."""
    uri = site.publish("x" * (MAX_JWT_LENGTH + 1))
    page = await web.send(None, request_uri=uri, redirect_uri=web.app.redirect_uri)
    away = await web.send(
        None, request_uri=site.base + "/nothing", redirect_uri=web.app.redirect_uri
    )
    assert page.parameters["error_description"] == away.parameters["error_description"]


async def test_a_request_uri_has_512_characters_at_most(web: Sender, site: Site) -> None:
    uri = site.publish(await web.signed()) + "#" + "x" * 500
    page = await web.send(None, request_uri=uri, redirect_uri=web.app.redirect_uri)
    assert page.error == "invalid_request"
    assert (await web.send(None, request_uri=uri[:512])).has("login")


async def test_a_fetched_object_is_kept_for_a_minute(web: Sender, site: Site, clock: Clock) -> None:
    uri = site.publish(await web.signed())
    for _ in range(3):
        assert (await web.send(None, request_uri=uri)).has("login")
    assert site.fetched == ["/request"]
    clock.forward(seconds=LIFETIME)
    assert (await web.send(None, request_uri=uri)).has("login")
    assert len(site.fetched) == 2


async def test_a_request_uri_with_another_fragment_is_fetched_again(
    web: Sender, site: Site
) -> None:
    uri = site.publish(await web.signed(prompt="none"))
    assert (await web.send(None, request_uri=uri + "#1")).error == "login_required"
    site.publish(await web.signed())
    assert (await web.send(None, request_uri=uri + "#2")).has("login")


@pytest.mark.parametrize("fragment", ["", "#another"])
async def test_a_failure_is_kept_for_a_few_seconds(
    web: Sender, site: Site, clock: Clock, fragment: str
) -> None:
    uri, callback = site.base + "/request", web.app.redirect_uri
    assert (await web.send(None, request_uri=uri, redirect_uri=callback)).error == REFUSED
    site.publish(await web.signed())
    again = await web.send(None, request_uri=uri + fragment, redirect_uri=callback)
    assert (again.error, site.fetched) == (REFUSED, ["/request"])
    clock.forward(seconds=FAILURE_LIFETIME)
    assert (await web.send(None, request_uri=uri + fragment)).has("login")


@pytest.mark.usefixtures("fresh_minute")
async def test_varied_fragments_cause_a_limited_number_of_fetches(
    web: Sender, site: Site, clock: Clock
) -> None:
    uri, callback = site.publish(await web.signed()), web.app.redirect_uri
    for number in range(PER_MINUTE):
        assert (await web.send(None, request_uri=f"{uri}#{number}")).has("login")
    refused = await web.send(None, request_uri=uri + "#more", redirect_uri=callback)
    assert (refused.status, refused.error, len(site.fetched)) == (303, REFUSED, PER_MINUTE)
    clock.forward(seconds=60)
    assert (await web.send(None, request_uri=uri + "#more")).has("login")


@pytest.mark.usefixtures("fresh_minute")
async def test_one_address_does_not_use_up_the_fetches_of_another(web: Sender) -> None:
    client = await web.app.service.features.clients.find("web")
    assert client is not None
    client = replace(client, request_uris=("https://web.example/request",))
    way = Counting()
    uris = RequestUris(ClientHttp(free=way, guarded=way))
    for number in range(PER_MINUTE):
        await uris.fetch(
            f"https://web.example/request#{number}", client, client_address="192.0.2.1"
        )
    with pytest.raises(InvalidRequestUri, match="too often"):
        await uris.fetch("https://web.example/request#more", client, client_address="192.0.2.1")
    assert await uris.fetch("https://web.example/request#more", client, client_address="192.0.2.2")


async def test_an_object_is_fetched_once_for_all_pages_of_a_request(
    web: Sender, site: Site, clock: Clock
) -> None:
    page = await web.send(None, request_uri=site.publish(await web.signed()))
    site.objects.clear()
    clock.forward(minutes=5)
    page = await web.app.browser.log_in(page)
    assert "code" in page.parameters
    assert site.fetched == ["/request"]


class Counting:
    """A way out that always leads to the same answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        self.asked.append(request.uri)
        return HttpAnswer(200, b"content")


async def test_a_limited_number_of_objects_is_kept(
    web: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_uri, "PER_MINUTE", MAX_KEPT + 2)
    client = await web.app.service.features.clients.find("web")
    assert client is not None
    client = replace(client, request_uris=("https://web.example/request",))
    way = Counting()
    uris = RequestUris(ClientHttp(free=way, guarded=way))
    for turn in (range(MAX_KEPT + 1), range(MAX_KEPT, -1, -1)):
        for number in turn:
            await uris.fetch(
                f"https://web.example/request#{number}", client, client_address="192.0.2.1"
            )
    assert len(way.asked) == MAX_KEPT + 2


async def test_a_client_that_registered_itself_has_to_use_https_the_guarded_way(
    web: Sender,
) -> None:
    client = await web.app.service.features.clients.find("web")
    assert client is not None
    free, guarded = Counting(), Counting()
    uris = RequestUris(ClientHttp(free=free, guarded=guarded))
    registered = replace(
        client,
        dynamically_registered=True,
        request_uris=("http://web.example/request", "https://web.example/request"),
    )
    with pytest.raises(InvalidRequestUri, match="https"):
        await uris.fetch("http://web.example/request", registered, client_address="192.0.2.1")
    assert (
        await uris.fetch("https://web.example/request", registered, client_address="192.0.2.1")
        == "content"
    )
    assert (free.asked, guarded.asked) == ([], ["https://web.example/request"])
