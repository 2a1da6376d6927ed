"""A running service, and callers of its machine endpoints."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

import orjson
import yarl
from aiohttp import ClientSession

from service.wiring.features import Features
from tests.driving.registry import secret_of


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The body, as a JSON object."""
        content: dict[str, Any] = orjson.loads(self.body)
        return content

    @property
    def error(self) -> str | None:
        """The OAuth error code."""
        return self.json.get("error")

    @property
    def refusal(self) -> tuple[int, str | None]:
        """Status and error code; what a test of a refusal compares."""
        return self.status, self.error

    def __getitem__(self, name: str) -> Any:
        return self.json[name]


# No repr: asyncio makes that of each value that a task returns, and this one has thousands of lines.
@dataclass(repr=False)
class RunningService:
    """The whole app behind a real socket; `events` is what it told its listeners."""

    issuer: str
    http: ClientSession
    features: Features
    events: list[object] = field(default_factory=list)
    admin_url: str | None = None
    """Where the admin API is, if it is on."""

    def reload(self, config: dict[str, Any]) -> None:
        """Put another configuration in force."""
        self.features.shared.configuration.file.write_text(json.dumps(config))
        assert self.features.shared.registry.reload()

    async def admin(
        self,
        method: str,
        path: str,
        token: str | None = None,
        *,
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> Answer:
        """A request to the admin API."""
        sent = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        async with self.http.request(
            method,
            yarl.URL(f"{self.admin_url}{path}", encoded=True),
            headers=sent,
            allow_redirects=False,
            **options,
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def post(
        self,
        path: str,
        /,
        *,
        auth: str | tuple[str, str] | None = None,
        headers: dict[str, str] | None = None,
        raw: str | bytes | None = None,
        **form: str | list[str] | None,
    ) -> Answer:
        """A form; `auth` is a name with its usual secret, or (name, secret), sent by Basic."""
        sent = dict(headers or {})
        if auth is not None:
            name, secret = (auth, secret_of(auth)) if isinstance(auth, str) else auth
            sent["Authorization"] = basic(name, secret)
        pairs = [
            (key, one)
            for key, value in form.items()
            if value is not None
            for one in ([value] if isinstance(value, str) else value)
        ]
        if raw is not None:
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        elif not pairs:
            raw = ""
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        body = pairs if raw is None else raw
        return await self.request("POST", path, data=body, headers=sent)

    async def get(self, path: str, /, **options: Any) -> Answer:
        """A GET."""
        return await self.request("GET", path, **options)

    async def request(self, method: str, path: str, /, **options: Any) -> Answer:
        """Any request; redirects are not followed."""
        async with self.http.request(
            method, self.issuer + path, allow_redirects=False, **options
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def token(self, client: str | tuple[str, str] | None, /, **form: Any) -> Answer:
        """POST /connect/token."""
        return await self.post("/connect/token", auth=client, **form)

    async def introspect(self, token: str, *, caller: str = "api1", **form: Any) -> Answer:
        """POST /connect/introspect."""
        return await self.post("/connect/introspect", auth=caller, token=token, **form)

    async def is_active(self, token: str, *, caller: str = "api1") -> bool:
        """Whether introspection says so."""
        return bool((await self.introspect(token, caller=caller))["active"])

    async def user_token(
        self, client: str = "frontend", scope: str = "api1", **form: Any
    ) -> Answer:
        """Tokens for alice by the password grant."""
        return await self.token(
            client,
            grant_type="password",
            username="alice",
            password="alice-password",
            scope=scope,
            **form,
        )


def basic(name: str, secret: str) -> str:
    """An Authorization header (RFC 6749 §2.3.1)."""
    pair = f"{quote_plus(name)}:{quote_plus(secret)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def claims_in(jwt: str) -> dict[str, Any]:
    """The unverified claims of a JWT."""
    content: dict[str, Any] = orjson.loads(_decoded(jwt.split(".")[1]))
    return content


def header_of(jwt: str) -> dict[str, Any]:
    """The unverified header of a JWT."""
    content: dict[str, Any] = orjson.loads(_decoded(jwt.split(".", maxsplit=1)[0]))
    return content


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
