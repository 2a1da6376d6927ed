"""The least that each work can cost: a bare aiohttp handler on the same connection to Redis.

It parses the same input, does the same commands or signature, gives an answer of the same size,
and nothing else: no client is authenticated, nothing is validated, logged or counted.
`python -m benchmarks.floor PORT REDIS_URL` serves it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import orjson
import uvloop
from aiohttp import web

from benchmarks.browser_floor import (
    GRANT,
    PATIENCE,
    READ_PARKED,
    READ_SESSION,
    BrowserFloor,
    seal,
    set_up_pages,
)
from service.clients.proofs import read_proof
from service.keys.jose import Key, verify
from service.keys.sealing import seal_as_before, seal_by_id
from service.store.engine.channels import Multiplexed
from service.store.engine.server import Server
from service.store.verbs import INDEX_ADD, INDEX_ADD_IF, Command, drop, lengthen, new_pace, pace

TAG = "ts:{AAAAAAAAAAAAAAAA}"
DIGEST = "d" * 43
TTL = 3600
RECORD = b'"' + b"r" * 330 + b'"'
"""As long as an authorization or a token's claims are as records."""

REFRESH, SPENT = b"+" + b"r" * 99, b"-" + b"s" * 49
"""As long as a refresh token's record is, and what takes its place when it is used."""

READ_TWO: Sequence[Command] = (("GET", f"{TAG}:at:{DIGEST}"), ("GET", f"{TAG}:az"))
PUT: Command = ("SET", f"{TAG}:at:{DIGEST}", RECORD, "EX", TTL)

PROVE: Command = ("SET", f"ts:{{{DIGEST}}}:dp", b'"AAAAAAAAAAAAAAAA"', "EX", TTL, "NX")


def _index(key: str, member: str) -> Command:
    return ("EVAL", INDEX_ADD, 1, key, 1_795_000_000, 1_795_003_600, member)


ROTATE: Sequence[Command] = (
    ("SET", f"{TAG}:rt:{DIGEST}", SPENT, "EX", TTL, "XX", "GET"),
    PUT,
    ("SET", f"{TAG}:rt:{DIGEST}x", REFRESH, "EX", TTL, "NX"),
)
PROLONG: Sequence[Command] = (
    _index(f"ts:{{{DIGEST}}}:ua", "AAAAAAAAAAAAAAAA"),
    lengthen(f"{TAG}:az", TTL),
)
UNLIST: Command = ("ZREM", f"ts:{{{DIGEST}}}:uk:{DIGEST}", f"AAAAAAAAAAAAAAAA:{DIGEST}")
BELOW = (f"{TAG}:de:{DIGEST}", f"{TAG}:at:{DIGEST}")
UNTIL = (1_795_000_000, 1_795_003_600)
DELEGATE: Command = (
    *("EVAL", INDEX_ADD_IF, 3, *BELOW, f"{TAG}:at:{DIGEST[1:]}x"),
    *(*UNTIL, DIGEST, 1, "SET", RECORD, "EX", TTL),
)
DERIVED: Command = ("EXISTS", BELOW[0], f"{TAG}:de:x")
REVOKED: Command = ("SET", f"{TAG}:rv:{DIGEST}", b"true", "EX", TTL)
EXCHANGE: Command = ("EVAL", INDEX_ADD_IF, 2, *BELOW, *UNTIL, DIGEST[:38], 1)

PACE_KEY = f"{TAG}:pp:{DIGEST}"
POLL: Sequence[Command] = (
    pace(PACE_KEY, 1_795_000_000, "AAAAAAAAAAAAAAAA"),
    ("GET", f"{TAG}:az"),
    ("GET", f"{TAG}:pd:{DIGEST}"),
)

CLAIMS = {"iss": "http://localhost:8080", "sub": "818727", "aud": "x" * 130, "exp": 1}
ISSUED = {"token_type": "Bearer", "expires_in": TTL}
OPAQUE = orjson.dumps({"access_token": "a" * 68, **ISSUED, "scope": "api1"})
WAITING = orjson.dumps(
    {"error": "authorization_pending", "error_description": "the user has not decided yet"}
)
INTROSPECTION = orjson.dumps({"active": True, "claims": "c" * 275})


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """One handler for each work, by the work's name."""

    redis: Multiplexed
    es256: Key
    rs256: Key
    jwt: str
    document: bytes
    jwks: bytes

    def handlers(self) -> Mapping[str, Callable[[web.Request], Awaitable[web.Response]]]:
        """The endpoint at `/<name>`."""
        return {
            "introspect-reference": self.introspect_reference,
            "introspect-jwt": self.introspect_jwt,
            "gateway-check": self.gateway_check,
            "client-credentials-reference": self.client_credentials_reference,
            "client-credentials-es256": self.client_credentials_es256,
            "client-credentials-rs256": self.client_credentials_rs256,
            "client-credentials-dpop": self.client_credentials_dpop,
            "refresh": self.refresh,
            "code": self.code,
            "device-poll": self.device_poll,
            "delegation": self.delegation,
            "token-exchange": self.token_exchange,
            "transaction-token": self.transaction_token,
            "revocation": self.revocation,
            "discovery": self.discovery,
            "jwks-document": self.key_set,
        }

    async def introspect_reference(self, request: web.Request) -> web.Response:
        """Two reads in one round trip."""
        await _form(request)
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        return _json(INTROSPECTION)

    async def introspect_jwt(self, request: web.Request) -> web.Response:
        """A signature verified, and two reads."""
        await _form(request)
        verify(self.jwt, lambda _: self.es256, typ={"at+jwt"})
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        return _json(INTROSPECTION)

    async def gateway_check(self, _: web.Request) -> web.Response:
        """Two reads in one round trip, and no body."""
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        return web.Response(headers={"X-Token-Subject": "818727", "X-Token-Client": "web"})

    async def client_credentials_reference(self, request: web.Request) -> web.Response:
        """One write."""
        await _form(request)
        await self.redis.ask((PUT,), seconds=PATIENCE)
        return _json(OPAQUE)

    async def client_credentials_es256(self, request: web.Request) -> web.Response:
        """One ES256 signature."""
        await _form(request)
        return _token(self.es256.sign_at_once(CLAIMS, typ="at+jwt"))

    async def client_credentials_rs256(self, request: web.Request) -> web.Response:
        """One RS256 signature, in a thread as in the service."""
        await _form(request)
        return _token(await self.rs256.sign(CLAIMS, typ="at+jwt"))

    async def client_credentials_dpop(self, request: web.Request) -> web.Response:
        """A proof verified and remembered, and one ES256 signature."""
        await _form(request)
        read_proof(request.headers["DPoP"])
        await self.redis.ask((PROVE,), seconds=PATIENCE)
        return _token(self.es256.sign_at_once(CLAIMS, typ="at+jwt"))

    async def refresh(self, request: web.Request) -> web.Response:
        """Two reads, an identity token signed, and all writes in a second round trip."""
        return await self._continue(request, ROTATE)

    async def code(self, request: web.Request) -> web.Response:
        """The same, and the authorization is kept for longer, and the code is taken from its list."""
        return await self._continue(request, (*PROLONG, *ROTATE, UNLIST))

    async def _continue(self, request: web.Request, writes: Sequence[Command]) -> web.Response:
        await _form(request)
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        id_token = self.es256.sign_at_once(CLAIMS, typ="JWT")
        await self.redis.ask(writes, seconds=PATIENCE)
        tokens = {"access_token": "a" * 68, "refresh_token": "r" * 68, "id_token": id_token}
        return _json(orjson.dumps({**tokens, **ISSUED, "scope": "api1 offline_access openid"}))

    async def device_poll(self, request: web.Request) -> web.Response:
        """The pace noted and two reads, in one round trip."""
        await _form(request)
        await self.redis.ask(POLL, seconds=PATIENCE)
        return web.Response(body=WAITING, status=400, content_type="application/json")

    async def delegation(self, request: web.Request) -> web.Response:
        """Two reads, and the writes of a token below another."""
        await _form(request)
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        await self.redis.ask((DELEGATE,), seconds=PATIENCE)
        return _json(OPAQUE)

    async def token_exchange(self, request: web.Request) -> web.Response:
        """Two reads, a signature, and the entry of a token below another."""
        await _form(request)
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        token = self.es256.sign_at_once(CLAIMS, typ="at+jwt")
        await self.redis.ask((EXCHANGE,), seconds=PATIENCE)
        return _token(token)

    async def transaction_token(self, request: web.Request) -> web.Response:
        """Two JSON objects parsed, two reads and a signature."""
        form = await _form(request)
        for name in ("request_details", "request_context"):
            orjson.loads(form[name])
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        return _token(self.es256.sign_at_once(CLAIMS, typ="txntoken+jwt"))

    async def revocation(self, request: web.Request) -> web.Response:
        """Two reads, a look for what was made from the token, and the end of it and of its JWT with another look."""
        await _form(request)
        await self.redis.ask(READ_TWO, seconds=PATIENCE)
        await self.redis.ask((DERIVED,), seconds=PATIENCE)
        await self.redis.ask((drop(f"{TAG}:at:x"), REVOKED, DERIVED), seconds=PATIENCE)
        return web.Response()

    async def discovery(self, _: web.Request) -> web.Response:
        """Bytes from memory."""
        return _json(self.document)

    async def key_set(self, _: web.Request) -> web.Response:
        """Bytes from memory."""
        return _json(self.jwks)


async def _form(request: web.Request) -> dict[str, str]:
    return dict(parse_qsl((await request.read()).decode()))


def _token(token: str) -> web.Response:
    return _json(orjson.dumps({"access_token": token, **ISSUED}))


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


async def _serve(port: int, redis_url: str) -> None:
    url = urlsplit(redis_url)
    redis = Server(address=(url.hostname or "localhost", url.port or 6379), timeout=PATIENCE)
    es256, rs256 = Key.generate("ES256"), Key.generate("RS256")
    jwks = orjson.dumps({"keys": [key.public_jwk for key in (es256, rs256)]})
    floor = Floor(
        redis=Multiplexed(redis.connect, patience=PATIENCE),
        es256=es256,
        rs256=rs256,
        jwt=await es256.sign(CLAIMS, typ="at+jwt"),
        document=b'"' + b"d" * 3270 + b'"',
        jwks=jwks,
    )
    paced = ("SET", PACE_KEY, orjson.dumps(new_pace(5)))
    await floor.redis.ask([("SET", f"{TAG}:az", RECORD), PUT, paced], seconds=PATIENCE)
    parked, pushed = seal(seal_as_before), seal(seal_by_id)
    for_browsers = BrowserFloor(
        redis=floor.redis, es256=es256, jwt=floor.jwt, parked=parked, pushed=pushed
    )
    kept = [READ_SESSION, *READ_PARKED[:1], ("GET", f"{GRANT}:az"), ("GET", f"{GRANT}:at:{DIGEST}")]
    await floor.redis.ask([("SET", key, RECORD) for _, key in kept], seconds=PATIENCE)
    app = web.Application()
    set_up_pages(app)
    for name, handler in {**floor.handlers(), **for_browsers.handlers()}.items():
        app.router.add_route("*", f"/{name}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), sys.argv[2]))
