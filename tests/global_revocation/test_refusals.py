"""Whatever is wrong with a request for the end of a user's access changes nothing (draft-parecki-oauth-global-token-revocation-06 §3.4.2)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from service.events.users import SubjectRevocationRefused, SubjectRevoked
from service.keys.jose import Key
from tests.conftest import Clock, Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, basic
from tests.global_revocation.okta import (
    PATH,
    Okta,
    ask,
    ask_as,
    email,
    iss_sub,
    opaque,
    rsa_key,
)
from tests.identity_providers.fake_provider import FakeProvider

pytestmark = pytest.mark.rfc("global-token-revocation#3.4.2", "global-token-revocation#6.2")

ALICE, BOB, CAROL = "818727", "88421113", "5"
HERS = opaque(ALICE)
DEEP = '{"sub_id": ' + '{"format": ' * 40 + "1" + "}" * 41


def unsigned(claims: dict[str, Any], alg: str = "none") -> str:
    """A JWT without a signature."""
    header = {"alg": alg, "typ": "global-token-revocation+jwt"}
    parts = [urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (header, claims)]
    return b".".join([*parts, b""]).decode()


def by_public_key(claims: dict[str, Any]) -> Awaitable[str]:
    """A JWT whose HMAC is made with the text of the public key (RFC 8725 §2.1)."""
    text = json.dumps(rsa_key().public_jwk)
    return Key.from_secret(text, "HS256").sign(claims, typ="global-token-revocation+jwt")


async def used(okta: Okta) -> str:
    """A JWT that has been used for an unknown user."""
    jwt = await okta.jwt()
    assert (await okta.send(opaque("nobody"), jwt)).status == 404
    return jwt


Jwt = Callable[[Okta], Awaitable[str]]

WRONG_JWTS: dict[str, Jwt] = {
    "signed with another key": lambda okta: okta.jwt(key=Key.generate("RS256")),
    "signed with a key of the same id": lambda okta: okta.jwt(key=_same_id()),
    "expired": lambda okta: okta.jwt(exp=timedelta(minutes=-10)),
    "without exp": lambda okta: okta.jwt(exp=None),
    "valid for ten minutes": lambda okta: okta.jwt(exp=timedelta(minutes=10)),
    "exp is a text": lambda okta: okta.jwt(exp="tomorrow"),
    "not valid yet": lambda okta: okta.jwt(nbf=timedelta(minutes=10)),
    "issued in the future": lambda okta: okta.jwt(iat=timedelta(minutes=10)),
    "for the issuer": lambda okta: okta.jwt(aud=okta.service.issuer),
    "for another endpoint": lambda okta: okta.jwt(aud=okta.service.issuer + "/connect/revocation"),
    "for another host": lambda okta: okta.jwt(aud="https://other.example" + PATH),
    "for this endpoint with a query": lambda okta: okta.jwt(aud=okta.service.issuer + PATH + "?"),
    "for two": lambda okta: okta.jwt(aud=[okta.service.issuer + PATH, "https://other.example"]),
    "for the client": lambda okta: okta.jwt(aud="downstream"),
    "without aud": lambda okta: okta.jwt(aud=None),
    "without jti": lambda okta: okta.jwt(jti=None),
    "jti is empty": lambda okta: okta.jwt(jti=""),
    "jti is a number": lambda okta: okta.jwt(jti=7),
    "jti is too long": lambda okta: okta.jwt(jti="x" * 256),
    "of an unknown issuer": lambda okta: okta.jwt(iss="https://okta.example"),
    "of this service": lambda okta: okta.jwt(iss=okta.service.issuer),
    "iss is a list": lambda okta: okta.jwt(iss=[okta.provider.issuer]),
    "about another app": lambda okta: okta.jwt(sub="somebody-elses-app"),
    "without sub": lambda okta: okta.jwt(sub=None),
    "of the type of ID tokens": lambda okta: okta.jwt(typ="JWT"),
    "of the type of logout tokens": lambda okta: okta.jwt(typ="logout+jwt"),
    "an ID token": lambda okta: okta.provider.signer.sign(okta.provider.identity(), typ="JWT"),
    "a logout token": lambda okta: okta.provider.logout_token(),
    "used before": used,
    "HS256 with the public key": lambda okta: by_public_key(okta.claims()),
}


def _same_id() -> Key:
    other = Key.generate("RS256")
    return Key.load(other.private_jwk | {"kid": rsa_key().kid}, "RS256")


@pytest.mark.parametrize("make", WRONG_JWTS.values(), ids=WRONG_JWTS)
async def test_a_jwt_that_does_not_hold_is_refused(
    okta: Okta, hers: Callable[[], Awaitable[bool]], make: Jwt
) -> None:
    answer = await okta.send(HERS, await make(okta))
    assert answer.status == 401
    assert answer.error in {"invalid_token", "invalid_client"}
    assert answer.headers["WWW-Authenticate"].split(" ", 1)[0] in {"Bearer", "Basic"}
    assert await hers()


@pytest.mark.parametrize("alg", ["none", "None", "", "RS256"])
async def test_a_jwt_without_a_signature_is_refused(
    okta: Okta, hers: Callable[[], Awaitable[bool]], alg: str
) -> None:
    assert (await okta.send(HERS, unsigned(okta.claims(), alg))).status == 401
    assert await hers()


@pytest.mark.parametrize(
    "authorization",
    [
        *(None, "Basic", "Basic !", "Bearer", "Bearer x", "Bearer a.b.c", "Bearer é.è.ê"),
        *("Digest x", basic("siem", "wrong"), basic("nobody", "x"), "Bearer " + "a." * 30000),
        basic("api1", "siem-secret"),
    ],
)
async def test_a_caller_that_is_not_proven_is_refused(
    service: RunningService, hers: Callable[[], Awaitable[bool]], authorization: str | None
) -> None:
    answer = await ask(service, HERS, authorization=authorization)
    assert answer.refusal == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic ")
    assert await hers()


@pytest.mark.parametrize("client", ["web", "machine", "consenting"])
async def test_a_client_without_the_key_is_refused(
    service: RunningService, hers: Callable[[], Awaitable[bool]], client: str
) -> None:
    assert (await ask_as(service, client, HERS)).refusal == (403, "unauthorized_client")
    assert await hers()


async def test_a_provider_without_the_key_is_refused(
    okta: Okta, hers: Callable[[], Awaitable[bool]]
) -> None:
    jwt = await okta.jwt(sub="elsewhere")
    assert (await okta.send(HERS, jwt)).refusal == (403, "unauthorized_client")
    assert await hers()


async def test_a_public_client_cannot_ask(
    service: RunningService, hers: Callable[[], Awaitable[bool]]
) -> None:
    assert (await ask(service, HERS, authorization=basic("spa", ""))).status == 401
    assert await hers()


Body = dict[str, Any] | Callable[[Okta], dict[str, Any]]

UNKNOWN: dict[str, Body] = {
    "an unknown sub": opaque("nobody"),
    "a sub in another case": opaque("818727 "),
    "a user name": opaque("alice"),
    "an unknown sub of this service": lambda okta: iss_sub(okta.service.issuer, "nobody"),
    "her sub at another issuer": iss_sub("https://other.example", ALICE),
    "her sub here at the provider": lambda okta: iss_sub(okta.provider.issuer, ALICE),
    "this service with a slash": lambda okta: iss_sub(okta.service.issuer + "/", ALICE),
    "an address that is not verified": email("bob@example.com"),
    "an address of two users": email("twin@example.com"),
    "an unknown address": email("nobody@example.com"),
    "no address": email("alice"),
    "two addresses": email("alice@example.com,twin@example.com"),
    "a name with an address": email("Alice <alice@example.com>"),
    "fullwidth letters": email("\uff41lice@example.com"),
    "a letter that is hers without regard to case": email("al\u0131ce@example.com"),
    "a Kelvin sign": email("\u212aelvin@example.com"),
    "a combining accent": email("a\u0301lice@example.com"),
}


@pytest.mark.parametrize("named", UNKNOWN.values(), ids=UNKNOWN)
async def test_a_user_that_is_not_one_is_not_found(
    okta: Okta, service: RunningService, hers: Callable[[], Awaitable[bool]], named: Any
) -> None:
    body = named(okta) if callable(named) else named
    for answer in (await ask_as(service, "siem", body), await okta.log_out(body)):
        assert answer.refusal == (404, "unknown_user_id")
    assert await hers()


OF_OTHERS: dict[str, Body] = {
    "by sub": opaque(BOB),
    "by iss and sub": lambda okta: iss_sub(okta.service.issuer, BOB),
    "of no tenant": opaque(CAROL),
}


@pytest.mark.parametrize("named", OF_OTHERS.values(), ids=OF_OTHERS)
async def test_a_user_of_another_tenant_is_not_found(
    okta: Okta, service: RunningService, named: Any
) -> None:
    tokens = await service.token(
        "frontend",
        grant_type="password",
        username="bob",
        password="bob-password",
        scope="api1",
    )
    body = named(okta) if callable(named) else named
    answer = await ask_as(service, "acme-siem", body)
    assert answer.refusal == (404, "unknown_user_id")
    assert await service.is_active(tokens["access_token"])
    assert not [each for each in service.events if isinstance(each, SubjectRevoked)]


@pytest.mark.parametrize("body", [HERS, email("alice@example.com")], ids=["opaque", "email"])
async def test_a_user_who_is_not_the_providers_is_not_found(
    okta: Okta, hers: Callable[[], Awaitable[bool]], body: Any
) -> None:
    assert (await okta.log_out(body)).refusal == (404, "unknown_user_id")
    assert await hers()


async def test_a_user_of_another_provider_is_not_found(
    okta: Okta, app: ClientApp, fake: FakeProvider
) -> None:
    sent = await app.authorize(acr_values="idp:elsewhere")
    fake.claims = {"aud": "elsewhere", "email": "a@okta.example", "email_verified": True}
    fake.instead["/token"] = lambda _: _tokens(fake)
    assert "code" in (await app.browser.get(fake.answer(sent))).parameters
    session = await _session(app)
    for body in (
        opaque(session.subject),
        email("a@okta.example"),
        iss_sub(okta.service.issuer, session.subject),
        iss_sub(fake.issuer, "their-alice"),
    ):
        assert (await okta.log_out(body)).refusal == (404, "unknown_user_id")
    assert "code" in (await app.authorize(prompt="none")).parameters


async def _tokens(fake: FakeProvider) -> Any:
    id_token = await fake.signer.sign(fake.identity(), typ="JWT")
    return web.json_response(
        {"access_token": "theirs", "token_type": "Bearer", "id_token": id_token}
    )


async def _session(app: ClientApp) -> Any:
    sessions = app.service.features.shared.sessions
    (session,) = [each async for some in sessions.walk_all() for each in some]
    return session


MALFORMED: dict[str, tuple[Any, int]] = {
    "nothing": ("", 400),
    "no JSON": ("sub_id=818727", 400),
    "a list": ([HERS], 400),
    "a text": ('"818727"', 400),
    "null": ("null", 400),
    "no member": ({}, 400),
    "of the first drafts": ({"subject": HERS["sub_id"]}, 400),
    "sub_id is a text": ({"sub_id": ALICE}, 400),
    "sub_id is a list": ({"sub_id": [HERS["sub_id"]]}, 400),
    "sub_id is null": ({"sub_id": None}, 400),
    "no format": ({"sub_id": {"id": ALICE}}, 400),
    "an unknown format": ({"sub_id": {"format": "account", "uri": "acct:alice@a.example"}}, 400),
    "several in one": ({"sub_id": {"format": "aliases", "identifiers": [HERS["sub_id"]]}}, 400),
    "a format in capitals": ({"sub_id": {"format": "OPAQUE", "id": ALICE}}, 400),
    "format is a number": ({"sub_id": {"format": 1, "id": ALICE}}, 400),
    "a member of another format": ({"sub_id": {"format": "opaque", "sub": ALICE}}, 400),
    "a missing member": ({"sub_id": {"format": "iss_sub", "sub": ALICE}}, 400),
    "an extra member of sub_id": ({"sub_id": HERS["sub_id"] | {"all": True}}, 400),
    "an extra member": (HERS | {"all": True}, 400),
    "an empty id": (opaque(""), 400),
    "an id that is a number": (opaque(818727), 400),  # type: ignore[arg-type]
    "an id that is too long": (opaque("8" * 256), 400),
    "an address that is too long": (email("a" * 250 + "@example.com"), 400),
    "a character of no width": (email("alice\u200b@example.com"), 400),
    "a bidi control": (email("\u202ealice@example.com"), 400),
    "a null": (opaque(ALICE + "\0"), 400),
    "a line break": (opaque(ALICE + "\n"), 400),
    "a lone surrogate": ('{"sub_id": {"format": "opaque", "id": "\\ud800"}}', 400),
    "sub_id twice": ('{"sub_id": {"format": "opaque", "id": "x"}, "sub_id": %s}', 400),
    "id twice": ('{"sub_id": {"format": "opaque", "id": "x", "id": "818727"}}', 400),
    "too deep": (DEEP, 400),
    "not UTF-8": (b'{"sub_id": {"format": "opaque", "id": "\xff"}}', 400),
    "a byte order mark": (b"\xef\xbb\xbf" + json.dumps(HERS).encode(), 400),
    "two documents": (json.dumps(HERS) * 2, 400),
    "NaN": ('{"sub_id": {"format": "opaque", "id": NaN}}', 400),
    "huge": (json.dumps(opaque("8" * 2_000_000)), 413),
}


@pytest.mark.parametrize(("body", "status"), MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_body_is_refused(
    okta: Okta, hers: Callable[[], Awaitable[bool]], body: Any, status: int
) -> None:
    if body == MALFORMED["sub_id twice"][0]:
        body %= json.dumps(HERS["sub_id"])
    answer = await ask_as(okta.service, "siem", body)
    assert answer.refusal == (status, "invalid_request")
    assert await hers()


@pytest.mark.parametrize(
    "content_type",
    [
        *("application/x-www-form-urlencoded", "text/plain", "application/jsonp", ""),
        *("application/json-patch+json", "multipart/form-data", "x" * 300),
    ],
)
async def test_a_body_of_another_type_is_refused(
    service: RunningService, hers: Callable[[], Awaitable[bool]], content_type: str
) -> None:
    authorization = basic("siem", "siem-secret")
    answer = await ask(service, HERS, authorization=authorization, content_type=content_type)
    assert answer.refusal == (415, "invalid_request")
    assert await hers()


@pytest.mark.parametrize("named", ["opaque", "iss_sub"])
async def test_a_client_that_knows_pairwise_subjects_cannot_name_one(
    service: RunningService, hers: Callable[[], Awaitable[bool]], named: str
) -> None:
    client = service.features.shared.registry.current.clients["pairwise"]
    sub = service.features.identifiers.find_sub(client, ALICE)
    for text in (sub, ALICE):
        body = opaque(text) if named == "opaque" else iss_sub(service.issuer, text)
        answer = await ask_as(service, "pairwise", body)
        assert answer.refusal == (400, "invalid_request")
    assert await hers()
    assert (await ask_as(service, "pairwise", email("alice@example.com"))).status == 204


@pytest.mark.usefixtures("hers")
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_another_method_is_refused(service: RunningService, method: str) -> None:
    headers = {"Authorization": basic("siem", "siem-secret")}
    assert (await service.request(method, PATH, headers=headers)).status == 405


async def test_a_refusal_is_an_audit_event_without_the_users_address(
    service: RunningService,
) -> None:
    await ask_as(service, "siem", email("secret@example.com"))
    await ask(service, HERS, authorization=basic("siem", "wrong"))
    refusals = [each for each in service.events if isinstance(each, SubjectRevocationRefused)]
    assert [(each.client_id, each.error) for each in refusals] == [
        ("siem", "unknown_user_id"),
        ("siem", "invalid_client"),
    ]
    assert "secret" not in str(refusals)


async def test_a_provider_that_does_not_answer_is_no_refusal(
    okta: Okta, fake: FakeProvider, hers: Callable[[], Awaitable[bool]]
) -> None:
    jwt = await okta.jwt()
    fake.metadata = {"issuer": "https://other.example"}
    answer = await okta.send(HERS, jwt)
    assert answer.refusal == (503, "temporarily_unavailable")
    assert await hers()


@pytest.mark.usefixtures("fresh_minute")
async def test_requests_are_limited_whether_they_are_authenticated_or_not(
    start: Start, config: dict[str, Any], clock: Clock
) -> None:
    service = await start(config | {"limits": {"revocations_per_minute": 3}})
    answers = [await ask_as(service, "siem", opaque("nobody")) for _ in range(4)]
    assert [each.status for each in answers] == [404, 404, 404, 429]
    assert int(answers[-1].headers["Retry-After"]) > 0
    wrong = [await ask(service, HERS, authorization=basic("siem", "x")) for _ in range(4)]
    assert [each.status for each in wrong] == [401, 401, 401, 429]
    assert (await ask_as(service, "acme-siem", HERS)).status == 204
    clock.forward(minutes=1)
    assert (await ask_as(service, "siem", HERS)).status == 204


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Two users of one address, and clients whose secrets are like the others'."""
    twin = {"name": "Twin", "email": "twin@example.com", "email_verified": True}
    for number in (1, 2):
        user = {"sub": f"twin{number}", "username": f"twin{number}", "tenant": "acme"}
        config["users"]["list"].append(user | {"claims": twin})
    return config


@pytest.fixture
async def hers(service: RunningService) -> Callable[[], Awaitable[bool]]:
    """Return whether alice has still what she had before, and no event says otherwise."""
    browser = Browser(service.issuer)
    app = ClientApp(service, browser)
    tokens = await app.tokens(scope="openid api1 offline_access")
    await browser.close()

    async def has_all() -> bool:
        revoked = [each for each in service.events if isinstance(each, SubjectRevoked)]
        refreshed: Answer = await app.refresh(tokens["refresh_token"])
        return not revoked and refreshed.status == 200

    return has_all
