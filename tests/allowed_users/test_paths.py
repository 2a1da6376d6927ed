"""`allowed_users` and `tenants` of a client hold on every path, for what was granted before, too (RFC 6749 §6, RFC 7662 §2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.model.client import Permissions
from service.tokens.permitted import may_use
from tests.allowed_users.paths import PATHS, Path, World
from tests.driving.registry import client_in
from tests.identity.people import REGISTRY

pytestmark = pytest.mark.rfc("6749#6", "7662#2.2")

each_path = pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)


def alice_in(config: dict[str, Any]) -> dict[str, Any]:
    alice: dict[str, Any] = config["users"]["list"][0]
    return alice


@pytest.fixture
def restricted(config: dict[str, Any], path: Path) -> None:
    """Only those of the staff may use the client of the path, and only those of Acme."""
    client = client_in(config, path.client)
    client["allowed_users"] = [{"groups": ["owners"]}, {"groups": ["staff"], "sub": ["818727"]}]
    client["tenants"] = ["acme"]


@pytest.mark.usefixtures("restricted")
@each_path
async def test_an_allowed_user_uses_the_client(world: World, path: Path) -> None:
    await path.begin(world)
    assert await path.end(world) == "ok"


@pytest.mark.usefixtures("restricted")
@each_path
async def test_a_user_who_has_left_the_group_is_refused(
    world: World, path: Path, reload: Callable[..., None]
) -> None:
    await path.begin(world)
    reload(lambda config: alice_in(config)["claims"].update(groups=["admins"]))
    assert await path.end(world) == path.refusal


@pytest.mark.usefixtures("restricted")
@each_path
async def test_a_user_who_is_of_another_tenant_now_is_refused(
    world: World, path: Path, reload: Callable[..., None]
) -> None:
    await path.begin(world)
    reload(lambda config: alice_in(config).update(tenant="beta"))
    refusal = path.refusal if path.refusal_by_tenant is None else path.refusal_by_tenant
    assert await path.end(world) == refusal


@each_path
async def test_a_permission_that_is_withdrawn_at_the_client_ends_what_it_gave(
    world: World, path: Path, reload: Callable[..., None]
) -> None:
    await path.begin(world)
    reload(lambda config: client_in(config, path.client).update(allowed_users=[{"sub": ["1"]}]))
    assert await path.end(world) == path.refusal


class Untouched(dict[str, object]):
    """Claims that nobody may look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)

    def __getitem__(self, name: str) -> Any:
        raise AssertionError(name)


def test_a_client_for_everybody_costs_no_look_at_the_user() -> None:
    everybody = Permissions(
        grant_types=frozenset(),
        scope=frozenset(),
        authorization_details_types=frozenset(),
        enable_local_login=True,
        identity_providers=frozenset(),
    )
    assert may_use(everybody, "818727", "local", Untouched(), REGISTRY)
