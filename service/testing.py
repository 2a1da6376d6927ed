"""Pytest fixtures for authors of extension grants: a handler inside the real service, asked over HTTP.

Name it in a conftest.py: `pytest_plugins = ["service.testing"]`. Then `run_grant(MyGrant)` is a running service.
"""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import quote_plus, urlencode
from urllib.request import Request, urlopen

import msgspec
import pytest
from argon2 import PasswordHasher

from service.app import Service, create_app
from service.keys.jose import unverified_claims
from service.start.load import load_to_serve
from service.web.server.server import Runner

CLIENT = "client"
"""The client that uses the grant."""
LOGIN = "login"
"""The client that users sign in to by password."""
API, NEXT_API = "api1", "api2"
SECRET, PASSWORD = "test-secret", "test-password"
"""Those of every client, API and user."""
USER = "818727"
"""The `sub` of alice, whom `user_token` signs in."""
_SECONDS = 30


class Answer(msgspec.Struct, frozen=True):
    """A response as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    json: Mapping[str, Any]

    @property
    def refusal(self) -> tuple[int, str | None]:
        """Status and OAuth error code."""
        return self.status, self.json.get("error")

    @property
    def claims(self) -> Mapping[str, Any]:
        """The claims of the access token, which has to be a JWT."""
        return unverified_claims(self.json["access_token"])

    def __getitem__(self, member: str) -> Any:
        return self.json[member]


class GrantService(msgspec.Struct, kw_only=True, eq=False):
    """The service with one extension grant, on the embedded store."""

    grant_type: str
    configuration: Mapping[str, Any]
    file: Path
    events: list[object] = msgspec.field(default_factory=list)
    """All audit events, such as ExtensionGrantFailed of `service.events.tokens`."""
    _loop: asyncio.AbstractEventLoop = msgspec.field(default_factory=asyncio.new_event_loop)
    _issuer: str = ""
    _runner: Runner | None = None

    @property
    def issuer(self) -> str:
        return self._issuer

    def ask(self, *, client: str = CLIENT, **parameters: str | list[str] | None) -> Answer:
        """Send a token request with this grant type; None leaves a parameter out."""
        return self.post("/connect/token", client, grant_type=self.grant_type, **parameters)

    def user_token(self, scope: str = API, username: str = "alice") -> str:
        """Return an access token of a user, as a grant may be given one."""
        answer = self.post(
            "/connect/token",
            LOGIN,
            grant_type="password",
            username=username,
            password=PASSWORD,
            scope=scope,
        )
        return str(answer["access_token"])

    def client_token(self, scope: str = API) -> str:
        """Return an access token of a client for itself."""
        form = {"grant_type": "client_credentials", "scope": scope}
        return str(self.post("/connect/token", LOGIN, **form)["access_token"])

    def introspect(self, token: str, api: str = API) -> Answer:
        """Ask as an API what a token is good for."""
        return self.post("/connect/introspect", api, token=token)

    def is_active(self, token: str, api: str = API) -> bool:
        return bool(self.introspect(token, api)["active"])

    def revoke(self, token: str, client: str = LOGIN) -> None:
        """Revoke a token as the client that it was issued to; what was derived from it ends, too."""
        self.post("/connect/revocation", client, token=token)

    def post(self, path: str, name: str | None = None, /, **form: str | list[str] | None) -> Answer:
        """Send any form, authenticated as this client or API; without a name, unauthenticated."""
        sent = {key: value for key, value in form.items() if value is not None}
        request = Request(self._issuer + path, urlencode(sent, doseq=True).encode())  # noqa: S310 - our own address
        if name is not None:
            credentials = f"{quote_plus(name)}:{SECRET}".encode()
            request.add_header("Authorization", f"Basic {b64encode(credentials).decode()}")
        try:
            with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
                return _answer(response.status, dict(response.headers.items()), response.read())
        except HTTPError as error:
            with error:
                return _answer(error.code, dict(error.headers.items()), error.read())

    def __enter__(self) -> Self:
        """Start the service in a thread of its own."""
        Thread(target=self._loop.run_forever, daemon=True).start()
        try:
            self._run(self._start())
        except BaseException:
            self._stop_loop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._runner is not None:
            self._run(self._runner.cleanup())
        self._stop_loop()

    async def _start(self) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self._issuer = f"http://localhost:{listening.getsockname()[1]}"
        self.file.write_text(json.dumps({"issuer": self._issuer, **self.configuration}))
        service: Service = create_app(load_to_serve(self.file, {}), self.events.append, environ={})
        self._runner = Runner(service.app, shutdown_timeout=1)
        await self._runner.setup()
        await self._runner.listen(listening, None)

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    def _stop_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)


RunGrant = Callable[..., GrantService]


@pytest.fixture
def run_grant(tmp_path: Path) -> Iterator[RunGrant]:
    """Return a function that starts the service with a handler: `run_grant(MyGrant, options={…})`.

    `handler` is the class or its import path; `client` changes the client that uses the grant, and
    further keyword arguments are keys of config.yaml. Raises ConfigError or CannotServe as a start does.
    """
    with ExitStack() as running:

        def run(
            handler: type | str,
            *,
            options: Mapping[str, object] | None = None,
            timeout: str = "10s",
            client: Mapping[str, object] | None = None,
            grant_type: str | None = None,
            **configuration: object,
        ) -> GrantService:
            path = handler
            if not isinstance(handler, str):
                path = f"{handler.__module__}:{handler.__qualname__}"
            served = grant_type or str(getattr(handler, "grant_type", ""))
            registered = {"handler": path, "timeout": timeout, "options": dict(options or {})}
            content = _configuration(served, client or {}) | {"extension_grants": [registered]}
            file = tmp_path / f"config-{len(list(tmp_path.iterdir()))}.yaml"
            service = GrantService(
                grant_type=served, configuration=content | configuration, file=file
            )
            return running.enter_context(service)

        yield run


def _configuration(grant_type: str, client: Mapping[str, object]) -> dict[str, object]:
    """Return two APIs, two users, and two clients, one of which uses the grant."""
    secrets = [{"sha256": sha256(SECRET.encode()).hexdigest()}]
    usual = {"client_secrets": secrets, "allow_offline_access": True}
    usual |= {"allowed_scopes": ["openid", "profile", API, NEXT_API]}
    hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    users = {USER: ("alice", "Alice Smith"), "88421113": ("bob", "Bob Jones")}
    login = ["password", "refresh_token", "client_credentials"]
    return {
        "signing": {"algorithms": ["ES256"]},
        "api_resources": [{"name": name, "secrets": secrets} for name in (API, NEXT_API)],
        "clients": [
            {
                "client_id": CLIENT,
                "allowed_grant_types": [grant_type, "refresh_token"],
                **usual,
                **client,
            },
            {"client_id": LOGIN, "allowed_grant_types": login, **usual},
        ],
        "users": {
            "list": [
                {
                    "sub": sub,
                    "username": username,
                    "password": hasher.hash(PASSWORD),
                    "claims": {"name": name},
                }
                for sub, (username, name) in users.items()
            ]
        },
    }


def _answer(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    return Answer(status, headers, json.loads(body) if body else {})
