"""The running service informs the clients of a session that an operator ends (OIDC Back-Channel Logout §2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Command
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in
from tests.logout.relying_party import RelyingParty


@pytest.fixture
def config(config: dict[str, Any], party: RelyingParty) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    return config


@pytest.mark.rfc("openid-backchannel#2.5")
async def test_the_client_is_told(command: Command, app: ClientApp, party: RelyingParty) -> None:
    sid = claims_in((await app.tokens())["id_token"])["sid"]
    assert (await command("sessions", "end", "--session", sid)).exit_code == 0
    assert [claims["sid"] for claims in await party.claims()] == [sid]
