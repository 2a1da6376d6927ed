"""Users of an authorization server without ID tokens, such as GitHub, sign in by its userinfo (`kind: oauth2`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from service.events.providers import ProviderSignInFailed
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.registry import fresh_configuration
from tests.driving.service import claims_in
from tests.identity_providers.fake_provider import BACKCHANNEL_LOGOUT
from tests.identity_providers.github import OCTOCAT, GitHub
from tests.identity_providers.journey import arrived, userinfo

pytestmark = pytest.mark.rfc("6749#4.1")

CALLBACK = "/connect/idp/github/callback"


@pytest.fixture
async def github() -> AsyncIterator[GitHub]:
    """A stand-in that behaves as GitHub's documentation says."""
    stand_in = GitHub()
    async with listening(stand_in.handle) as stand_in.url:
        yield stand_in


@pytest.fixture
def config(github: GitHub) -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["identity_providers"] = [github.entry()]
    return configuration


async def come_back(app: ClientApp, github: GitHub, **asked: str) -> Page:
    """Go there and back; the page after that."""
    sent = await app.authorize(acr_values="idp:github", **asked)
    assert sent.url.startswith(github.url)
    return await app.browser.get(github.answer(sent))


def causes(app: ClientApp) -> list[str]:
    """The causes of failures in the audit log."""
    return [each.cause for each in app.service.events if isinstance(each, ProviderSignInFailed)]


async def test_user_of_github_signs_in_with_mapped_claims(app: ClientApp, github: GitHub) -> None:
    page = await come_back(app, github, scope="openid profile email")
    tokens = await app.redeem(page.parameters["code"])
    told = await userinfo(app.service, tokens)
    assert (told["name"], told["email"]) == ("The Octocat", "octocat@github.example")
    assert (told["preferred_username"], told["picture"]) == ("octocat", OCTOCAT["avatar_url"])


async def test_account_page_names_the_user_of_a_provider_by_the_name_there(
    app: ClientApp, github: GitHub
) -> None:
    await come_back(app, github)
    assert "· octocat<" in (await app.browser.get("/account")).text


@pytest.mark.rfc("openid-core#5.1")
@pytest.mark.parametrize("trusted", [False, True])
async def test_address_is_verified_if_the_server_is_trusted(
    app: ClientApp, github: GitHub, config: dict[str, Any], trusted: bool
) -> None:
    config["identity_providers"] = [github.entry(trust_email=trusted)]
    app.service.reload(config)
    github.user = OCTOCAT | {"email_verified": True}
    tokens = await app.redeem(
        (await come_back(app, github, scope="openid email")).parameters["code"]
    )
    assert (await userinfo(app.service, tokens))["email_verified"] is trusted


@pytest.mark.rfc("7636#4.3", "9700#4.4.2.2")
async def test_request_has_pkce_and_a_redirect_uri_of_this_provider_alone(app: ClientApp) -> None:
    asked = (await app.authorize(acr_values="idp:github")).parameters
    assert (asked["code_challenge_method"], "nonce" in asked) == ("S256", False)
    assert asked["redirect_uri"] == app.service.issuer + CALLBACK
    assert asked["scope"] == "read:user user:email"


async def test_subject_is_the_number_that_never_changes_and_not_the_name(
    app: ClientApp, github: GitHub
) -> None:
    subjects = set()
    for changes in ({}, {"login": "renamed"}, {"id": 583232}, {"id": "583231"}):
        github.user = OCTOCAT | changes
        page = await come_back(app, github, prompt="login")
        tokens = await app.redeem(page.parameters["code"])
        subjects.add(claims_in(tokens["id_token"])["sub"])
    assert len(subjects) == 2


async def test_amr_of_userinfo_counts_for_nothing(app: ClientApp, github: GitHub) -> None:
    github.user |= {"amr": ["hwk"], "acr": "strong", "auth_time": 1, "sub": "818727"}
    tokens = await app.redeem((await come_back(app, github)).parameters["code"])
    claims = claims_in(tokens["access_token"])
    assert (claims["amr"], claims["idp"], "acr" in claims) == (["external"], "github", False)
    assert claims["sub"] != "818727"


@pytest.mark.rfc("6749#10.12")
async def test_login_response_in_another_browser_or_at_another_callback_is_refused(
    app: ClientApp, github: GitHub, events: list[object]
) -> None:
    answer = github.answer(await app.authorize(acr_values="idp:github"))
    shared = answer.replace(CALLBACK, "/account/provider/callback")
    assert (await app.browser.get(shared)).status == 400
    cause = "its answer came to a callback that is not its own"
    assert ProviderSignInFailed(provider="github", cause=cause) in events
    kept = app.browser.cookies
    app.browser.forget_cookies()
    assert (await app.browser.get(answer)).status == 400
    app.browser.put_cookies(kept)
    assert github.forms == []


@pytest.mark.rfc("9207#2.4")
async def test_issuer_is_compared_where_it_is_configured(
    app: ClientApp, github: GitHub, config: dict[str, Any]
) -> None:
    sent = await app.authorize(acr_values="idp:github")
    assert arrived(await app.browser.get(github.answer(sent, iss="https://whoever.example")))
    config["identity_providers"] = [github.entry(issuer="https://github.example")]
    app.service.reload(config)
    for iss, fits in (("https://whoever.example", False), ("https://github.example", True)):
        sent = await app.authorize(acr_values="idp:github", prompt="login")
        assert arrived(await app.browser.get(github.answer(sent, iss=iss))) is fits


async def test_json_answers_are_read_as_well(app: ClientApp, github: GitHub) -> None:
    async def as_json(request: web.Request) -> web.Response:
        if request.path == "/user":
            return web.json_response(github.user)
        return web.json_response({"access_token": "gho_token", "token_type": "Bearer"})

    github.instead = as_json
    assert arrived(await come_back(app, github))


BAD = {
    "no token": ({"access_token": ""}, {}, "its token endpoint sent no bearer token"),
    "another token": ({"access_token": "x"}, {}, "its userinfo endpoint: status 401"),
    "another token type": ({"token_type": "mac"}, {}, "its token endpoint sent no bearer token"),
    "an error": (
        {"error": "bad_verification_code"},
        {},
        "its token endpoint: bad_verification_code",
    ),
    "a nameless error": (
        {"error": "a b"},
        {},
        "its token endpoint: an error without an ordinary code",
    ),
    "nobody": ({}, {"id": None}, "its userinfo endpoint names nobody by subject_claim"),
    "no name": ({}, {"id": ""}, "its userinfo endpoint names nobody by subject_claim"),
    "a truth": ({}, {"id": True}, "its userinfo endpoint names nobody by subject_claim"),
    "a fraction": ({}, {"id": 1.5}, "its userinfo endpoint names nobody by subject_claim"),
    "too long a name": (
        {},
        {"id": "x" * 256},
        "its userinfo endpoint names nobody by subject_claim",
    ),
}


@pytest.mark.parametrize(("token", "user", "cause"), BAD.values(), ids=BAD)
async def test_login_response_without_a_subject_is_refused(
    app: ClientApp,
    github: GitHub,
    token: dict[str, str],
    user: dict[str, Any],
    cause: str,
) -> None:
    github.token, github.user = token, github.user | user
    assert (await come_back(app, github)).has("login-error")
    assert causes(app) == [cause]


async def test_wrong_client_secret_is_in_the_audit_log(
    app: ClientApp, github: GitHub, config: dict[str, Any]
) -> None:
    config["identity_providers"] = [github.entry(client_secret="old")]
    app.service.reload(config)
    assert (await come_back(app, github)).has("login-error")
    assert causes(app) == ["its token endpoint: incorrect_client_credentials"]


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_client_that_requires_a_recent_login_refuses_users_from_there(
    app: ClientApp, github: GitHub
) -> None:
    assert (await come_back(app, github, max_age="60")).has("login-error")
    assert causes(app) == ["it does not say when the person signed in"]


async def test_allowed_claims_are_those_of_userinfo(
    app: ClientApp, github: GitHub, config: dict[str, Any]
) -> None:
    config["identity_providers"] = [github.entry(allowed_claims=[{"id": [583231]}])]
    app.service.reload(config)
    assert arrived(await come_back(app, github))
    github.user["id"] = 583232
    assert (await come_back(app, github, prompt="login")).has("login-error")


async def test_there_is_no_back_channel_logout(app: ClientApp) -> None:
    path = BACKCHANNEL_LOGOUT.replace("upstream", "github")
    assert (await app.service.post(path, logout_token="x")).refusal == (400, "invalid_request")
