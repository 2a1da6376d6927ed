"""While the system of the users does not answer, tokens stay what they were for `users.grace` (RFC 7662 §2.2)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from service.identity.sources.outside import OutsideUsers
from service.protocol.token_types import GRANT_TYPE, uri_of
from tests.conftest import Clock
from tests.driving.registry import hashed
from tests.driving.service import Answer, RunningService
from tests.jwt_bearer.foreign import Partner, partner_entry, presenter_entry
from tests.users.switched import SwitchedUsers

pytestmark = [pytest.mark.rfc("7662#2.2"), pytest.mark.usefixtures("always_probing")]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    exchange = [{"clients": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}]
    api1 = next(client for client in config["clients"] if client["client_id"] == "api1")
    api1["allowed_grant_types"].append(GRANT_TYPE)
    source = f"{SwitchedUsers.__module__}:{SwitchedUsers.__name__}"
    users = {"source": source, "timeout": "30s", "grace": "60s"}
    return config | {"users": users, "token_exchange": exchange}


class Tokens:
    """The use that a signed-in user's clients make of their tokens."""

    def __init__(self, service: RunningService, issued: Answer) -> None:
        self._service = service
        self._access, self._refresh = issued["access_token"], issued["refresh_token"]

    async def introspect(self) -> Answer:
        return await self._service.introspect(self._access)

    async def userinfo(self) -> Answer:
        bearer = {"Authorization": f"Bearer {self._access}"}
        return await self._service.get("/connect/userinfo", headers=bearer)

    async def refresh(self) -> Answer:
        form = {"grant_type": "refresh_token", "refresh_token": self._refresh}
        answer = await self._service.token("frontend", **form)
        if answer.status == 200:
            self._refresh = answer["refresh_token"]
        return answer

    async def exchange(self) -> Answer:
        kind = uri_of("access_token")
        form = {"grant_type": GRANT_TYPE, "subject_token": self._access, "scope": "api2"}
        return await self._service.token("api1", **form, subject_token_type=kind)

    async def delegate(self) -> Answer:
        form = {"grant_type": "delegation", "token": self._access, "scope": "api2"}
        return await self._service.token("api1", **form)

    async def use(self) -> dict[str, int]:
        """Return the status of each use."""
        uses = (self.introspect, self.userinfo, self.refresh, self.exchange, self.delegate)
        return {use.__name__: (await use()).status for use in uses}


@pytest.fixture
async def tokens(service: RunningService) -> Tokens:
    return Tokens(service, await service.user_token("frontend", "openid api1 offline_access"))


def all_of(status: int) -> dict[str, int]:
    uses = ("introspect", "userinfo", "refresh", "exchange", "delegate")
    return dict.fromkeys(uses, status)


async def test_tokens_stay_what_they_were_until_the_grace_is_over(
    tokens: Tokens, store: SwitchedUsers, clock: Clock
) -> None:
    assert await tokens.use() == all_of(200)
    store.trouble = ConnectionRefusedError()
    clock.forward(seconds=58)
    assert await tokens.use() == all_of(200)
    assert (await tokens.introspect())["active"]
    clock.forward(seconds=4)
    assert await tokens.use() == all_of(503)
    store.trouble = None
    assert await tokens.use() == all_of(200)


@pytest.mark.parametrize(
    ("sub", "existing_user"), [("818727", True), ("their-alice", False)], ids=["ours", "theirs"]
)
async def test_tokens_of_whom_a_trusted_issuer_names_stay_what_they_were(  # noqa: PLR0917 - fixtures
    service: RunningService,
    config: dict[str, Any],
    store: SwitchedUsers,
    clock: Clock,
    sub: str,
    existing_user: bool,
) -> None:
    subject = "{sub}" if existing_user else "partner:{sub}"
    config["trusted_issuers"] = [partner_entry(subject=subject, existing_user=existing_user)]
    config["clients"].append(presenter_entry("courier", hashed("courier")))
    service.reload(config)
    token = (await Partner(service).grant(sub=sub))["access_token"]
    assert await service.is_active(token)
    store.trouble = ConnectionRefusedError()
    clock.forward(seconds=58)
    assert await service.is_active(token)
    clock.forward(seconds=4)
    assert (await service.introspect(token)).status == (503 if existing_user else 200)


@pytest.mark.usefixtures("one_store")
async def test_tokens_stay_what_they_were_while_the_system_hangs(
    service: RunningService, tokens: Tokens, store: SwitchedUsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where so many questions wait that the next one is not asked."""
    assert (await tokens.introspect())["active"]
    store.hangs = True
    users = service.features.shared.users
    assert isinstance(users, OutsideUsers)
    monkeypatch.setattr(users.requests, "_timeout", 0.1)
    monkeypatch.setattr(users.requests, "_turns", asyncio.Semaphore(2))
    answers = await asyncio.gather(*[tokens.introspect() for _ in range(6)])
    assert all(answer["active"] for answer in answers)


@pytest.mark.usefixtures("one_store")
async def test_readiness_and_metrics_tell_of_it_and_pods_stay(
    service: RunningService, tokens: Tokens, store: SwitchedUsers
) -> None:
    """All replicas share the directory: to take them out would stop clients that need no user."""
    store.trouble = ConnectionRefusedError()
    for _ in range(4):
        await tokens.introspect()
    assert (await service.get("/health/ready")).status == 200
    metrics = (await service.get("/metrics")).body.decode()
    assert "token_service_users_circuit_open 1.0" in metrics
    assert "token_service_users_failures_total 4.0" in metrics
    machine = await service.token("machine", grant_type="client_credentials", scope="api1")
    assert machine.status == 200
