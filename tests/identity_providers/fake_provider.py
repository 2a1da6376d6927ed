"""An OpenID provider that does what a test tells it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from service.keys.jose import Key
from service.protocol.pkce import s256
from tests.driving.browser import Page
from tests.driving.service import Answer, RunningService, basic

EVENT = "http://schemas.openid.net/event/backchannel-logout"
BACKCHANNEL_LOGOUT = "/connect/idp/upstream/backchannel_logout"

Instead = Callable[[web.Request], Awaitable[web.StreamResponse]]

METADATA, JWKS = "/.well-known/openid-configuration", "/jwks"
AUTHORIZE, TOKEN, USERINFO = "/authorize", "/token", "/userinfo"


@dataclass
class FakeProvider:
    """Proper in everything, but for what its members say."""

    issuer: str = ""
    signer: Key = field(default_factory=lambda: Key.generate("ES256"))
    published: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    typ: str = "JWT"
    forge: Callable[[FakeProvider], str] | None = None
    instead: dict[str, Instead] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    forms: list[dict[str, Any]] = field(default_factory=list)
    request: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.published.append(self.signer.public_jwk)

    def answer(self, sent: Page, **changes: str | None) -> str:
        """The URL that the browser is sent back to, with some parameters changed or left out."""
        self.request = sent.parameters
        usual = {"code": "the-code", "state": self.request["state"]}
        query = {name: value for name, value in (usual | changes).items() if value is not None}
        return f"{self.request['redirect_uri']}?{urlencode(query)}"

    def identity(self) -> dict[str, Any]:
        """The claims of the identity token, changed as `claims` says; spans count from now."""
        now = int(time.time())
        changed = {
            name: now + value.total_seconds() if isinstance(value, timedelta) else value
            for name, value in self.claims.items()
        }
        proper = {
            "iss": self.issuer,
            "sub": "their-alice",
            "aud": "downstream",
            "exp": now + 60,
            "iat": now,
            "nonce": self.request.get("nonce"),
        }
        return {name: value for name, value in (proper | changed).items() if value is not None}

    async def logout_token(self, *, typ: str = "logout+jwt", **changes: Any) -> str:
        """A proper logout token for their Alice, changed like an identity token."""
        now = int(time.time())
        proper = {
            "iss": self.issuer,
            "sub": "their-alice",
            "aud": "downstream",
            "iat": now,
            "exp": now + 120,
            "jti": secrets.token_urlsafe(16),
            "events": {EVENT: {}},
        }
        claims = {name: value for name, value in (proper | changes).items() if value is not None}
        return await self.signer.sign(claims, typ=typ)

    async def log_out(self, service: RunningService, **changes: Any) -> Answer:
        """Tell the service that their Alice has logged out."""
        token = await self.logout_token(**changes)
        return await service.post(BACKCHANNEL_LOGOUT, logout_token=token)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        self.asked.append(request.path)
        if request.path in self.instead:
            return await self.instead[request.path](request)
        match request.path:
            case "/.well-known/openid-configuration":
                return web.json_response(self._metadata())
            case "/jwks":
                return web.json_response({"keys": self.published})
            case "/token":
                return await self.token(request)
            case "/userinfo":
                return web.json_response({"sub": self.identity().get("sub")} | self.userinfo)
            case _:
                return web.Response(status=404)

    def _metadata(self) -> dict[str, Any]:
        proper = {
            "issuer": self.issuer,
            "authorization_endpoint": self.issuer + AUTHORIZE,
            "token_endpoint": self.issuer + TOKEN,
            "jwks_uri": self.issuer + JWKS,
            "userinfo_endpoint": self.issuer + USERINFO,
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
        }
        return {
            name: value for name, value in (proper | self.metadata).items() if value is not None
        }

    async def token(self, request: web.Request) -> web.Response:
        """Tokens for who proves to be the client that asked for the code."""
        form = {**(await request.post())}
        self.forms.append(form)
        proven = s256(str(form["code_verifier"])) == self.request["code_challenge"]
        known = request.headers.get("Authorization") == basic("downstream", "downstream-secret")
        if not (proven and (known or form.get("client_secret") == "downstream-secret")):
            return web.json_response({"error": "invalid_grant"}, status=400)
        signed = await self.signer.sign(self.identity(), typ=self.typ)
        id_token = self.forge(self) if self.forge else signed
        return web.json_response(
            {"access_token": "theirs", "token_type": "Bearer", "id_token": id_token}
        )
