"""A person of whom everything is known, and a client that may ask for all of it (OIDC Core §5.1)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

ADDRESS = {
    "formatted": "1 Main Street\nSpringfield",
    "street_address": "1 Main Street",
    "locality": "Springfield",
    "region": "IL",
    "postal_code": "62701",
    "country": "US",
}
PROFILE: dict[str, object] = {
    "name": "Alice Smith",
    "family_name": "Smith",
    "given_name": "Alice",
    "middle_name": "Lee",
    "nickname": "Al",
    "preferred_username": "alice",
    "profile": "https://example.com/alice",
    "picture": "https://example.com/alice.png",
    "website": "https://alice.example.com",
    "gender": "female",
    "birthdate": "1990-01-31",
    "zoneinfo": "Europe/Berlin",
    "locale": "en-US",
    "updated_at": 1700000000,
}
BY_SCOPE: dict[str, dict[str, object]] = {
    "openid": {},
    "profile": PROFILE,
    "email": {"email": "alice@example.com", "email_verified": True},
    "address": {"address": ADDRESS},
    "phone": {"phone_number": "+1 (310) 123-4567", "phone_number_verified": False},
}
IN_OTHER_LANGUAGES = {
    "name#de": "Alice Schmidt",
    "name#de-AT": "Frau Alice Schmidt",
    "name#fr": "Alice Forgeron",
    "nickname#ja-Kana-JP": "アル",
}
ALICE = {name: value for claims in BY_SCOPE.values() for name, value in claims.items()}
SUB, BOB = "818727", "88421113"
SCOPES = ["openid", "profile", "email", "address", "phone", "api1"]

Told = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(autouse=True)
def one_store() -> None:
    """Claims are stored with tokens and codes, whose tests run on both stores."""


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Alice with every standard claim, in more than one language, and two that nobody may ask for."""
    config["users"]["list"][0]["claims"] = (
        ALICE | IN_OTHER_LANGUAGES | {"shoe_size": 38, "name_es": "Al"}
    )
    for client_id in ("web", "implicit", "consenting"):
        client_in(config, client_id)["allowed_scopes"] = [*SCOPES]
    client_in(config, "spa")["allowed_scopes"] = ["openid", "profile", "api1"]
    return config


def claims_request(**places: object) -> str:
    """The claims parameter."""
    return json.dumps(places)


def told_of(claims: dict[str, Any]) -> dict[str, Any]:
    """Return the claims about the person, without those about the sign-in."""
    return {name: value for name, value in claims.items() if name.partition("#")[0] in ALICE}


@pytest.fixture
def in_id_token(app: ClientApp) -> Told:
    """Return the claims about the person in the ID token of a whole flow."""

    async def told(**changes: Any) -> dict[str, Any]:
        return told_of(claims_in((await app.tokens(**changes))["id_token"]))

    return told


@pytest.fixture
def at_userinfo(app: ClientApp, service: RunningService) -> Told:
    """Return the answer of userinfo after a whole flow."""

    async def told(**changes: Any) -> dict[str, Any]:
        token = (await app.tokens(**changes))["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        answer = await service.get("/connect/userinfo", headers=headers)
        assert answer["sub"] == SUB
        return told_of(answer.json)

    return told
