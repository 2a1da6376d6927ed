"""A foreign issuer that signs assertions, and the clients that present them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from service.keys.jose import Key
from service.protocol.token_types import JWT_BEARER
from tests.clients.signing import key_of
from tests.driving.service import Answer, RunningService

BEARER = JWT_BEARER
ISSUER = "https://as.partner.example"


@dataclass(frozen=True)
class Partner:
    """Signs what a test tells it; `presenter` is the client that presents it."""

    service: RunningService
    issuer: str = ISSUER
    alg: str = "ES256"
    presenter: str = "courier"
    usual: dict[str, Any] = field(default_factory=dict)

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Proper claims, changed or (None) left out; spans count from now."""
        now = int(time.time())
        proper = {
            "iss": self.issuer,
            "sub": "their-alice",
            "aud": self.service.issuer,
            "jti": uuid4().hex,
            "iat": now,
            "exp": timedelta(minutes=5),
        }
        return {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in (proper | self.usual | changes).items()
            if value is not None
        }

    async def assertion(
        self, *, typ: str = "JWT", number: int = 0, key: Key | None = None, **changes: Any
    ) -> str:
        """A signed assertion."""
        return await (key or key_of(self.alg, number)).sign(self.claims(**changes), typ=typ)

    async def present(self, assertion: str | None = None, **form: Any) -> Answer:
        """Ask for a token by an assertion, a new one unless it is given."""
        sent = await self.assertion() if assertion is None else assertion
        return await self.service.token(
            self.presenter, **{"grant_type": BEARER, "assertion": sent} | form
        )

    async def grant(self, **changes: Any) -> Answer:
        """Present a new assertion with these changes."""
        return await self.present(await self.assertion(**changes))

    def by(self, presenter: str) -> Partner:
        """The same issuer, with another client that presents."""
        return replace(self, presenter=presenter)


def partner_entry(**changes: Any) -> dict[str, Any]:
    """The issuer in the configuration."""
    keys = [key_of(alg).public_jwk for alg in ("ES256", "RS256", "ES384")]
    return {"name": "partner", "issuer": ISSUER, "jwks": {"keys": keys}} | changes


def presenter_entry(client_id: str, secret: str, **changes: Any) -> dict[str, Any]:
    """A client that may present assertions."""
    return {
        "client_id": client_id,
        "client_secrets": [{"sha256": secret}],
        "allowed_grant_types": [BEARER],
        "allowed_scopes": ["openid", "email", "api1", "api2"],
        **changes,
    }
