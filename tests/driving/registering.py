"""A client that registers itself, and then does what any client does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService

REGISTER = "/connect/register"
REDIRECT_URI = "https://registered.example/callback"


async def register(service: RunningService, *, token: str | None = None, **metadata: Any) -> Answer:
    """POST metadata; a redirect URI is there unless another, or None, is given."""
    usual = {"redirect_uris": [REDIRECT_URI]} | metadata
    asked = {name: value for name, value in usual.items() if value is not None}
    return await service.request("POST", REGISTER, json=asked, headers=bearer(token))


def bearer(token: str | None) -> dict[str, str]:
    """The Authorization header, if there is a token."""
    return {} if token is None else {"Authorization": f"Bearer {token}"}


@dataclass
class RegisteredApp(ClientApp):
    """A registered client; `registered` is the response to its registration."""

    registered: dict[str, Any] = field(default_factory=dict)

    @classmethod
    async def register(
        cls, service: RunningService, browser: Browser, **metadata: Any
    ) -> RegisteredApp:
        """The client of this registration."""
        answer = await register(service, **metadata)
        assert answer.status == 201, answer.json
        told = answer.json
        return cls(service, browser, told["client_id"], registered=told)

    @property
    def redirect_uri(self) -> str:
        """The first that it registered."""
        uri: str = self.registered["redirect_uris"][0]
        return uri

    @property
    def path(self) -> str:
        """Of its own client configuration endpoint."""
        return str(self.registered["registration_client_uri"]).removeprefix(self.service.issuer)

    async def manage(self, method: str, *, token: str | None = None, **options: Any) -> Answer:
        """Read, change or delete the registration, by its own token or another."""
        own = self.registered["registration_access_token"] if token is None else token
        return await self.service.request(
            method, self.path, headers=bearer(own) if own else {}, **options
        )

    async def change(self, **metadata: Any) -> Answer:
        """Put other metadata in place of all that there were."""
        usual = {"client_id": self.client_id, "redirect_uris": [self.redirect_uri]}
        return await self.manage("PUT", json=usual | metadata)

    async def code(self, username: str = "alice", **changes: str | None) -> str:
        """A code, after the person has allowed everything."""
        page = await self.login(username, **changes)
        if page.has("consent-allow"):
            page = await self.browser.submit(page, action="allow")
        return page.parameters["code"]

    async def _token(self, form: dict[str, Any]) -> Answer:
        secret = self.registered.get("client_secret")
        if secret is None:
            return await self.service.token(None, **{"client_id": self.client_id} | form)
        return await self.service.token((self.client_id, secret), **form)
