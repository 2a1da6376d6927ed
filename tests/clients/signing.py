"""Keys of clients, and the assertions that they send."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import uuid4

from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.jose import Key
from service.protocol.token_types import CLIENT_ASSERTION
from tests.driving.service import Answer, RunningService

SECRET = "a-secret-of-more-than-sixty-four-characters-and-so-good-for-every-hmac"


@cache
def key_of(alg: str, number: int = 0) -> Key:
    """The clients' key for an algorithm, or another one that nobody registers."""
    if alg in MAC_ALGORITHMS:
        return Key.from_secret(SECRET[number:], alg)
    kind = "RS256" if alg.startswith(("RS", "PS")) else alg
    return Key.load(_pair(kind)[number].private_jwk, alg)


@cache
def _pair(alg: str) -> tuple[Key, Key]:
    return Key.generate(alg), Key.generate(alg)


@dataclass(frozen=True)
class Signer:
    """A client that signs; `alg` decides the method."""

    service: RunningService
    client_id: str
    alg: str

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Proper claims, changed or (None) left out; spans count from now."""
        now = int(time.time())
        usual = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.service.issuer,
            "jti": uuid4().hex,
            "iat": now,
            "exp": timedelta(minutes=1),
        }
        return {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in (usual | changes).items()
            if value is not None
        }

    async def assertion(self, *, typ: str = "JWT", number: int = 0, **changes: Any) -> str:
        """A signed assertion."""
        return await key_of(self.alg, number).sign(self.claims(**changes), typ=typ)

    async def ask(self, assertion: str | None = None, **form: Any) -> Answer:
        """Ask for a token for itself."""
        usual = {
            "grant_type": "client_credentials",
            "client_assertion_type": CLIENT_ASSERTION,
            "client_assertion": assertion or await self.assertion(),
        }
        return await self.service.post("/connect/token", **usual | form)


def unsigned(header: dict[str, Any], claims: dict[str, Any]) -> str:
    """A JWT with an empty signature."""
    parts = (urlsafe_b64encode(json.dumps(part).encode()) for part in (header, claims))
    return b".".join(part.rstrip(b"=") for part in parts).decode() + "."
