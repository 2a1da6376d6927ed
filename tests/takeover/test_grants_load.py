"""Refresh tokens of IdentityServer4 and Duende go on here, each once and with one family (RFC 6749 §6, RFC 9700 §4.14.2)."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.events.tokens import RefreshTokenReused
from service.store.keyvalue import KeyValue
from service.takeover.grants import GrantLoading, LoadedGrants
from tests.conftest import Clock
from tests.driving.registry import client_in, user_in
from tests.driving.service import Answer, RunningService, claims_in
from tests.takeover.persisted import ALICE, NEW_HANDLE, OLD_HANDLE, data_v4, data_v5, key_of, row

pytestmark = pytest.mark.rfc("6749#6", "9700#4.14.2")

SCOPE = "openid api1 offline_access"


class Loader:
    """Loads rows into a running service."""

    def __init__(self, service: RunningService, folder: Path) -> None:
        self.shared, self.file = service.features.shared, folder / "PersistedGrants.json"

    async def load(self, *rows: object) -> LoadedGrants:
        self.write(json.dumps(rows))
        shared, result = self.shared, LoadedGrants()
        registry = shared.registry.current
        loading = GrantLoading(stores=shared.stores, registry=registry, emit=shared.emit)
        await loading.load(self.file, result)
        return result

    def write(self, text: str) -> None:
        self.file.write_text(text)


@pytest.fixture
def loader(service: RunningService, tmp_path: Path) -> Loader:
    return Loader(service, tmp_path)


async def refresh(service: RunningService, token: str, client: str = "frontend") -> Answer:
    return await service.token(client, grant_type="refresh_token", refresh_token=token)


@pytest.mark.parametrize(
    ("handle", "data"),
    [(OLD_HANDLE, data_v4(SCOPE)), (NEW_HANDLE, data_v5(SCOPE)), (OLD_HANDLE, data_v5(SCOPE))],
    ids=["IdentityServer4", "Duende", "Duende, an older handle"],
)
async def test_loaded_token_is_refreshed_with_user_session_and_scope(
    service: RunningService, loader: Loader, handle: str, data: dict[str, Any]
) -> None:
    result = await loader.load(row(handle, data))
    assert (result.taken, result.left_out) == (1, {})
    tokens = await refresh(service, handle)
    access = claims_in(tokens["access_token"])
    assert (access["sub"], access["client_id"]) == (ALICE, "frontend")
    assert access["scope"] == "api1 offline_access openid"
    id_token = claims_in(tokens["id_token"])
    assert (id_token["auth_time"], id_token["amr"]) == (1599739284, ["pwd"])
    (authorization,) = await service.features.shared.authorizations.find_all_of(ALICE)
    assert authorization.session_id == "OLD-SESSION"
    assert tokens["refresh_token"].startswith("rt_")
    following = await refresh(service, tokens["refresh_token"])
    assert claims_in(following["access_token"])["sub"] == ALICE


async def test_end_of_the_family_is_that_of_the_row(
    service: RunningService, loader: Loader
) -> None:
    ends_at = datetime.now(UTC) + timedelta(days=3)
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE), Expiration=ends_at.isoformat()))
    tokens = await refresh(service, OLD_HANDLE)
    shared = service.features.shared
    found = await shared.authorizations.find_all_of(ALICE)
    (authorization,) = found
    reading = shared.stores.refresh_tokens.key(authorization.id, "*")
    lives = [await ttl(shared, key) async for key in shared.kv.find_keys(reading)]
    assert len(lives) == 2  # the marker of the loaded one, and its successor
    assert all(3 * 86400 - 120 < each <= 3 * 86400 for each in lives)
    assert tokens.status == 200


async def ttl(shared: Any, key: str) -> int:
    (left,) = await shared.kv.write(("TTL", key))
    return int(left)


async def test_end_without_the_column_is_that_of_the_data(
    service: RunningService, loader: Loader
) -> None:
    taken, over = row(OLD_HANDLE, data_v4(SCOPE)), row(NEW_HANDLE, data_v4(SCOPE))
    del taken["Expiration"]
    over["Expiration"] = None
    data = data_v4(SCOPE) | {"Lifetime": 3600}
    over["Data"] = json.dumps(data)
    result = await loader.load(taken, over)
    assert (result.taken, result.ended) == (1, 1)
    assert (await refresh(service, OLD_HANDLE)).status == 200


@pytest.mark.parametrize("client", ["opaque", "api1"])
async def test_another_client_cannot_use_it_and_does_not_use_it_up(
    service: RunningService, loader: Loader, client: str
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    assert (await refresh(service, OLD_HANDLE, client)).status == 400
    wrong = ("frontend", "wrong")
    refused = await service.token(wrong, grant_type="refresh_token", refresh_token=OLD_HANDLE)
    assert refused.refusal == (401, "invalid_client")
    assert (await refresh(service, OLD_HANDLE)).status == 200


@pytest.mark.parametrize("later", [32, 7200], ids=["soon", "after hours"])
async def test_repeat_within_the_reuse_interval_gets_the_same_and_a_later_one_ends_the_family(  # noqa: PLR0917 - fixtures
    service: RunningService,
    loader: Loader,
    config: dict[str, Any],
    events: list[object],
    clock: Clock,
    later: int,
) -> None:
    client_in(config, "frontend")["refresh_token_reuse_interval"] = "30s"
    service.reload(config)
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    first, again = [await refresh(service, OLD_HANDLE) for _ in range(2)]
    assert first["refresh_token"] == again["refresh_token"]
    clock.forward(seconds=later)
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")
    assert (await refresh(service, first["refresh_token"])).refusal == (400, "invalid_grant")
    assert not await service.is_active(first["access_token"])
    assert RefreshTokenReused(client_id="frontend", subject=ALICE) in events


@pytest.mark.parametrize("usage", ["one_time", "reuse"])
async def test_loaded_token_works_once_whatever_the_usage_of_the_client(
    service: RunningService, loader: Loader, config: dict[str, Any], usage: str
) -> None:
    client_in(config, "frontend")["refresh_token_usage"] = usage
    service.reload(config)
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    assert (await refresh(service, OLD_HANDLE))["refresh_token"] != OLD_HANDLE
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize("interval", ["0s", "30s"])
async def test_twenty_uses_at_once_give_one_family(
    service: RunningService, loader: Loader, config: dict[str, Any], interval: str
) -> None:
    client_in(config, "frontend")["refresh_token_reuse_interval"] = interval
    service.reload(config)
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    answers = await asyncio.gather(*[refresh(service, OLD_HANDLE) for _ in range(20)])
    successors = {each["refresh_token"] for each in answers if each.status == 200}
    assert len(successors) <= 1
    assert len(await service.features.shared.authorizations.find_all_of(ALICE)) <= 1
    if interval == "30s":
        assert [each.status for each in answers] == [200] * 20
        assert (await refresh(service, successors.pop())).status == 200


async def test_loading_again_brings_nothing_back(service: RunningService, loader: Loader) -> None:
    rows = [row(OLD_HANDLE, data_v4(SCOPE)), row(NEW_HANDLE, data_v5(SCOPE))]
    assert (await loader.load(*rows)).taken == 2
    await refresh(service, OLD_HANDLE)
    shared = service.features.shared
    await shared.authorizations.end(*await shared.authorizations.find_all_of(ALICE))
    result = await loader.load(*rows)
    assert (result.taken, result.known) == (0, 2)
    for handle in (OLD_HANDLE, NEW_HANDLE):
        assert (await refresh(service, handle)).refusal == (400, "invalid_grant")


async def test_scope_is_what_the_registry_still_allows(
    service: RunningService, loader: Loader
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(f"{SCOPE} gone")))
    access = claims_in((await refresh(service, OLD_HANDLE))["access_token"])
    assert access["scope"] == "api1 offline_access openid"


async def test_loaded_token_can_be_revoked_and_introspected(
    service: RunningService, loader: Loader
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    shown = await service.introspect(OLD_HANDLE, caller="frontend")
    assert (shown["active"], shown["sub"]) == (True, ALICE)
    revoked = await service.post("/connect/revocation", auth="frontend", token=OLD_HANDLE)
    assert revoked.status == 200
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")


async def test_user_who_is_disabled_gets_nothing(
    service: RunningService, loader: Loader, config: dict[str, Any]
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    user_in(config, "alice")["enabled"] = False
    service.reload(config)
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")


async def test_bound_token_of_a_public_client_needs_its_key(
    service: RunningService, loader: Loader
) -> None:
    bound = data_v4("api1 offline_access", client_id="spa", Confirmation='{"jkt": "of-a-key"}')
    result = await loader.load(row(OLD_HANDLE, bound, ClientId="spa"))
    assert result.taken == 1
    form = {"grant_type": "refresh_token", "client_id": "spa", "refresh_token": OLD_HANDLE}
    refused = await service.token(None, **form)
    assert refused.refusal == (400, "invalid_dpop_proof")


PROTECTED = {"PersistentGrantDataContainerVersion": 1, "DataProtected": True, "Payload": "CfDJ8"}
LATER = {"PersistentGrantDataContainerVersion": 2, "DataProtected": False, "Payload": "{}"}
NOT_TAKEN: dict[str, tuple[object, str]] = {
    "protected data": (row(OLD_HANDLE, PROTECTED), "is encrypted by the data protection keys"),
    "data of a later version": (row(OLD_HANDLE, LATER), "a version that is unknown"),
    "no data": (row(OLD_HANDLE, "") | {"Data": None}, "Data of an unknown form"),
    "data that is cut off": (row(OLD_HANDLE, '{"CreationTime": '), "Data of an unknown form"),
    "deep data": (row(OLD_HANDLE, "[" * 5_000), "Data of an unknown form"),
    "another key": (row(OLD_HANDLE, data_v4(SCOPE), Key="abc"), "no SHA-256 hash"),
    "another client": (row(OLD_HANDLE, data_v4(SCOPE), ClientId="web"), "another client or user"),
    "another user": (row(OLD_HANDLE, data_v4(SCOPE), SubjectId="1"), "another client or user"),
    "a client that is not here": (
        row(OLD_HANDLE, data_v4(SCOPE, client_id="gone"), ClientId="gone"),
        "not in the registry",
    ),
    "no scope": (row(OLD_HANDLE, data_v5("")), "no scope"),
    "a key in an unknown way": (
        row(OLD_HANDLE, data_v4(SCOPE, Confirmation='{"x": "y"}')),
        "in a way that is unknown",
    ),
    "a key that is not named": (row(OLD_HANDLE, data_v5(SCOPE, ProofType=2)), "does not name"),
    "an unknown resource": (
        row(OLD_HANDLE, data_v5(SCOPE, AuthorizedResourceIndicators=["urn:x"])),
        "resource indicator",
    ),
    "a time of another form": (
        row(OLD_HANDLE, data_v4(SCOPE), Expiration="tomorrow"),
        "a time that cannot be read",
    ),
    "no row": ([], "no row"),
    "a row of another table": ({"Id": 1, "ClientId": "frontend"}, "no row of PersistedGrants"),
}


@pytest.mark.parametrize(("found", "reason"), NOT_TAKEN.values(), ids=NOT_TAKEN)
async def test_row_that_cannot_go_on_is_left_out_with_its_reason(
    service: RunningService, loader: Loader, found: object, reason: str
) -> None:
    result = await loader.load(found)
    ((said, count),) = result.left_out.items()
    assert (reason in said, count, result.taken) == (True, 1, 0), said
    assert result.places[said] == "[0]"
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")


ENDED: dict[str, dict[str, Any]] = {
    "a code": row(OLD_HANDLE, data_v4(SCOPE), Type="authorization_code"),
    "a consent": row(OLD_HANDLE, "{}", Type="user_consent"),
    "a used one": row(OLD_HANDLE, data_v4(SCOPE), ConsumedTime="2026-01-01T00:00:00"),
    "one that is used by its data": row(
        OLD_HANDLE, data_v4(SCOPE) | {"ConsumedTime": "2026-01-01T00:00:00Z"}
    ),
    "an expired one": row(OLD_HANDLE, data_v4(SCOPE), Expiration="2020-01-01T00:00:00"),
}


@pytest.mark.parametrize("found", ENDED.values(), ids=ENDED)
async def test_row_that_gave_nothing_there_gives_nothing_here(
    service: RunningService, loader: Loader, found: dict[str, Any]
) -> None:
    result = await loader.load(found)
    assert (result.ended, result.taken, result.left_out) == (1, 0, {})
    assert (await refresh(service, OLD_HANDLE)).refusal == (400, "invalid_grant")


async def test_columns_may_be_spelled_as_other_databases_do(
    service: RunningService, loader: Loader
) -> None:
    spelled = {
        "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]: value
        for name, value in row(OLD_HANDLE, data_v4(SCOPE)).items()
    }
    assert "subject_id" in spelled
    assert (await loader.load(spelled)).taken == 1
    assert (await refresh(service, OLD_HANDLE)).status == 200


@pytest.mark.parametrize(
    "token", ["", "unknown", "a" * 200, "a.b.c", "rt_unknown", "é", key_of(OLD_HANDLE)]
)
async def test_any_other_text_is_no_refresh_token(
    service: RunningService, loader: Loader, token: str
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    refused = (await refresh(service, token)).refusal
    assert refused == (400, "invalid_grant" if token else "invalid_request")


async def test_loaded_token_and_one_of_this_service_take_the_same_two_round_trips(
    service: RunningService, loader: Loader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await loader.load(row(OLD_HANDLE, data_v4(SCOPE)))
    own = str((await service.user_token(scope="api1 offline_access"))["refresh_token"])
    asked, ask = list[int](), KeyValue._ask  # noqa: SLF001 - each call is a round trip

    def counted(self: KeyValue, channel: Any, commands: Any, *others: Any) -> Any:
        asked.append(len(commands))
        return ask(self, channel, commands, *others)

    monkeypatch.setattr(KeyValue, "_ask", counted)
    for token, trips in ((own, 2), (OLD_HANDLE, 2), ("unknown", 1), ("rt_unknown", 0)):
        asked.clear()
        await refresh(service, token)
        assert len(asked) == trips, token
