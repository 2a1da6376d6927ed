"""A session has an absolute end, however often it is used (OpenID Connect Session Management §1)."""

from __future__ import annotations

from time import time

from msgspec.structs import replace

from tests.driving.client_app import ClientApp


async def test_a_session_record_that_outlives_its_end_is_ignored(app: ClientApp) -> None:
    await app.login()
    stores = app.service.features.shared.stores
    (session,) = await app.service.features.shared.sessions.find_all_of("818727")
    over = stores.sessions.put(replace(session, ends_at=int(time())), session.id, ttl=60)
    await stores.kv.write(over)
    assert (await app.authorize(prompt="none")).error == "login_required"
