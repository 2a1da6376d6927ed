"""A caller that behaves as Okta's Universal Logout does, and other callers of the same endpoint.

The form of its JWT and of its body: developer.okta.com/docs/guides/oin-universal-logout-overview.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from io import BytesIO
from typing import Any
from uuid import uuid4

from service.keys.jose import Key
from tests.driving.service import Answer, RunningService, basic
from tests.identity_providers.fake_provider import FakeProvider

PATH = "/connect/global-token-revocation"


@cache
def rsa_key() -> Key:
    """Okta signs by RS256."""
    return Key.generate("RS256")


def email(address: str) -> dict[str, Any]:
    return {"sub_id": {"format": "email", "email": address}}


def iss_sub(iss: str, sub: str) -> dict[str, Any]:
    return {"sub_id": {"format": "iss_sub", "iss": iss, "sub": sub}}


def opaque(text: str) -> dict[str, Any]:
    return {"sub_id": {"format": "opaque", "id": text}}


async def ask(
    service: RunningService,
    body: Any,
    *,
    authorization: str | None,
    content_type: str | None = "application/json",
    **headers: str,
) -> Answer:
    """POST a body, which is sent as it is if it is text, else as JSON."""
    text = body if isinstance(body, str | bytes) else json.dumps(body)
    raw = BytesIO(text.encode() if isinstance(text, str) else text)
    sent = dict(headers)
    if authorization is not None:
        sent["Authorization"] = authorization
    if content_type is not None:
        sent["Content-Type"] = content_type
    return await service.request("POST", PATH, data=raw, headers=sent)


async def ask_as(service: RunningService, client: str, body: Any) -> Answer:
    """Ask as a client with its usual secret."""
    return await ask(service, body, authorization=basic(client, f"{client}-secret"))


@dataclass
class Okta:
    """The provider `upstream`, and what it sends to this service."""

    provider: FakeProvider
    service: RunningService

    def claims(self, **changes: Any) -> dict[str, Any]:
        """As its documentation says, with some changed or (None) left out; spans count from now."""
        now = int(time.time())
        usual = {
            "jti": str(uuid4()),
            "iss": self.provider.issuer,
            "sub": "downstream",
            "aud": self.service.issuer + PATH,
            "exp": timedelta(minutes=5),
            "nbf": timedelta(minutes=-5),
            "iat": now,
        }
        return {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in (usual | changes).items()
            if value is not None
        }

    async def jwt(
        self, *, typ: str = "global-token-revocation+jwt", key: Key | None = None, **changes: Any
    ) -> str:
        return await (key or self.provider.signer).sign(self.claims(**changes), typ=typ)

    async def send(self, body: Any, jwt: str) -> Answer:
        return await ask(self.service, body, authorization=f"Bearer {jwt}")

    async def log_out(self, body: Any) -> Answer:
        """Universal Logout of one user."""
        return await self.send(body, await self.jwt())
