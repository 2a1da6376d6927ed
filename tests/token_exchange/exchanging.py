"""Token exchanges as clients send them."""

from __future__ import annotations

from typing import Any

from tests.driving.service import Answer, RunningService

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
SHARED_SECRET = "a-secret-that-is-long-enough-to-sign-by"
"""By which the ID tokens of the client `sharing` are signed."""
TYPE = "urn:ietf:params:oauth:token-type:"


async def exchange(
    service: RunningService,
    token: str | None,
    client: str | None = "api1",
    *,
    of_type: str = "access_token",
    **form: Any,
) -> Answer:
    """Exchange a token, by default for one for api2; short names stand for token types."""
    asked = {"scope": "api2", "subject_token": token, "subject_token_type": of_type} | form
    for name in ("subject_token_type", "actor_token_type", "requested_token_type"):
        if asked.get(name) and ":" not in str(asked[name]):
            asked[name] = TYPE + str(asked[name])
    return await service.token(client, grant_type=EXCHANGE, **asked)
