"""An HTTP service that knows alice and bob, and notes what it is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SECRET = "secret-of-the-token-service"


def person(sub: str, username: str, **changes: Any) -> dict[str, Any]:
    claims = {"email": f"{username}@example.com", "email_verified": True}
    return {"sub": sub, "username": username, "enabled": True, "claims": claims} | changes


@dataclass
class PeopleServer:
    """Their password is `<name>-password`."""

    origin: str = ""
    people: list[dict[str, Any]] = field(
        default_factory=lambda: [person("818727", "alice"), person("88421113", "bob")]
    )
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answer: web.Response | None = None
    """What every question gets, where it is set."""
    refused: str | None = None
    """What no question may have in it, and the status that it gets then."""
    status: int = 422
    connections: set[object] = field(default_factory=set)
    """The callers' ends of all connections."""
    is_forgetful: bool = False
    """Whether it drops a kept connection when the next question comes over it."""

    async def serve(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        connection = request.transport.get_extra_info("peername")
        if self.is_forgetful and connection in self.connections:
            request.transport.abort()
        self.connections.add(connection)
        if request.headers.get("Authorization") != f"Bearer {SECRET}":
            return web.json_response({"error": "who are you?"}, status=401)
        question = await request.json()
        self.asked.append((request.path, question))
        if self.refused is not None and self.refused in str(question.values()):
            return web.Response(status=self.status)
        if self.answer is not None:
            answer, self.answer = self.answer, None
            return answer
        if request.path == "/verify":
            return web.json_response({"valid": self._verifies(**question)})
        ((by, value),) = question.items()
        found = [one for one in self.people if {**one, **one["claims"]}.get(by) == value.lower()]
        return web.json_response({"user": found[0] if found else None})

    def _verifies(self, sub: str | None, password: str) -> bool:
        return any(
            one["sub"] == sub and password == f"{one['username']}-password" for one in self.people
        )
