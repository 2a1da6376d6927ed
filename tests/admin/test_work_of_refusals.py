"""A refused caller causes the same work, and reads the same, whatever there is behind the path (ASVS 6.3.8, RFC 6750 §3.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from service.model.handle import new_handle, new_selector
from tests.admin.conftest import ALICE, token_of
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService

Work = tuple[int, int, int, bytes]
"""Commands sent to the store, calls in threads such as hashes, status and body."""

Measure = Callable[..., Any]


@pytest.fixture
async def measure(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Sends a request to the admin API, and returns its work; the least of three, as what is known of its token may be read again."""
    kv, counted = service.features.shared.kv, {"commands": 0, "threads": 0}
    ask, to_thread = kv._ask, asyncio.to_thread  # noqa: SLF001 - counts what reaches the store

    async def count_commands(channel: Any, commands: Any, *others: Any) -> Any:
        counted["commands"] += len(commands)
        return await ask(channel, commands, *others)

    async def count_threads(*args: Any, **kwargs: Any) -> Any:
        counted["threads"] += 1
        return await to_thread(*args, **kwargs)

    monkeypatch.setattr(type(kv), "_ask", staticmethod(count_commands))
    monkeypatch.setattr(asyncio, "to_thread", count_threads)

    async def measure(method: str, path: str, token: str | None) -> Work:
        found: list[Work] = []
        for _ in range(3):
            counted.update(commands=0, threads=0)
            answer: Answer = await service.admin(method, path, token)
            found.append((counted["commands"], counted["threads"], answer.status, answer.body))
        return min(found)

    return measure


@pytest.fixture
async def signed_in(service: RunningService, app: ClientApp) -> tuple[str, str]:
    """The ids of a session and a grant of Alice."""
    await app.tokens()
    shared = service.features.shared
    (session,) = await shared.sessions.find_all_of(ALICE)
    (grant,) = await shared.authorizations.find_all_of(ALICE)
    return session.id, grant.id


async def callers(service: RunningService) -> dict[str, tuple[str | None, str, int]]:
    """Tokens that open nothing, each with a method that it cannot use and the status."""
    user = str((await service.user_token())["access_token"])
    other = await service.token("robot", grant_type="client_credentials", scope="api1")
    return {
        "nobody": (None, "GET", 401),
        "a made-up token": (new_handle("access_token", new_selector()).text, "GET", 401),
        "a text": ("nonsense", "GET", 401),
        "a user's token for an API": (user, "GET", 401),
        "a client's token for an API": (str(other["access_token"]), "GET", 401),
        "a reader who writes": (await token_of(service, "watching", "admin.read"), "DELETE", 403),
    }


async def test_refusal_costs_the_same_whatever_exists(
    measure: Measure, service: RunningService, signed_in: tuple[str, str]
) -> None:
    session, grant = signed_in
    pairs = [
        (f"/admin/users/{ALICE}/sessions", "/admin/users/nobody/sessions"),
        (f"/admin/users/{ALICE}/grants", "/admin/users/nobody/grants"),
        (f"/admin/sessions/{session}", f"/admin/sessions/{new_selector()}"),
        (f"/admin/grants/{grant}", f"/admin/grants/{new_selector()}"),
        ("/admin/clients/web/grants", "/admin/clients/nobody/grants"),
    ]
    for caller, (token, method, status) in (await callers(service)).items():
        for known, unknown in pairs:
            usual = "DELETE" if known.endswith("web/grants") else method
            of_known = await measure(usual, known, token)
            of_unknown = await measure(usual, unknown, token)
            assert (caller, known, of_known) == (caller, known, of_unknown)
            assert (of_known[1], of_known[2]) == (0, status)


@pytest.mark.parametrize("search", ["username", "email", "sub"])
async def test_refused_search_costs_the_same_if_the_user_exists(
    measure: Measure, service: RunningService, search: str
) -> None:
    known = {"username": "alice", "email": "alice@example.com", "sub": ALICE}[search]
    for token, _, status in (await callers(service)).values():
        works = [
            await measure("GET", f"/admin/users?{search}={text}", token)
            for text in (known, "nobody")
        ]
        if status == 401:
            assert works[0] == works[1]
            assert works[0][1:3] == (0, status)
