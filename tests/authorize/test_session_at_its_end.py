"""A session has an absolute end, however often it is used (OpenID Connect Session Management §1)."""

from __future__ import annotations

from time import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.driving.client_app import ClientApp


async def test_a_session_record_that_outlives_its_end_is_ignored(app: ClientApp) -> None:
    await app.login()
    stores = app.service.features.shared.stores
    (session,) = await app.service.features.shared.sessions.find_all_of("818727")
    over = stores.sessions.put(replace(session, ends_at=int(time())), session.id, ttl=60)
    await stores.kv.write(over)
    assert (await app.authorize(prompt="none")).error == "login_required"


async def test_a_session_that_ends_in_the_same_moment_grants_nothing(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there when the request is read, and gone when the answer is written."""
    await app.login()
    shared = app.service.features.shared
    before = await shared.authorizations.find_all_of("818727")
    (session,) = await shared.sessions.find_all_of("818727")
    write = shared.kv.write

    async def write_after_the_logout(*commands: Any, **options: Any) -> Any:
        await write(shared.stores.sessions.drop(session.id))
        return await write(*commands, **options)

    monkeypatch.setattr(shared.kv, "write", write_after_the_logout)
    refused = await app.authorize(prompt="none")
    assert (refused.error, "code" in refused.parameters) == ("login_required", False)
    assert await shared.authorizations.find_all_of("818727") == before
