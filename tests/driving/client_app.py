"""An OAuth client that can run a whole flow: authorize, log in, redeem, refresh."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from service.protocol.pkce import s256
from tests.driving.browser import Browser, Page
from tests.driving.service import Answer, RunningService

REDIRECT_URIS = {
    "web": "https://web.example/callback",
    "spa": "https://spa.example/callback",
    "native": "http://127.0.0.1:1/callback",
    "implicit": "https://implicit.example/callback",
    "consenting": "https://consenting.example/callback",
    "desk": "https://desk.example/callback",
}
PUBLIC = {"spa", "native"}


@dataclass
class ClientApp:
    """One client of the service, and the person's browser in front of it."""

    service: RunningService
    browser: Browser
    client_id: str = "web"
    code_verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def redirect_uri(self) -> str:
        """The client's first."""
        return REDIRECT_URIS[self.client_id]

    def parameters(self, **changes: str | None) -> dict[str, str]:
        """A complete authorization request, with some parameters changed or (None) left out."""
        usual: dict[str, str | None] = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": "openid api1",
            "state": "the-state",
            "nonce": "the-nonce",
            "code_challenge": s256(self.code_verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def url(self, **changes: str | None) -> str:
        """The authorization request as a link."""
        return f"{self.service.issuer}/connect/authorize?{urlencode(self.parameters(**changes))}"

    async def authorize(self, **changes: str | None) -> Page:
        """Send the browser there: a page of the service, or the client's redirect URI."""
        return await self.browser.get(self.url(**changes))

    async def login(self, username: str = "alice", **changes: str | None) -> Page:
        """Authorize and log in; the page after that."""
        page = await self.authorize(**changes)
        return await self.browser.log_in(page, username) if page.has("login") else page

    async def code(self, username: str = "alice", **changes: str | None) -> str:
        """A code for this person."""
        return (await self.login(username, **changes)).parameters["code"]

    async def redeem(self, code: str, **changes: Any) -> Answer:
        """Exchange a code."""
        form: dict[str, Any] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.code_verifier,
        } | changes
        return await self._token(form)

    async def tokens(self, username: str = "alice", **changes: str | None) -> Answer:
        """The whole flow at once."""
        return await self.redeem(await self.code(username, **changes))

    async def refresh(self, refresh_token: str, **changes: Any) -> Answer:
        """Use a refresh token."""
        return await self._token(
            {"grant_type": "refresh_token", "refresh_token": refresh_token} | changes
        )

    async def no_access_tokens(self, access_token: str) -> tuple[str, ...]:
        """Texts that are not access tokens: tokens of other kinds, and this one (a JWT) with a change."""
        tokens = await self.tokens(scope="openid api1 offline_access")
        header, payload, signature = access_token.split(".")
        return (
            tokens["id_token"],
            tokens["refresh_token"],
            await self.code(),
            f"{header}.{payload}.{signature[:-4]}AAAA",
            f"{header}.{payload}.",
            f"eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.{payload}.",
            "nonsense",
            "at_" + "x" * 65,
            "é.è.ê",
            "x" * 51201,
            "a." * 2 + "a" * 51200,
        )

    async def _token(self, form: dict[str, Any]) -> Answer:
        if self.client_id in PUBLIC:
            return await self.service.token(None, **{"client_id": self.client_id} | form)
        return await self.service.token(self.client_id, **form)
