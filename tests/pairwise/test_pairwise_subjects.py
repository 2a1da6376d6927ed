"""A person has another identifier in each sector (OIDC Core §8)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.protocol.errors import ServerError
from service.tokens.subject import SubjectIdentifiers
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, claims_in
from tests.pairwise.conftest import BOB, SUB

pytestmark = pytest.mark.rfc("openid-core#8", "openid-core#8.1")

AppOf = Callable[[str], ClientApp]


async def known_as(app: ClientApp, username: str = "alice") -> str:
    """Return the `sub` in the client's ID token."""
    app.browser.forget_cookies()
    return str(claims_in((await app.tokens(username))["id_token"])["sub"])


async def userinfo(service: RunningService, token: str) -> Answer:
    return await service.get("/connect/userinfo", headers={"Authorization": f"Bearer {token}"})


async def test_pairwise_subject_differs_from_the_local_one_and_other_clients(app_of: AppOf) -> None:
    names = [await known_as(app_of(client_id)) for client_id in ("web", "shop", "forum")]
    assert names[0] == SUB
    assert len(set(names)) == 3
    assert all(len(name) == 43 and name.isascii() for name in names[1:])


async def test_pairwise_subject_is_stable_and_differs_for_each_user(app_of: AppOf) -> None:
    shop = app_of("shop")
    assert await known_as(shop) == await known_as(shop)
    assert await known_as(shop, "bob") not in {BOB, await known_as(shop)}


@pytest.mark.parametrize("client_id", ["shop-app", "group"])
async def test_pairwise_subject_is_the_same_within_a_sector(app_of: AppOf, client_id: str) -> None:
    assert await known_as(app_of(client_id)) == await known_as(app_of("shop"))


@pytest.mark.parametrize(("one", "other"), [("phone", "tablet"), ("terminal", "desktop")])
async def test_a_client_without_a_host_of_its_own_is_a_sector_of_its_own(
    app_of: AppOf, one: str, other: str
) -> None:
    assert await known_as(app_of(one)) != await known_as(app_of(other))


async def test_userinfo_tells_the_same_as_the_identity_token(
    app_of: AppOf, service: RunningService
) -> None:
    tokens = await app_of("shop").tokens(scope="openid profile")
    answer = await userinfo(service, tokens["access_token"])
    assert answer["sub"] == claims_in(tokens["id_token"])["sub"]
    assert answer["name"] == "Alice Smith"


async def test_pairwise_subject_stays_the_same_after_a_refresh(app_of: AppOf) -> None:
    shop = app_of("shop")
    tokens = await shop.tokens(scope="openid api1 offline_access")
    again = await shop.refresh(tokens["refresh_token"])
    assert claims_in(again["id_token"])["sub"] == claims_in(tokens["id_token"])["sub"]


async def test_apis_know_the_local_subject(app_of: AppOf, service: RunningService) -> None:
    token = (await app_of("shop").tokens())["access_token"]
    assert claims_in(token)["sub"] == SUB
    assert (await service.introspect(token))["sub"] == SUB


async def test_introspection_tells_the_client_its_own(
    app_of: AppOf, service: RunningService
) -> None:
    tokens = await app_of("shop").tokens(scope="openid api1 offline_access")
    known = claims_in(tokens["id_token"])["sub"]
    for name in ("access_token", "refresh_token"):
        assert (await service.introspect(tokens[name], caller="shop"))["sub"] == known


async def test_a_hint_is_read_as_the_client_knows_the_person(app_of: AppOf) -> None:
    shop = app_of("shop")
    hint = (await shop.tokens())["id_token"]
    assert "code" in (await shop.authorize(id_token_hint=hint, prompt="none")).parameters
    assert (await app_of("forum").authorize(id_token_hint=hint, prompt="none")).error is None
    shop.browser.forget_cookies()
    await shop.login("bob")
    page = await shop.authorize(id_token_hint=hint, prompt="none")
    assert page.error == "login_required"


@pytest.mark.rfc("openid-core#3.1.2.2")
async def test_the_claims_parameter_names_people_as_the_client_knows_them(app_of: AppOf) -> None:
    shop = app_of("shop")
    sub = await known_as(shop)
    asked = '{"id_token": {"sub": {"value": "%s"}}}'
    assert "code" in (await shop.authorize(claims=asked % sub, prompt="none")).parameters
    page = await shop.authorize(claims=asked % SUB, prompt="none")
    assert page.error == "login_required"


@pytest.mark.rfc("openid-rpinitiated#2")
async def test_a_logout_hint_is_read_as_its_client_knows_the_person(app_of: AppOf) -> None:
    shop = app_of("shop")
    hint = (await shop.tokens())["id_token"]
    bye = {"id_token_hint": hint, "post_logout_redirect_uri": "https://shop.example/bye"}
    page = await shop.browser.get("/connect/endsession", params=bye)
    assert page.url == "https://shop.example/bye"
    assert (await shop.authorize(prompt="none")).error == "login_required"


@pytest.mark.rfc("openid-rpinitiated#2")
async def test_logout_hint_of_another_user_asks_for_confirmation(app_of: AppOf) -> None:
    shop = app_of("shop")
    hint = (await shop.tokens())["id_token"]
    shop.browser.forget_cookies()
    await shop.login("bob")
    page = await shop.browser.get("/connect/endsession", params={"id_token_hint": hint})
    assert page.has("logout-confirm")


@pytest.mark.rfc("openid-discovery#3")
async def test_discovery_says_that_there_are_both(service: RunningService) -> None:
    listed = (await service.get("/.well-known/openid-configuration")).json
    assert listed["subject_types_supported"] == ["public", "pairwise"]


def test_pairwise_subjects_differ_with_another_salt(service: RunningService) -> None:
    identifiers, shop = (
        service.features.identifiers,
        service.features.shared.registry.current.clients["shop"],
    )
    other = SubjectIdentifiers(pairwise_salt="another salt, as long as it has to be")
    assert identifiers.find_sub(shop, SUB) != other.find_sub(shop, SUB)


def test_pairwise_subjects_need_a_salt(service: RunningService) -> None:
    shop = service.features.shared.registry.current.clients["shop"]
    with pytest.raises(ServerError):
        SubjectIdentifiers(pairwise_salt=None).find_sub(shop, SUB)


@pytest.mark.rfc("ciba#7.1")
async def test_an_id_token_hint_of_ciba_names_its_user_while_the_session_lives(
    app_of: AppOf, service: RunningService
) -> None:
    shop = app_of("shop")
    hint = (await shop.tokens())["id_token"]
    asked = {"scope": "openid", "id_token_hint": hint}
    assert (await service.post("/connect/ciba", auth="shop", **asked)).status == 200
    await shop.browser.submit(await shop.browser.get("/connect/endsession"))
    ended = await service.post("/connect/ciba", auth="shop", **asked)
    assert ended.refusal == (400, "unknown_user_id")
