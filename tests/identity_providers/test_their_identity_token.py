"""An identity token that is not the answer to our own request signs nobody in (OIDC Core §3.1.3.7)."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from service.events.providers import ProviderSignInFailed
from service.events.users import SessionStarted
from service.keys.jose import Key
from service.tokens.id_token import half_hash
from tests.identity_providers.fake_provider import FakeProvider
from tests.identity_providers.journey import ComeBack, arrived

pytestmark = [
    pytest.mark.rfc("openid-core#3.1.3.7"),
    pytest.mark.usefixtures("one_store"),  # the identity token is verified without the store
]


@pytest.fixture
def config(faked_config: dict[str, Any]) -> dict[str, Any]:
    return faked_config


def refusals(events: list[object]) -> list[str]:
    """The causes of failed sign-ins."""
    assert not any(isinstance(event, SessionStarted) for event in events)
    return [event.cause for event in events if isinstance(event, ProviderSignInFailed)]


BAD_CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "another issuer": ({"iss": "https://evil.example"}, "another issuer made it"),
    "no issuer": ({"iss": None}, "another issuer made it"),
    "another audience": ({"aud": "somebody"}, "it is for another client"),
    "no audience": ({"aud": None}, "it is for another client"),
    "an audience that is no text": ({"aud": {"downstream": 1}}, "it is for another client"),
    "several audiences": (
        {"aud": ["downstream", "other"]},
        "it is for several, and does not say to whom it was issued",
    ),
    "another party": ({"azp": "other"}, "it was issued to another client"),
    "expired": ({"exp": timedelta(seconds=-60)}, "it has expired"),
    "no expiry": ({"exp": None}, "it does not say when it was issued and expires"),
    "an expiry in words": ({"exp": "9999999999"}, "it does not say when it was issued and expires"),
    "no time of issue": ({"iat": None}, "it does not say when it was issued and expires"),
    "from the future": ({"iat": timedelta(seconds=600)}, "it is from the future"),
    "not valid yet": ({"nbf": timedelta(seconds=600)}, "it is not valid yet"),
    "not valid until never": ({"nbf": "soon"}, "it is not valid yet"),
    "another nonce": ({"nonce": "another"}, "its nonce is wrong"),
    "no nonce": ({"nonce": None}, "its nonce is wrong"),
    "another access token": (
        {"at_hash": half_hash("another", "ES256")},
        "its at_hash is that of another access token",
    ),
    "nobody": ({"sub": None}, "it names nobody"),
    "an empty subject": ({"sub": ""}, "it names nobody"),
    "a number for a subject": ({"sub": 5}, "it names nobody"),
    "an endless subject": ({"sub": "x" * 256}, "it names nobody"),
    "a sign-in to come": ({"auth_time": timedelta(seconds=600)}, "the sign-in is from the future"),
}


@pytest.mark.parametrize(("claims", "cause"), BAD_CLAIMS.values(), ids=BAD_CLAIMS)
async def test_login_with_claims_of_wrong_types_is_refused(
    fake: FakeProvider,
    come_back: ComeBack,
    events: list[object],
    claims: dict[str, Any],
    cause: str,
) -> None:
    fake.claims = claims
    page = await come_back()
    assert page.text_of("login-error").startswith("Upstream did not sign you in")
    assert refusals(events) == [f"its identity token: {cause}"]


LONG: dict[str, dict[str, Any]] = {
    "picture": {"picture": "x" * 17_000},
    "amr": {"amr": ["x" * 17_000]},
    "acr": {"acr": "x" * 17_000},
    "sid": {"sid": "x" * 17_000},
}


@pytest.mark.parametrize("claims", LONG.values(), ids=LONG)
async def test_login_with_too_large_claims_is_refused_and_they_are_not_kept(
    fake: FakeProvider, come_back: ComeBack, events: list[object], claims: dict[str, Any]
) -> None:
    fake.claims = claims
    page = await come_back()
    assert page.text_of("login-error").startswith("Upstream did not sign you in")
    (cause,) = refusals(events)
    assert cause.startswith("what would be kept of its user takes 17")
    assert "x" * 20 not in cause


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"aud": ["downstream"]},
        {"aud": ["downstream", "other"], "azp": "downstream"},
        {"exp": timedelta(seconds=-5)},
        {"iat": timedelta(seconds=5.5)},
        {"at_hash": half_hash("theirs", "ES256")},
    ],
    ids=["proper", "one audience", "authorized party", "just expired", "just ahead", "at_hash"],
)
async def test_claims_that_fit_sign_in(
    fake: FakeProvider, come_back: ComeBack, claims: dict[str, Any]
) -> None:
    fake.claims = claims
    assert arrived(await come_back())


@pytest.mark.parametrize("auth_time", [timedelta(seconds=-3600), None], ids=["long ago", "unknown"])
async def test_login_that_is_too_old_for_the_client_is_refused(
    fake: FakeProvider, come_back: ComeBack, auth_time: timedelta | None
) -> None:
    fake.claims = {"auth_time": auth_time}
    assert (await come_back(max_age="60")).has("login-error")


async def test_prompt_login_is_not_met_by_an_earlier_login(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.claims = {"auth_time": timedelta(seconds=-3600)}
    assert (await come_back(prompt="login")).has("login-error")


def forged(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    """A JWT that is signed by a shared secret, or not at all."""
    parts = [_encode(json.dumps(part).encode()) for part in (header, claims)]
    signature = b"" if secret is None else hmac.digest(secret, ".".join(parts).encode(), "sha256")
    return ".".join([*parts, _encode(signature)])


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _other_key(fake: FakeProvider, **changes: str) -> Key:
    """Another key under the same key id."""
    made = Key.generate("ES256")
    return Key.load({**made.private_jwk, "kid": fake.signer.kid} | changes, "ES256")


FORGERIES: dict[str, Callable[[FakeProvider], str]] = {
    "unsigned": lambda fake: forged({"alg": "none"}, fake.identity(), None),
    "unsigned with key id": lambda fake: forged(
        {"alg": "none", "kid": fake.signer.kid}, fake.identity(), None
    ),
    "by the client secret": lambda fake: forged(
        {"alg": "HS256"}, fake.identity(), b"downstream-secret"
    ),
    "by the public key": lambda fake: forged(
        {"alg": "HS256", "kid": fake.signer.kid},
        fake.identity(),
        json.dumps(fake.published[0]).encode(),
    ),
    "with critical headers": lambda fake: forged(
        {"alg": "ES256", "crit": ["x"], "x": 1}, fake.identity(), b""
    ),
    "with its own key": lambda fake: forged(
        {"alg": "ES256", "kid": "own", "jwk": Key.generate("ES256").public_jwk},
        fake.identity(),
        b"",
    ),
    "no JWT": lambda _: "theirs",
    "no JSON": lambda _: "a.b.c",
    "endless": lambda _: "a.b." + "c" * 60_000,
}


@pytest.mark.rfc("8725#3.1", "8725#3.2")
@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
async def test_forged_id_token_is_refused(
    fake: FakeProvider,
    come_back: ComeBack,
    events: list[object],
    forge: Callable[[FakeProvider], str],
) -> None:
    fake.forge = forge
    assert (await come_back()).has("login-error")
    assert len(refusals(events)) == 1


async def test_login_signed_by_a_foreign_key_under_a_known_id_is_refused(
    fake: FakeProvider, come_back: ComeBack, events: list[object]
) -> None:
    fake.signer = _other_key(fake)
    assert (await come_back()).has("login-error")
    assert refusals(events) == ["its identity token: its signature does not verify"]


@pytest.mark.rfc("8725#3.11")
async def test_token_of_another_type_is_refused_as_login(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.typ = "at+jwt"
    assert (await come_back()).has("login-error")


async def test_an_algorithm_that_the_provider_does_not_name_is_refused(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.metadata = {"id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]}
    assert (await come_back()).has("login-error")


@pytest.mark.rfc("openid-core#10.1")
async def test_a_key_for_encryption_verifies_nothing(
    fake: FakeProvider, come_back: ComeBack
) -> None:
    fake.published[0]["use"] = "enc"
    assert (await come_back()).has("login-error")
