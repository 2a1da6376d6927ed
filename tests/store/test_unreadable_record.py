"""A record that cannot be read is trouble with the store, never «no such token» and never a fault."""

from __future__ import annotations

import pytest

from service.model.handle import digest, parse_handle
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

UNREADABLE = {"nonsense": b"\xff", "of another release": b'{"id":1}', "empty": b""}


@pytest.mark.parametrize("value", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_token_whose_grant_cannot_be_read_is_a_503(
    service: RunningService, value: bytes
) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    handle = parse_handle(token, "access_token")
    assert handle is not None
    key = service.features.shared.stores.authorizations.key(handle.selector)
    await service.features.shared.kv.write(("SET", key, value, "EX", 60))
    answer = await service.introspect(token)
    assert answer.refusal == (503, "temporarily_unavailable")
    assert answer.headers["Retry-After"]


async def test_a_code_that_cannot_be_read_is_a_503(app: ClientApp, service: RunningService) -> None:
    code = await app.code()
    handle = parse_handle(code, "authorization_code")
    assert handle is not None
    key = service.features.shared.stores.codes.key(handle.selector, handle.digest)
    await service.features.shared.kv.write(("SET", key, b"+{}", "EX", 60))
    assert (await app.redeem(code)).refusal == (503, "temporarily_unavailable")


async def test_a_session_that_cannot_be_read_is_an_error_at_the_client(app: ClientApp) -> None:
    await app.login()
    (session,) = await app.service.features.shared.sessions.find_all_of("818727")
    key = app.service.features.shared.stores.sessions.key(session.id)
    await app.service.features.shared.kv.write(("SET", key, b"{}", "EX", 60))
    assert (await app.authorize()).error == "temporarily_unavailable"


async def test_second_factors_that_cannot_be_read_are_an_error_at_the_client(
    app: ClientApp,
) -> None:
    await app.login()
    stores = app.service.features.shared.stores
    authorizations = {key async for key in stores.kv.find_keys(stores.authorizations.key("*"))}
    await stores.kv.write(("SET", stores.factors.key(digest("818727")), b"{}", "EX", 60))
    assert (await app.authorize()).error == "temporarily_unavailable"
    found = {key async for key in stores.kv.find_keys(stores.authorizations.key("*"))}
    assert found == authorizations
