"""A device without a browser: it shows a code, and polls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.model.polling import DEVICE_CODE
from tests.driving.browser import Browser, Page
from tests.driving.registry import hashed
from tests.driving.service import Answer, RunningService

PATH = "/connect/deviceauthorization"
_TV: dict[str, Any] = {
    "client_id": "tv",
    "client_name": "Living room",
    "require_client_secret": False,
    "allowed_grant_types": [DEVICE_CODE, "refresh_token"],
    "allowed_scopes": ["openid", "profile", "api1", "api2"],
    "allow_offline_access": True,
}
TELEVISIONS: list[dict[str, Any]] = [
    _TV,
    *(
        _TV
        | {
            "client_id": name,
            "require_client_secret": True,
            "client_secrets": [{"sha256": hashed(name)}],
        }
        for name in ("box", "box2")
    ),
]


@dataclass
class Television:
    """One request of a client, and the browser of its user."""

    service: RunningService
    browser: Browser
    client_id: str
    codes: Answer

    @classmethod
    async def switch_on(
        cls, service: RunningService, browser: Browser, client_id: str = "tv", **form: Any
    ) -> Television:
        """Ask for codes."""
        form = {"scope": "openid api1"} | form
        codes = await ask_for_codes(service, client_id, **form)
        assert codes.status == 200, codes.body
        return cls(service, browser, client_id, codes)

    async def poll(self, client_id: str | None = None, **form: Any) -> Answer:
        """Ask whether the user has allowed it."""
        form = {"device_code": self.codes["device_code"], "grant_type": DEVICE_CODE} | form
        return await self.service.post(
            "/connect/token", **credentials(client_id or self.client_id), **form
        )

    async def enter(self, code: str | None = None) -> Page:
        """Enter a code at the page for it, usually the right one; the page after that."""
        page = await self.browser.get("/device")
        return await self.browser.submit(page, user_code=code or self.codes["user_code"])

    async def confirmation(self, username: str = "alice") -> Page:
        """Enter the code and sign in; the page that asks whether to allow it."""
        page = await self.enter()
        return await self.browser.log_in(page, username) if page.has("login") else page

    async def decide(self, action: str = "allow", username: str = "alice") -> Page:
        """Act as the user, to the end."""
        return await self.browser.submit(await self.confirmation(username), action=action)


def credentials(client_id: str) -> dict[str, Any]:
    return {"client_id": client_id} if client_id == "tv" else {"auth": client_id}


async def ask_for_codes(service: RunningService, client_id: str = "tv", **form: Any) -> Answer:
    """POST /connect/deviceauthorization."""
    return await service.post(PATH, **credentials(client_id), **form)
