"""Claims in the languages that a client asks for (OIDC Core §5.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.claims.conftest import Told, claims_request, told_of
from tests.driving.client_app import ClientApp
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#5.2")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("name#de", {"name#de": "Alice Schmidt"}),
        ("name#DE-at", {"name#de-AT": "Frau Alice Schmidt"}),
        ("nickname#ja-kana-jp", {"nickname#ja-Kana-JP": "アル"}),
        ("name#es", {}),
        ("name#", {}),
        ("name#de;x", {}),
        ("shoe_size#de", {}),
    ],
)
async def test_a_claim_is_asked_for_with_its_language(
    in_id_token: Told, at_userinfo: Told, asked: str, told: dict[str, str]
) -> None:
    wish = {asked: {"essential": True}}
    assert await in_id_token(scope="openid", claims=claims_request(id_token=wish)) == told
    assert await at_userinfo(scope="openid", claims=claims_request(userinfo=wish)) == told


async def test_more_than_one_language_may_be_asked_for(in_id_token: Told) -> None:
    claims = claims_request(id_token={"name": None, "name#de": None, "name#fr": None})
    assert await in_id_token(scope="openid", claims=claims) == {
        "name": "Alice Smith",
        "name#de": "Alice Schmidt",
        "name#fr": "Alice Forgeron",
    }


@pytest.mark.parametrize(
    ("claims_locales", "name"),
    [
        ("de", "Alice Schmidt"),
        ("DE", "Alice Schmidt"),
        ("de-AT", "Frau Alice Schmidt"),
        ("de-CH", "Alice Schmidt"),
        ("de-CH-1996", "Alice Schmidt"),
        ("es fr de", "Alice Forgeron"),
        ("es", "Alice Smith"),
        ("../../etc <b> é", "Alice Smith"),
        (" ".join(["es"] * 2000), "Alice Smith"),
    ],
    ids=lambda text: text[:12],
)
async def test_the_first_language_that_there_is_counts(
    at_userinfo: Told, claims_locales: str, name: str
) -> None:
    told = await at_userinfo(scope="openid profile", claims_locales=claims_locales)
    assert told["name"] == name
    assert told["family_name"] == "Smith"
    assert not any("#" in claim for claim in told)


async def test_claims_locales_count_for_claims_asked_for_by_name(in_id_token: Told) -> None:
    told = await in_id_token(
        scope="openid", claims_locales="de", claims=claims_request(id_token={"name": None})
    )
    assert told == {"name": "Alice Schmidt"}


async def test_claims_locales_count_in_an_id_token_that_comes_alone(
    app_of: Callable[[str], ClientApp],
) -> None:
    page = await app_of("implicit").login(
        response_type="id_token", scope="openid profile", claims_locales="fr"
    )
    assert told_of(claims_in(page.parameters["id_token"]))["name"] == "Alice Forgeron"


async def test_request_without_claims_locales_gets_no_language(at_userinfo: Told) -> None:
    told = await at_userinfo(scope="openid profile")
    assert told["name"] == "Alice Smith"
    assert not any("#" in claim for claim in told)
