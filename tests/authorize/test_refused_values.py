"""A refusal names the refused value: to operators in the log, to a developer on the error page."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.authorizations import AuthorizationRefused
from service.events.tokens import TokenRefused
from service.protocol.errors import LONGEST, RefusedValue
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("6749#4.1.2.1", "9700#4.3"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]

UUID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def refusal_in(events: list[object]) -> tuple[str | None, str | None, str | None]:
    """The client, parameter and value of the last refusal of an authorization request."""
    last = [each for each in events if isinstance(each, AuthorizationRefused)][-1]
    return last.client_id, last.parameter, last.value


@pytest.mark.parametrize(
    ("changes", "client_id", "parameter", "value"),
    [
        ({"client_id": "wep"}, None, "client_id", "wep"),
        ({"client_id": None}, None, "client_id", None),
        ({"redirect_uri": "https://web.example/"}, "web", "redirect_uri", "https://web.example/"),
        ({"redirect_uri": None}, "web", "redirect_uri", None),
        ({"scope": "openid api9"}, "web", "scope", "api9"),
        ({"scope": 'a"b'}, "web", "scope", 'a"b'),
        ({"response_type": "token"}, "web", "response_type", "token"),
        ({"response_type": "cod"}, "web", "response_type", "cod"),
        ({"response_mode": "header"}, "web", "response_mode", "header"),
        ({"resource": "api9"}, "web", "resource", "api9"),
        ({"max_age": "soon"}, "web", "max_age", "soon"),
        ({"code_challenge_method": "S512"}, "web", "code_challenge_method", "S512"),
        ({"request_uri": "https://web.example/x"}, "web", "request_uri", "https://web.example/x"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
async def test_a_refused_authorization_request_names_client_parameter_and_value(  # noqa: PLR0917
    app: ClientApp,
    events: list[object],
    changes: dict[str, str | None],
    client_id: str | None,
    parameter: str,
    value: str | None,
) -> None:
    await app.authorize(**changes)
    assert refusal_in(events) == (client_id, parameter, value)


@pytest.mark.parametrize(
    ("form", "parameter"),
    [
        ({"grant_type": "client_credentials", "scope": "api9"}, "scope"),
        (
            {"grant_type": "client_credentials", "scope": "api1", "resource": "api9"},
            "resource",
        ),
        ({"grant_type": "api9"}, "grant_type"),
    ],
    ids=["scope", "resource", "grant_type"],
)
async def test_a_refused_token_request_names_parameter_and_value(
    service: RunningService, events: list[object], form: dict[str, str], parameter: str
) -> None:
    await service.token("machine", **form)
    (refused,) = [each for each in events if isinstance(each, TokenRefused)]
    assert (refused.client_id, refused.parameter, refused.value) == ("machine", parameter, "api9")


@pytest.mark.parametrize(
    "credential",
    [
        "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiI4MTg3MjcifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg",
        "rt_0123456789012345678901234567890123456789012345678901234567890123456",
        "kR7mQ2xV9bT4nL6wP1sD8fH3jY5cZ0aG",
        "abcdefghijklmnopqrstuvwxyz0",
        "ABCDEFGHIJKLMNopqrstuvwxyz==",
    ],
    ids=["JWT", "handle", "secret", "digits", "base64"],
)
@pytest.mark.parametrize("around", ["{}", "https://web.example/{}", "https://web.example/?code={}"])
def test_a_credential_in_a_refused_value_is_hidden(credential: str, around: str) -> None:
    shown = RefusedValue("redirect_uri", around.format(credential)).shown
    assert shown is not None
    assert "(hidden)" in shown
    assert not any(part in shown for part in credential.split("."))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("https://user:password@web.example/", "https://(hidden)@web.example/"),
        ("https://token@web.example:8443/cb", "https://(hidden)@web.example:8443/cb"),
        ("HTTPS://user:password@web.example/", "HTTPS://(hidden)@web.example/"),
        (" https://user:pass@word@web.example/", " https://(hidden)@web.example/"),
        ("https://web.example/?to=ftp://user:pw@a", "https://web.example/?to=ftp://(hidden)@a"),
        ("x" * 300, "x" * LONGEST + "…"),
        ("https://app-preview-7f3k2l9q8z.web.example/cb", None),
        ("http://localhost:8080/signin-oidc-callback-microsoft", None),
        ("com.example.app:/callback", None),
        (UUID, None),
        ("orders.read orders.write", None),
        ("ORDERS_READ_AND_WRITE_ALL", None),
    ],
    ids=[
        "password",
        "token",
        "capitals",
        "space",
        "inside",
        "long",
        "host",
        "words",
        "native",
        "uuid",
        "scope",
        "constant",
    ],
)
def test_a_refused_value_without_a_credential_is_shown(value: str, shown: str | None) -> None:
    assert RefusedValue("redirect_uri", value).shown == (shown or value)


async def test_client_id_sent_with_a_wrong_request_object_is_logged(
    app: ClientApp, events: list[object]
) -> None:
    await app.authorize(request="garbage", redirect_uri="https://web.example/")
    assert refusal_in(events) == ("web", "redirect_uri", "https://web.example/")


class TestInDevelopment:
    """On memory:// and a loopback issuer, the error page helps the developer."""

    @pytest.fixture
    def store_url(self) -> str:
        return "memory://"

    async def test_the_page_shows_what_was_sent_and_what_is_registered(
        self, app: ClientApp
    ) -> None:
        page = await app.authorize(redirect_uri="https://web.example/callback/")
        assert page.text_of("refused-value") == "https://web.example/callback/"
        assert "https://web.example/callback" in (page.text_of("accepted-values") or "")

    async def test_the_page_shows_the_nearest_client_first(self, app: ClientApp) -> None:
        page = await app.authorize(client_id="wep")
        assert page.text_of("refused-value") == "wep"
        assert (page.text_of("accepted-values") or "").startswith("web")

    async def test_the_page_shows_what_is_registered_where_nothing_was_sent(
        self, app: ClientApp
    ) -> None:
        page = await app.authorize(redirect_uri=None)
        assert page.text_of("refused-value") == "–"
        assert "https://web.example/callback" in (page.text_of("accepted-values") or "")

    async def test_the_page_escapes_what_was_sent(self, app: ClientApp) -> None:
        page = await app.authorize(client_id="<script>alert(1)</script>")
        assert "<script>alert(1)" not in page.text
        assert page.text_of("refused-value") == "<script>alert(1)</script>"

    async def test_a_service_with_a_public_issuer_is_not_in_development(
        self, start: Start, config: dict[str, Any]
    ) -> None:
        config["issuer"] = "https://id.example"
        service = await start(config)
        browser = Browser(service.issuer)
        page = await ClientApp(service, browser).authorize(redirect_uri="https://web.example/")
        await browser.close()
        assert page.error == "invalid_request"
        assert "web.example" not in page.content


@pytest.mark.usefixtures("mortal_redis")
async def test_the_page_shows_no_values_with_a_real_store(app: ClientApp) -> None:
    page = await app.authorize(redirect_uri="https://web.example/callback/")
    assert page.error == "invalid_request"
    assert "web.example" not in page.content
