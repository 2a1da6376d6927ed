"""A user whose `sub` is none, by a store of the operator's own, is nobody (OIDC Core §2)."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from service.model.user import User
from tests.driving.registry import password_of
from tests.driving.service import RunningService
from tests.users.switched import SwitchedUsers
from tests.users.test_sql_users import WRONG, sign_in

pytestmark = pytest.mark.usefixtures("one_store")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    source = f"{SwitchedUsers.__module__}:{SwitchedUsers.__name__}"
    return config | {"users": {"source": source, "timeout": "30s"}}


@pytest.mark.rfc("openid-core#2")
@pytest.mark.parametrize(
    "sub", ["", "s" * 256, "a\n", "é"], ids=["empty", "too long", "control", "beyond ASCII"]
)
async def test_user_without_a_sub_signs_in_nowhere_and_is_logged(
    service: RunningService, store: SwitchedUsers, sub: str
) -> None:
    store.users.append(User(sub=sub, username="carol", password=password_of("carol")))
    with capture_logs() as logged:
        assert (await sign_in(service, "carol", "carol")).refusal == WRONG
        listed = await service.features.shared.users.list_users("", 10)
    assert [user.username for user in listed] == ["alice", "bob"]
    assert "carol" in {line.get("username") for line in logged}
