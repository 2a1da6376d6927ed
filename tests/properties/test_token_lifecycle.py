"""A token is active exactly when a model of forty lines says so (RFC 7662 §2.2, RFC 7009 §2.1)."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import time_machine
import yaml
from aiohttp import ClientSession, DummyCookieJar, web
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.app import create_app
from service.start.load import load
from service.web.server.server import Runner
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import Answer, RunningService

T = TypeVar("T")

INDEX = st.integers(min_value=0, max_value=99)
MAX_ACTORS = 5

CODE_LIFETIME, REPLAY_WINDOW, DAY = 60, 600, 24 * 3600
LONGEST = timedelta(hours=9)
"""Shorter than a session lives unused."""
UNSURE = 5
"""Seconds around an expiry in which nothing is claimed: the test itself takes time."""


@dataclass(eq=False)
class Grant:
    """An authorization or a session, which ends at once with all that came from it."""

    session: Grant | None = None
    revoked: bool = False

    @property
    def ended(self) -> bool:
        """Whether it, or the session that it came from, is over."""
        return self.revoked or (self.session is not None and self.session.ended)


@dataclass(eq=False)
class Token:
    """A code, access token or refresh token, and what its life depends on."""

    kind: str
    text: str
    client: str
    grant: Grant
    expires_at: float
    source: Token | None = None
    revoked: bool = False
    spent_at: float | None = None

    def active(self, now: float) -> bool:
        """Whether it can be used now."""
        if self.revoked or self.grant.ended or self.spent_at is not None:
            return False
        return now < self.expires_at and (self.source is None or self.source.active(now))

    @property
    def depth(self) -> int:
        """The number of actors in a chain of delegation."""
        return 0 if self.source is None else 1 + self.source.depth

    def spend(self, *, marked_for: float) -> bool:
        """Use it up; another use ends its grant. Whether this one works."""
        now = time.time()
        usable = self.active(now)
        if usable:
            self.spent_at = now
        elif self.spent_at is not None and now < self.spent_at + marked_for:
            self.grant.revoked = True
        return usable


@dataclass
class Model:
    """All tokens there are, the browser's session, and how much time has passed."""

    tokens: list[Token] = field(default_factory=list)
    session: Grant | None = None
    passed: timedelta = timedelta()

    def add(self, *token: Any) -> None:
        """Note a token that was issued."""
        self.tokens.append(Token(*token))

    def of(self, kind: str) -> list[Token]:
        """All tokens of a kind."""
        return [token for token in self.tokens if token.kind == kind]

    def pick(self, kind: str, n: int) -> Token:
        """One of them."""
        return self.of(kind)[n % len(self.of(kind))]


class TokenLifecycle(RuleBasedStateMachine):
    """Acts at random as users and clients do, on the service and on the model alike."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.loop = asyncio.Runner()
        self.time = time_machine.travel(time.time(), tick=True)
        self.traveller = self.time.start()
        self.stack = AsyncExitStack()
        self.app = self.run(self.started())
        self.service = self.app.service

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Wait for it."""
        return self.loop.run(coroutine)

    async def started(self) -> ClientApp:
        """A client of the service, which runs on the embedded store, whose time moves too."""
        listening = socket.create_server(("127.0.0.1", 0))
        issuer = f"http://localhost:{listening.getsockname()[1]}"
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        file = Path(folder) / "config.yaml"
        file.write_text(yaml.safe_dump(fresh_configuration() | {"issuer": issuer}))
        service = create_app(load(file, {}), environ={})
        runner = Runner(service.app, shutdown_timeout=1)
        await runner.setup()
        self.stack.push_async_callback(runner.cleanup)
        await web.SockSite(runner, listening).start()
        http = await self.stack.enter_async_context(ClientSession(cookie_jar=DummyCookieJar()))
        browser = Browser(issuer)
        self.stack.push_async_callback(browser.close)
        running = RunningService(issuer=issuer, http=http, features=service.features)
        return ClientApp(running, browser)

    def teardown(self) -> None:
        """Leave nothing running."""
        self.run(self.stack.aclose())
        self.loop.close()
        self.time.stop()

    def answered(
        self, answer: Answer, client: str, grant: Grant, source: Token | None = None
    ) -> None:
        """Note the tokens of an answer."""
        assert answer.status == 200, answer.body
        ends = time.time() + answer["expires_in"]
        self.model.add("access_token", answer["access_token"], client, grant, ends, source)
        if "refresh_token" in answer.json:
            ends = time.time() + 30 * DAY
            self.model.add("refresh_token", answer["refresh_token"], client, grant, ends)

    @rule(client=st.sampled_from(["frontend", "opaque"]), offline=st.booleans())
    def sign_in_by_password(self, client: str, offline: bool) -> None:
        scope = "api1 offline_access" if offline else "api1"
        self.answered(self.run(self.service.user_token(client, scope)), client, Grant())

    @rule(offline=st.booleans())
    def sign_in_by_browser(self, offline: bool) -> None:
        scope = "openid api1 offline_access" if offline else "openid api1"
        code = self.run(self.app.code(scope=scope))
        self.model.session = self.model.session or Grant()
        grant = Grant(session=None if offline else self.model.session)
        self.model.add("code", code, "web", grant, time.time() + CODE_LIFETIME)

    @precondition(lambda self: self.model.of("code"))
    @rule(n=INDEX)
    def redeem(self, n: int) -> None:
        code = self.model.pick("code", n)
        works = code.spend(marked_for=CODE_LIFETIME + REPLAY_WINDOW)
        answer = self.run(self.app.redeem(code.text))
        if works:
            self.answered(answer, "web", code.grant)
        else:
            assert answer.refusal == (400, "invalid_grant")

    @precondition(lambda self: self.model.of("refresh_token"))
    @rule(n=INDEX)
    def refresh(self, n: int) -> None:
        token = self.model.pick("refresh_token", n)
        works = token.spend(marked_for=30 * DAY)
        form = {"grant_type": "refresh_token", "refresh_token": token.text}
        answer = self.run(self.service.token(token.client, **form))
        if works:
            self.answered(answer, token.client, token.grant)
        else:
            assert answer.refusal == (400, "invalid_grant")

    @precondition(lambda self: self.model.of("access_token"))
    @rule(n=INDEX)
    def delegate(self, n: int) -> None:
        source = self.model.pick("access_token", n)
        works = source.active(time.time()) and source.depth < MAX_ACTORS
        form = {"grant_type": "delegation", "token": source.text, "scope": "api2"}
        answer = self.run(self.service.token("gateway", **form))
        if works:
            self.answered(answer, "gateway", source.grant, source)
        else:
            assert answer.refusal == (400, "invalid_grant")

    @precondition(lambda self: self.model.of("access_token"))
    @rule(n=INDEX)
    def revoke_an_access_token(self, n: int) -> None:
        token = self.model.pick("access_token", n)
        self.revoke(token)
        token.revoked = True

    @precondition(lambda self: self.model.of("refresh_token"))
    @rule(n=INDEX)
    def revoke_a_grant(self, n: int) -> None:
        token = self.model.pick("refresh_token", n)
        self.revoke(token)
        token.grant.revoked = True

    def revoke(self, token: Token) -> None:
        """Give a token back."""
        form: dict[str, Any] = {"auth": token.client, "token": token.text}
        assert self.run(self.service.post("/connect/revocation", **form)).status == 200

    @precondition(lambda self: self.model.session)
    @rule()
    def log_out(self) -> None:
        assert self.model.session is not None
        page = self.run(self.app.browser.get("/connect/endsession"))
        page = self.run(self.app.browser.submit(page))
        assert page.has("logout-success")
        self.model.session.revoked = True
        self.model.session = None

    @precondition(lambda self: self.model.passed < LONGEST)
    @rule(
        span=st.sampled_from([timedelta(seconds=13), timedelta(minutes=7), timedelta(minutes=29)])
    )
    def pass_time(self, span: timedelta) -> None:
        self.traveller.shift(span)
        self.model.passed += span

    @invariant()
    def introspection_agrees(self) -> None:
        now = time.time()
        sure = [one for one in self.model.tokens if abs(one.expires_at - now) > UNSURE]
        told = self.run(self.told_of([one for one in sure if one.kind != "code"]))
        assert told == {token.text: token.active(now) for token in sure if token.kind != "code"}

    async def told_of(self, tokens: list[Token]) -> dict[str, bool]:
        """The answers of introspection to these tokens, each to its own client."""
        asked = (self.service.is_active(token.text, caller=token.client) for token in tokens)
        answers = await asyncio.gather(*asked)
        return {token.text: active for token, active in zip(tokens, answers, strict=True)}


TestTokenLifecycle = TokenLifecycle.TestCase
TestTokenLifecycle.settings = settings(max_examples=20, stateful_step_count=25)
