"""Chromium's virtual authenticator: passkeys without a device (WebDriver extension of WebAuthn §11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page


@dataclass(frozen=True)
class VirtualAuthenticator:
    """The authenticator of one page, which the person touches at once."""

    cdp: CDPSession
    id: str

    @classmethod
    async def attach(
        cls, context: BrowserContext, page: Page, *, resident: bool = True, verifies: bool = True
    ) -> VirtualAuthenticator:
        """Plug it in: one that keeps passkeys and knows the person, or one that lacks something."""
        cdp = await context.new_cdp_session(page)
        await cdp.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal" if resident else "usb",
            "hasResidentKey": resident,
            "hasUserVerification": verifies,
            "isUserVerified": verifies,
            "automaticPresenceSimulation": True,
        }
        added = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return cls(cdp, added["authenticatorId"])

    async def credentials(self) -> list[dict[str, Any]]:
        """The passkeys in it."""
        found: list[dict[str, Any]] = (await self._send("getCredentials"))["credentials"]
        return found

    async def add(self, credential: dict[str, Any]) -> None:
        """Put a passkey into it."""
        await self._send("addCredential", credential=credential)

    async def count(self, uses: int) -> None:
        """Let its one passkey be as it was after so many uses, as a copy of it would be."""
        (passkey,) = await self.credentials()
        await self._send("removeCredential", credentialId=passkey["credentialId"])
        await self._send("addCredential", credential=passkey | {"signCount": uses})

    async def _send(self, command: str, **more: Any) -> Any:
        return await self.cdp.send(f"WebAuthn.{command}", {"authenticatorId": self.id, **more})
