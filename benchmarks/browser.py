"""The works of browsers that are measured, and what each needs prepared in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlencode

from msgspec.structs import replace

from benchmarks.load import Requests
from benchmarks.users import USER_COUNT, subject
from benchmarks.work import (
    DAY,
    HOUR,
    SECRET,
    VERIFIER,
    Prepare,
    Work,
    authorization_of,
    basic,
    give_authorizations,
    user_token,
    write_all,
)
from service.authorize.parking import PUSHED
from service.clock import clock
from service.identity.password_sign_in import AMR
from service.model.handle import digest, new_handle, new_selector
from service.model.session import Session
from service.model.user import LOCAL
from service.protocol.authorization_request import browser_state_of
from service.protocol.params import Params
from service.protocol.pkce import s256
from service.store.verbs import Command
from service.tokens.id_token import HashedArtifacts
from service.web.pages.cookies import Cookie
from service.web.visits import csrf_token
from service.wiring.features import Features
from service.wiring.serving import build_cookies

SCOPE = frozenset({"openid", "profile"})
CALLBACK, AFTER_LOGOUT = "https://web.example/callback", "https://web.example/"
BROWSER = "b" * 32
"""The mark of every browser; it proves nothing."""
TOGETHER = 100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session, and the cookies of its browser."""

    session: Session
    cookie: str


def authorization_query(client_id: str = "web", **others: str) -> dict[str, str]:
    """The parameters of an authorization request."""
    return {
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "response_type": "code",
        "scope": "openid profile" if client_id == "asking" else "openid profile api1",
        "state": "a-state-of-the-client",
        "nonce": "a-nonce-of-the-client",
        "code_challenge": s256(VERIFIER),
        "code_challenge_method": "S256",
        **others,
    }


def authorize(**others: str) -> Prepare:
    """Clients ask for codes for users with a session each, who take turns."""

    async def prepare(features: Features, folder: Path, _: int) -> Requests:
        users = await _sign_in(features, range(USER_COUNT))
        query, file = urlencode(authorization_query(**others)), folder / f"authorize{len(others)}"
        file.write_text("".join(f"{query}\t\t{each.cookie}\n" for each in users))
        shows = 'name="code"' if "response_mode" in others else "code=ac_"
        return _authorize_by(file, shows=shows, in_turns=True)

    return prepare


async def authorize_pushed(features: Features, folder: Path, most: int) -> Requests:
    """The same with requests that the client has pushed, each of which is used up."""
    client = features.shared.registry.current.clients["web"]
    users = await _sign_in(features, range(USER_COUNT))
    params = Params({name: (value,) for name, value in authorization_query().items()})
    push = features.arriving.pushed.push
    uris = await _in_steps(push(params, client, address="192.0.2.1") for _ in range(most))
    file = folder / "pushed"
    beginning = f"client_id=web&request_uri={quote(PUSHED)}"
    cookies = [users[number % USER_COUNT].cookie for number in range(most)]
    pairs = zip(uris, cookies, strict=True)
    file.write_text("".join(f"{beginning}{uri}\t\t{cookie}\n" for uri, cookie in pairs))
    return _authorize_by(file, shows="code=ac_")


def authorize_as_one(authorizations: int) -> Prepare:
    """The same for one user alone, who has so many authorizations."""

    async def prepare(features: Features, folder: Path, _: int) -> Requests:
        number = 20 + len(str(authorizations))  # no other work's
        (user,) = await _sign_in(features, [number])
        await give_authorizations(features, subject(number), authorizations)
        file = folder / f"one{authorizations}"
        file.write_text(f"{urlencode(authorization_query())}\t\t{user.cookie}\n")
        return _authorize_by(file, shows="code=ac_", in_turns=True)

    return prepare


def _authorize_by(file: Path, *, shows: str, in_turns: bool = False) -> Requests:
    return Requests(
        path="/connect/authorize", bodies=file, are_queries=True, in_turns=in_turns, shows=shows
    )


async def authorize_without_session(_: Features, __: Path, ___: int) -> Requests:
    """A new browser is sent to the login page, and its request is parked."""
    path = f"/connect/authorize?{urlencode(authorization_query())}"
    return Requests(path=path, shows="/account/login?request=")


async def login_page(features: Features, _: Path, __: int) -> Requests:
    """The page with the fields for user name and password."""
    (parked,) = await _park(features, authorization_query(), 1)
    path = f"/account/login?request={parked}"
    return Requests(path=path, cookie=_cookies(features, {Cookie.BROWSER: BROWSER}), shows=parked)


async def own_login_page(features: Features, _: Path, __: int) -> Requests:
    """The same for a browser that no client has sent."""
    cookie = _cookies(features, {Cookie.BROWSER: BROWSER})
    return Requests(path="/account/login", cookie=cookie, shows='id="login-form"')


async def login(features: Features, folder: Path, most: int) -> Requests:
    """Users sign in with a password whose hash costs next to nothing, and go on to the client with a code."""
    parked = await _park(features, authorization_query(), most)
    forms = [
        {
            "csrf": csrf_token(BROWSER),
            "request": one,
            "username": subject(number % USER_COUNT),
            "password": SECRET,
            "action": "login",
        }
        for number, one in enumerate(parked)
    ]
    cookie = _cookies(features, {Cookie.BROWSER: BROWSER})
    return _forms("/account/login", folder / "logins", forms, [cookie] * most)


async def consent(features: Features, folder: Path, most: int) -> Requests:
    """Users allow what a client asks for, and go on to it with a code."""
    parked = await _park(features, authorization_query("asking"), most)
    users = await _sign_in(features, range(USER_COUNT))
    who = [users[number % USER_COUNT] for number in range(most)]
    forms = [
        {
            "csrf": csrf_token(BROWSER),
            "request": one,
            "session_id": each.session.id,
            "scope": "profile",
            "action": "allow",
        }
        for one, each in zip(parked, who, strict=True)
    ]
    return _forms("/account/consent", folder / "consents", forms, [each.cookie for each in who])


def _forms(
    path: str, file: Path, forms: Sequence[Mapping[str, str]], cookies: Sequence[str]
) -> Requests:
    pairs = zip(forms, cookies, strict=True)
    file.write_text("".join(f"{urlencode(form)}\t\t{cookie}\n" for form, cookie in pairs))
    return Requests(path=path, bodies=file, shows="code=ac_")


def userinfo(client_id: str) -> Prepare:
    """A client asks for the claims of a user by an access token."""

    async def prepare(features: Features, _: Path, __: int) -> Requests:
        token = await user_token(features, client_id, scope=SCOPE)
        path, sent = "/connect/userinfo", f"Bearer {token}"
        return Requests(path=path, authorization=sent, shows="Alice Smith")

    return prepare


async def push(_: Features, __: Path, ___: int) -> Requests:
    """A client pushes an authorization request."""
    path, form = "/connect/par", urlencode(authorization_query())
    return Requests(path=path, authorization=basic("web"), body=form, shows="request_uri")


async def logout(features: Features, folder: Path, most: int) -> Requests:
    """Users come from their client with an ID token of their session, which ends."""
    users = await _sign_in(features, [number % USER_COUNT for number in range(most)])
    client = features.shared.registry.current.clients["web"]
    lines: list[str] = []
    for user in users:
        authorization = replace(
            authorization_of(sub=user.session.subject), session_id=user.session.id
        )
        hint = await features.id_tokens.mint(
            authorization, client, HashedArtifacts(), nonce=None, user_claims={}, now=clock()
        )
        query = urlencode({"id_token_hint": hint, "post_logout_redirect_uri": AFTER_LOGOUT})
        lines.append(f"{query}\t\t{user.cookie}\n")
    file = folder / "logouts"
    file.write_text("".join(lines))
    return Requests(path="/connect/endsession", bodies=file, are_queries=True, shows=AFTER_LOGOUT)


async def logout_question(features: Features, folder: Path, _: int) -> Requests:
    """The page that asks users who come from their client without an ID token."""
    users = await _sign_in(features, range(USER_COUNT))
    asked = {"client_id": ("web",), "post_logout_redirect_uri": (AFTER_LOGOUT,)}
    park = features.parked_logouts.park
    parked = await _in_steps(
        park(Params(asked), browser=BROWSER, address="192.0.2.1") for _ in users
    )
    file = folder / "logout-questions"
    pairs = zip(parked, users, strict=True)
    file.write_text("".join(f"request={one}\t\t{user.cookie}\n" for one, user in pairs))
    shows = 'name="session_id"'
    return Requests(
        path="/account/logout", bodies=file, are_queries=True, in_turns=True, shows=shows
    )


async def device_page(_: Features, __: Path, ___: int) -> Requests:
    """The page with the field for a device's code, for a new browser."""
    return Requests(path="/device", shows="user_code")


async def _sign_in(features: Features, numbers: Sequence[int]) -> list[SignedIn]:
    """Begin a session for each of these users."""
    sessions, now = features.shared.stores.sessions, clock()
    signed_in: list[SignedIn] = []
    writes: list[Command] = []
    for number in numbers:
        cookie = new_handle("session", new_selector())
        session = Session(
            id=cookie.selector,
            cookie_digest=cookie.digest,
            subject=subject(number),
            idp=LOCAL,
            amr=AMR,
            auth_time=now,
            started_at=now,
            ends_at=now + DAY,
            remember=False,
            user_agent="",
            browser_digest=digest(BROWSER),
        )
        cookies = {
            Cookie.BROWSER: BROWSER,
            Cookie.SESSION: cookie.text,
            Cookie.BROWSER_STATE: browser_state_of(session.id),
        }
        signed_in.append(SignedIn(session, _cookies(features, cookies)))
        writes.append(sessions.put(session, session.id, ttl=HOUR))
    await write_all(features, writes)
    return signed_in


async def _park(features: Features, query: Mapping[str, str], count: int) -> list[str]:
    """Keep so many requests of the browser, and return their ids."""
    params = Params({name: (value,) for name, value in query.items()})
    park = features.parked_requests.park
    return await _in_steps(park(params, browser=BROWSER, address="192.0.2.1") for _ in range(count))


async def _in_steps(awaited: Iterable[Awaitable[T]]) -> list[T]:
    found, left = list[T](), iter(awaited)
    while some := [*islice(left, TOGETHER)]:
        found += await asyncio.gather(*some)
    return found


def _cookies(features: Features, values: Mapping[Cookie, str]) -> str:
    """Return the header with these cookies."""
    shared = features.shared
    names = build_cookies(shared.issuer, shared.configuration.session)
    return "; ".join(f"{names.name(cookie)}={value}" for cookie, value in values.items())


BROWSER_WORKS: tuple[Work, ...] = (
    Work(
        name="authorize, session to code",
        prepare=authorize(),
        floor="authorize",
        round_trips=3,
        at_least=0.7,
        at_least_of_peer=3.0,
    ),
    Work(
        name="authorize, session to form_post",
        prepare=authorize(response_mode="form_post"),
        floor="authorize-form-post",
        round_trips=3,
        at_least=0.7,
        at_least_of_peer=3.0,
    ),
    Work(
        name="authorize, prompt=none",
        prepare=authorize(prompt="none"),
        floor="authorize",
        round_trips=3,
        at_least=0.7,
    ),
    Work(
        name="authorize, pushed request",
        prepare=authorize_pushed,
        floor="authorize-pushed",
        round_trips=4,
        at_least=0.7,
        at_least_of_peer=3.0,
        once=True,
        most_per_second=8_000,
    ),
    Work(
        name="authorize, one user",
        prepare=authorize_as_one(1),
        floor="authorize",
        round_trips=3,
        at_least=0.7,
    ),
    Work(
        name="authorize, one user with 10,000 grants",
        prepare=authorize_as_one(10_000),
        floor="authorize",
        round_trips=3,
        at_least=0.7,
        beside=("authorize, one user", 0.95),
    ),
    Work(
        name="authorize, no session",
        prepare=authorize_without_session,
        floor="authorize-parked",
        round_trips=1,
        at_least=0.7,
        at_least_of_peer=3.0,
    ),
    Work(
        name="login page",
        prepare=login_page,
        floor="login-page",
        round_trips=2,
        at_least=0.66,
    ),
    Work(
        name="login page, no client",
        prepare=own_login_page,
        floor="own-login-page",
        round_trips=1,
        at_least=0.66,
    ),
    Work(
        name="login with a password to code",
        prepare=login,
        floor="login",
        round_trips=5,
        at_least=0.5,
        once=True,
        most_per_second=3_000,
    ),
    Work(
        name="consent to code",
        prepare=consent,
        floor="consent",
        round_trips=4,
        at_least=0.5,
        once=True,
        most_per_second=4_000,
    ),
    Work(
        name="userinfo, reference token",
        prepare=userinfo("web"),
        floor="userinfo-reference",
        round_trips=1,
        at_least=0.7,
        at_least_of_peer=3.0,
    ),
    Work(
        name="userinfo, ES256 JWT",
        prepare=userinfo("signed"),
        floor="userinfo-jwt",
        round_trips=1,
        at_least=0.9,
    ),
    Work(
        name="logout with an ID token",
        prepare=logout,
        floor="logout",
        round_trips=3,
        at_least=0.5,
        once=True,
        most_per_second=6_000,
    ),
    Work(
        name="logout, the question",
        prepare=logout_question,
        floor="logout-question",
        round_trips=2,
        at_least=0.66,
        at_least_of_peer=3.0,
    ),
    Work(
        name="pushed authorization request",
        prepare=push,
        floor="push",
        round_trips=1,
        at_least=0.7,
        at_least_of_peer=3.0,
    ),
    Work(
        name="device page",
        prepare=device_page,
        floor="device-page",
        round_trips=0,
        at_least=0.66,
        at_least_of_peer=3.0,
    ),
)
