"""A reload during a request causes no unforeseen error (RFC 6750 §3.1)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml

from service.identity.users import Subjects
from tests.driving.service import RunningService


async def test_the_token_of_a_client_that_is_removed_meanwhile_is_invalid(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = (await service.user_token(scope="openid"))["access_token"]
    file = service.features.shared.configuration.file

    async def removing(*_: object) -> Mapping[str, object]:
        configuration = yaml.safe_load(file.read_text())
        configuration["clients"] = []
        file.write_text(yaml.safe_dump(configuration))
        assert service.features.shared.registry.reload()
        return {}

    monkeypatch.setattr(Subjects, "find_claims", removing)
    headers = {"Authorization": f"Bearer {token}"}
    answer = await service.get("/connect/userinfo", headers=headers)
    assert answer.refusal == (401, "invalid_token")
