"""The least that each work of a browser can cost: what it asks of Redis, signs and renders, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

import aiohttp_jinja2
import jinja2
import orjson
from aiohttp import web
from argon2 import PasswordHasher

from benchmarks.users import CHEAP_HASH
from benchmarks.work import SECRET
from service.keys.jose import Key, verify
from service.keys.sealing import open_by_id, seal_as_before, seal_by_id
from service.store.engine.channels import Multiplexed
from service.store.verbs import INDEX_ADD, Command, lengthen

PATIENCE = 60
"""Seconds; a profiler makes Redis wait for the program, and the program for Redis."""
SESSION, USER, GRANT, PARKED = (f"ts:{{{letter * 16}}}" for letter in "SUGP")
"""The beginnings of keys, which lie in different slots of a Cluster."""
DIGEST, TTL = "d" * 43, 3600
RECORD, CODE = b'"' + b"r" * 380 + b'"', b'+"' + b"c" * 130 + b'"'
"""As long as a session or an authorization, and a code, are as records."""
NOW, THEN = 1_795_000_000, 1_795_003_600
_ID = "i" * 26


def _index(key: str) -> Command:
    return ("EVAL", INDEX_ADD, 1, key, NOW, THEN, "AAAAAAAAAAAAAAAA")


READ_SESSION: Command = ("GET", f"{SESSION}:ss")
READ_PARKED: Sequence[Command] = (("GET", f"{PARKED}:pk"), ("GET", f"{PARKED}:pa"))
READ_FACTORS: Command = ("GET", f"{USER}:fa")
READ_CONSENT: Command = ("GET", f"{USER}:co:{DIGEST}")
USE_SESSION: Sequence[Command] = (
    ("SET", f"{SESSION}:su", 1, "EX", TTL),
    lengthen(f"{SESSION}:ss", TTL),
)
WRITE_GRANT: Sequence[Command] = (
    *USE_SESSION,
    _index(f"{USER}:ua"),
    _index(f"{SESSION}:sa"),
    ("SET", f"{GRANT}:az", RECORD, "EX", TTL),
    ("SET", f"{GRANT}:ac:{DIGEST}", CODE, "EX", TTL),
    _index(f"{USER}:uk:{DIGEST}"),
    ("GET", f"{USER}:ae"),
)
CLAIM: Command = ("SET", f"{PARKED}:pa", b'"AAAAAAAAAAAAAAAA"', "EX", TTL)
UNPARK: Command = ("DEL", f"{PARKED}:px")
READ_FAILURES: Sequence[Command] = tuple(("GET", f"{USER}:lf:{number}") for number in range(4))
BEGIN_SESSION: Sequence[Command] = (
    _index(f"{USER}:us"),
    ("EVAL", "return 0", 1, f"{SESSION}:sc"),
    ("SET", f"{SESSION}:ss", RECORD, "EX", TTL),
    ("SET", f"{SESSION}:fl", RECORD[:60], "EX", TTL),
    *(("DEL", f"{USER}:lf:{number}") for number in range(2)),
)
LISTED: Sequence[Command] = tuple(
    ("ZRANGEBYSCORE", f"{SESSION}:{name}", f"({NOW}", "+inf") for name in ("xc", "xa")
)
END_SESSION: Sequence[Command] = (
    ("DEL", f"{SESSION}:xu"),
    ("ZREM", f"{USER}:us", "x"),
    ("DEL", f"{SESSION}:xs"),
)

LOCATION = "https://web.example/callback?" + "c" * 240
USERINFO = orjson.dumps({"sub": "818727", "name": "Alice Smith"})
PUSHED = orjson.dumps({"request_uri": "u" * 66, "expires_in": 90})

BASE = """\
<!doctype html><html lang="{{ lang }}"><head><title>{{ title }}</title>
<link rel="icon" href="{{ icon }}"><link rel="stylesheet" href="{{ style }}"></head>
<body><main><h1>{% block heading %}{% endblock %}</h1>{% block content %}{% endblock %}</main></body></html>
"""
PAGE = """\
{% extends "base.html" %}
{% block heading %}{{ title }}{% endblock %}
{% block content %}<form method="post" action="{{ action }}">
{% for name, value in fields %}<input name="{{ name }}" value="{{ value }}">{% endfor %}
{% if error %}<p>{{ error }}</p>{% endif %}<button>{{ button }}</button></form>FILLED{% endblock %}
"""
SIZES = {"login": 3353, "own_login": 3009, "device": 1543, "form_post": 1541, "logout": 1501}
"""Bytes of the service's pages."""
FIELDS = [("csrf", "c" * 44), ("request", "r" * 28), ("username", ""), ("password", "")]
TEXTS = {"lang": "en", "title": "Sign in", "icon": "/static/icon.svg", "style": "/static/style.css"}
FORM = {**TEXTS, "action": "/account/login", "button": "Sign in", "fields": FIELDS, "error": None}
HEADERS = {"Cache-Control": "no-store", "Content-Security-Policy": "p" * 150}


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserFloor:
    """One handler for each work, by the work's name."""

    redis: Multiplexed
    es256: Key
    jwt: str
    parked: str
    """The parameters of a request that waits, encrypted."""
    pushed: str
    """The same of a request that its client has pushed."""

    def handlers(self) -> Mapping[str, Callable[[web.Request], Awaitable[web.Response]]]:
        """The endpoint at `/<name>`."""
        return {
            "authorize": self.authorize,
            "authorize-form-post": self.authorize_form_post,
            "authorize-pushed": self.authorize_pushed,
            "authorize-parked": self.authorize_parked,
            "login-page": self.login_page,
            "own-login-page": self.own_login_page,
            "login": self.login,
            "consent": self.consent,
            "userinfo-reference": self.userinfo_reference,
            "userinfo-jwt": self.userinfo_jwt,
            "logout": self.logout,
            "logout-question": self.logout_question,
            "push": self.push,
            "device-page": self.device_page,
        }

    async def authorize(self, request: web.Request) -> web.Response:
        """A session read, and a code written with its authorization; the session is prolonged, and factors are read."""
        parse_qsl(request.query_string)
        await self._ask(READ_SESSION)
        await self._ask(*WRITE_GRANT, READ_FACTORS)
        return _see_other(LOCATION)

    async def authorize_form_post(self, request: web.Request) -> web.Response:
        """The same, and a page."""
        await self.authorize(request)
        return _page(request, "form_post")

    async def authorize_pushed(self, request: web.Request) -> web.Response:
        """The same of a request that is read, decrypted and used up."""
        parse_qsl(request.query_string)
        await self._ask(*READ_PARKED, READ_SESSION)
        _open(self.pushed)
        await self._ask(READ_FACTORS)
        await self._ask(*WRITE_GRANT, CLAIM, UNPARK)
        return _see_other(LOCATION)

    async def authorize_parked(self, request: web.Request) -> web.Response:
        """A request encrypted and kept."""
        parse_qsl(request.query_string)
        await self._ask(_keep(seal(seal_as_before)))
        return _see_other(LOCATION[:80])

    async def login_page(self, request: web.Request) -> web.Response:
        """A request read and decrypted, a challenge written, and a page."""
        parse_qsl(request.query_string)
        await self._ask(*READ_PARKED)
        _open(self.parked)
        await self._ask(("SET", f"{PARKED}:wc", DIGEST, "EX", TTL))
        return _page(request, "login")

    async def own_login_page(self, request: web.Request) -> web.Response:
        """A page, and no challenge."""
        return _page(request, "own_login")

    async def login(self, request: web.Request) -> web.Response:
        """A request read, a password verified in a thread, a session and a code written."""
        await _form(request)
        await self._ask(*READ_PARKED, *READ_FAILURES)
        _open(self.parked)
        await asyncio.to_thread(PasswordHasher().verify, CHEAP_HASH, SECRET)
        await self._ask(READ_FACTORS)
        await self._ask(*BEGIN_SESSION, *WRITE_GRANT, CLAIM, UNPARK)
        return _see_other(LOCATION)

    async def consent(self, request: web.Request) -> web.Response:
        """A session and a request read, and a code written."""
        await _form(request)
        await self._ask(*READ_PARKED, READ_SESSION)
        _open(self.parked)
        await self._ask(READ_CONSENT, READ_FACTORS)
        await self._ask(*WRITE_GRANT, CLAIM, UNPARK)
        return _see_other(LOCATION)

    async def userinfo_reference(self, _: web.Request) -> web.Response:
        """Two reads."""
        await self._ask(("GET", f"{GRANT}:at:{DIGEST}"), ("GET", f"{GRANT}:az"))
        return web.Response(body=USERINFO, content_type="application/json")

    async def userinfo_jwt(self, request: web.Request) -> web.Response:
        """The same, and a signature verified."""
        verify(self.jwt, lambda _: self.es256, typ={"at+jwt"})
        return await self.userinfo_reference(request)

    async def logout(self, request: web.Request) -> web.Response:
        """A signature verified, and a session ended with what is listed below it, looked at once more."""
        parse_qsl(request.query_string)
        verify(self.jwt, lambda _: self.es256, typ={"at+jwt"})
        await self._ask(READ_SESSION)
        await self._ask(*LISTED)
        await self._ask(*END_SESSION, *LISTED)
        return _see_other("https://web.example/")

    async def logout_question(self, request: web.Request) -> web.Response:
        """A session and a request read, the session prolonged, and a page."""
        parse_qsl(request.query_string)
        await self._ask(READ_SESSION, *READ_PARKED)
        _open(self.parked)
        await self._ask(*USE_SESSION)
        return _page(request, "logout")

    async def push(self, request: web.Request) -> web.Response:
        """A request encrypted and kept."""
        await _form(request)
        await self._ask(_keep(seal(seal_by_id)))
        return web.Response(body=PUSHED, status=201, content_type="application/json")

    async def device_page(self, request: web.Request) -> web.Response:
        """A page."""
        return _page(request, "device")

    async def _ask(self, *commands: Command) -> None:
        await self.redis.ask(commands, seconds=PATIENCE)


def set_up_pages(app: web.Application) -> None:
    """Let the application render pages that are as long as the service's."""
    fields = "".join(f"{name}{value}" for name, value in FIELDS)
    shown = len(BASE) + len(PAGE) + len(fields) - 250
    pages = {
        f"{name}.html": PAGE.replace("FILLED", "f" * (size - shown)) for name, size in SIZES.items()
    }
    aiohttp_jinja2.setup(app, loader=jinja2.DictLoader({"base.html": BASE, **pages}))


def seal(by: Callable[[bytes, str, bytes], str]) -> str:
    """Return the parameters of a request as they are kept while their user is asked."""
    params = {"client_id": "web", "scope": "openid profile api1", "state": "s" * 390}
    return by(orjson.dumps(params), _ID, b"floor")


def _open(sealed: str) -> None:
    orjson.loads(open_by_id(sealed, _ID, b"floor"))


def _keep(sealed: str) -> Command:
    return ("SET", f"{PARKED}:pn", sealed, "EX", TTL)


async def _form(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl((await request.read()).decode()))


def _page(request: web.Request, name: str) -> web.Response:
    page = aiohttp_jinja2.render_template(f"{name}.html", request, FORM)
    page.headers.update(HEADERS)
    return page


def _see_other(location: str) -> web.Response:
    return web.Response(status=303, headers={"Location": location, "Cache-Control": "no-store"})
