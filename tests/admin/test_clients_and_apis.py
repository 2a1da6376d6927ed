"""The admin API shows clients and APIs with the settings in force, the line of their entry, and when their secrets were last used."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from service.clients import registered_list
from service.clients.registered_list import RegisteredList
from tests.admin.conftest import Admin, token_of
from tests.clients.signing import SECRET, Signer
from tests.conftest import Clock
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService


async def pages(admin: Admin, path: str, limit: int) -> list[list[dict[str, Any]]]:
    """All pages of a list."""
    found: list[list[dict[str, Any]]] = []
    cursor = ""
    while True:
        answer = await admin("GET", f"{path}?limit={limit}{cursor}")
        assert answer.status == 200, answer.body
        found.append(answer["items"])
        if answer["next"] is None:
            return found
        cursor = f"&cursor={answer['next']}"


async def secrets_used(admin: Admin, path: str, later_than: str | None = "") -> list[str | None]:
    """The last days of the secrets, as soon as one is written."""
    found: list[str | None] = []
    deadline = asyncio.get_running_loop().time() + 5
    while (
        not any((one or "") > (later_than or "") for one in found)
        and asyncio.get_running_loop().time() < deadline
    ):
        await asyncio.sleep(0.02)
        found = [one["last_used"] for one in (await admin("GET", path))["secrets"]]
    return found


async def test_client_is_shown_with_settings_in_force_and_its_line(admin: Admin) -> None:
    answer = await admin("GET", "/admin/clients/web")
    assert (answer.status, answer["client_id"], answer["origin"]) == (200, "web", "configuration")
    assert answer["place"].rpartition(":")[2].isdecimal()
    assert answer["settings"]["access_token_lifetime"] > 0
    assert answer["settings"]["require_pkce"] is True


async def test_api_is_shown_with_settings_in_force_and_its_line(admin: Admin) -> None:
    answer = await admin("GET", "/admin/api-resources/api1")
    assert (answer.status, answer["name"]) == (200, "api1")
    assert "api1" in answer["settings"]["scopes"]
    assert answer["place"].rpartition(":")[2].isdecimal()


@pytest.mark.parametrize("path", ["/admin/clients/nobody", "/admin/api-resources/nothing"])
async def test_unknown_name_is_not_found(admin: Admin, path: str) -> None:
    assert (await admin("GET", path)).refusal == (404, "not_found")


async def test_admin_api_is_shown_without_a_line(admin: Admin, service: RunningService) -> None:
    name = str(service.admin_url)
    answer = await admin("GET", f"/admin/api-resources/{quote(name, safe='')}")
    assert (answer.status, answer["name"], answer["place"]) == (200, name, None)
    assert answer["settings"]["scopes"] == ["admin.read", "admin.write"]


async def test_pages_hold_each_client_once(admin: Admin, config: dict[str, Any]) -> None:
    found = await pages(admin, "/admin/clients", 3)
    names = [client["client_id"] for page in found for client in page]
    assert names == sorted(client["client_id"] for client in config["clients"])
    assert {len(page) for page in found[:-1]} == {3}


async def test_pages_hold_each_api_once(admin: Admin, config: dict[str, Any]) -> None:
    found = await pages(admin, "/admin/api-resources", 1)
    assert [[api["name"] for api in page] for page in found] == [
        [name] for name in sorted(api["name"] for api in config["api_resources"])
    ]


ZEROS = "0" * 8


@pytest.mark.parametrize(
    "limit", ["0", "201", "-1", "x", "٣", "1.0", f"{ZEROS}199", f"{ZEROS}1{ZEROS * 700}"]
)
async def test_limit_is_a_number_up_to_200(admin: Admin, limit: str) -> None:
    answer = await admin("GET", f"/admin/clients?limit={quote(limit)}")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == "limit is not a number from 1 to 200"


@pytest.mark.parametrize("cursor", ["!", "AA", "4pyT4pyT4", "%00"])
async def test_cursor_is_of_a_page_of_sessions(admin: Admin, cursor: str) -> None:
    answer = await admin("GET", f"/admin/users/818727/sessions?cursor={cursor}")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == "cursor is not the next of a page of this list"


async def test_use_of_a_clients_secret_is_seen(admin: Admin) -> None:
    today = datetime.now(UTC).date().isoformat()
    assert await secrets_used(admin, "/admin/clients/operations") == [today]
    assert (await admin("GET", "/admin/clients/machine"))["secrets"][0]["last_used"] is None


@pytest.mark.rfc("7523#3")
async def test_use_of_a_secret_that_signs_is_seen(
    admin: Admin, service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "machine")["client_secrets"] = [{"sha256": "00" * 32}, {"value": SECRET}]
    service.reload(config)
    await Signer(service, "machine", "HS256").ask()
    unused, used = await secrets_used(admin, "/admin/clients/machine")
    assert (unused, used) == (None, datetime.now(UTC).date().isoformat())


async def test_use_of_an_apis_secret_is_seen(admin: Admin, service: RunningService) -> None:
    await service.introspect("nothing", caller="api1")
    today = datetime.now(UTC).date().isoformat()
    assert await secrets_used(admin, "/admin/api-resources/api1") == [today]


async def test_use_of_an_apis_secret_is_seen_on_another_day(
    admin: Admin, service: RunningService, clock: Clock
) -> None:
    """Its credentials are remembered by then, and not verified anew."""
    await service.introspect("nothing", caller="api1")
    (first,) = await secrets_used(admin, "/admin/api-resources/api1")
    clock.forward(days=1)
    await service.introspect("nothing", caller="api1")
    token = await token_of(service, "operations")

    async def later(method: str, path: str) -> Answer:
        return await service.admin(method, path, token)

    (second,) = await secrets_used(later, "/admin/api-resources/api1", later_than=first)
    today = datetime.now(UTC).date()
    assert (first, second) == (str(today - timedelta(days=1)), str(today))


async def test_day_of_a_secret_that_was_replaced_is_not_shown(
    admin: Admin, service: RunningService
) -> None:
    await service.token("machine", grant_type="client_credentials", scope="api1")
    (used,) = await secrets_used(admin, "/admin/clients/machine")
    file = service.features.shared.configuration.file
    changed = json.loads(file.read_text())
    client_in(changed, "machine")["client_secrets"].insert(0, {"sha256": "00" * 32})
    file.write_text(json.dumps(changed))
    assert service.features.shared.registry.reload()
    answer = await admin("GET", "/admin/clients/machine")
    shown = [(one["position"], one["last_used"]) for one in answer["secrets"]]
    assert (used is not None, shown) == (True, [(0, None), (1, None)])


async def test_wrong_secret_is_no_use(admin: Admin, service: RunningService) -> None:
    wrong = ("machine", "wrong")
    answer = await service.token(wrong, grant_type="client_credentials", scope="api1")
    assert answer.refusal == (401, "invalid_client")
    await secrets_used(admin, "/admin/clients/operations")
    assert (await admin("GET", "/admin/clients/machine"))["secrets"][0]["last_used"] is None


class TestRegistered:
    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
        return config

    @staticmethod
    async def register(service: RunningService, name: str) -> Answer:
        metadata = {"client_name": name, "redirect_uris": [f"https://{name}.example/cb"]}
        async with service.http.post(
            f"{service.issuer}/connect/register", json=metadata
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def test_pages_hold_each_registered_client_once(
        self, admin: Admin, service: RunningService
    ) -> None:
        ids = {(await self.register(service, f"app{at}"))["client_id"] for at in range(5)}
        found = await pages(admin, "/admin/registered-clients", 2)
        assert [len(page) for page in found] == [2, 2, 1]
        assert {client["client_id"] for page in found for client in page} == ids
        assert found[0][0]["origin"] == "dynamic_registration"
        assert found[0][0]["registered_at"].endswith("Z")

    async def test_registered_client_is_shown_by_its_id(
        self, admin: Admin, service: RunningService
    ) -> None:
        registered = await self.register(service, "mine")
        answer = await admin("GET", f"/admin/clients/{registered['client_id']}")
        assert (answer["name"], answer["place"]) == ("mine", None)
        assert registered["client_secret"].encode() not in answer.body
        assert registered["registration_access_token"].encode() not in answer.body

    async def test_deleted_client_is_not_listed(
        self, admin: Admin, service: RunningService
    ) -> None:
        registered = await self.register(service, "mine")
        headers = {"Authorization": f"Bearer {registered['registration_access_token']}"}
        await service.http.delete(registered["registration_client_uri"], headers=headers)
        assert (await admin("GET", "/admin/registered-clients"))["items"] == []

    async def test_client_that_registered_before_there_was_a_list_is_listed(
        self, service: RunningService, admin: Admin
    ) -> None:
        client_id = (await self.register(service, "older"))["client_id"]
        stores = service.features.shared.stores
        await stores.kv.write(
            stores.registered_list.drop("registered"),
            stores.registered_list_made.drop("registered"),
        )
        assert (await admin("GET", "/admin/registered-clients"))["items"] == []
        await RegisteredList(stores).complete()
        (listed,) = (await admin("GET", "/admin/registered-clients"))["items"]
        assert listed["client_id"] == client_id

    async def test_client_that_registered_with_an_older_release_is_listed_by_a_later_start(
        self,
        service: RunningService,
        admin: Admin,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(registered_list, "COMPLETE_FOR", 60)
        client_id = (await self.register(service, "older"))["client_id"]
        stores = service.features.shared.stores
        await stores.kv.write(stores.registered_list_made.drop("registered"))
        await RegisteredList(stores).complete()
        await stores.kv.write(stores.registered_list.drop("registered"))
        await RegisteredList(stores).complete()
        assert (await admin("GET", "/admin/registered-clients"))["items"] == []
        clock.forward(seconds=61)
        await RegisteredList(stores).complete()
        (listed,) = (await admin("GET", "/admin/registered-clients"))["items"]
        assert listed["client_id"] == client_id


async def test_api_is_found_by_its_url(admin: Admin, service: RunningService) -> None:
    file, url = service.features.shared.configuration.file, "https://api1.example/orders"
    changed = json.loads(file.read_text())
    next(api for api in changed["api_resources"] if api["name"] == "api1")["url"] = url
    file.write_text(json.dumps(changed))
    assert service.features.shared.registry.reload()
    answer = await admin("GET", f"/admin/api-resources/{quote(url, safe='')}")
    assert (answer.status, answer["name"], answer["url"]) == (200, "api1", url)
