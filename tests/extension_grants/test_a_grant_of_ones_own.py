"""An extension grant takes one file and no change in the service (RFC 6749 §4.5)."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.app import create_app
from service.config.problem import ConfigError
from service.grants.extensions import ExtensionGrantError
from service.start.load import load
from tests.conftest import Start
from tests.driving.service import Answer, RunningService, claims_in
from tests.extension_grants.invitations import InvitationGrant

pytestmark = pytest.mark.rfc("6749#4.5")

HANDLERS = "tests.extension_grants"


async def invite(
    service: RunningService, invitation: str | None = "letter", scope: str = "api1", **form: Any
) -> Answer:
    """Use the grant."""
    return await service.token(
        "guest", grant_type="urn:example:invitation", invitation=invitation, scope=scope, **form
    )


async def test_extension_grant_gives_a_token_of_its_user(service: RunningService) -> None:
    answer = await invite(service)
    claims = claims_in(answer["access_token"])
    assert answer.status == 200
    assert (claims["sub"], claims["client_id"]) == ("818727", "guest")
    assert (claims["amr"], claims["idp"]) == (["urn:example:invitation"], "local")
    assert claims["auth_time"] <= claims["iat"]
    assert claims["invited"] is True
    assert await service.is_active(answer["access_token"])


async def test_claims_and_members_of_a_handler_never_replace_standard_ones(
    service: RunningService,
) -> None:
    answer = await invite(service)
    assert answer["welcome"] == "come in"
    assert "id_token" not in answer.json
    assert claims_in(answer["access_token"])["scope"] == answer["scope"] == "api1"


async def test_error_of_a_handler_is_the_answer(service: RunningService) -> None:
    answer = await invite(service, "forged")
    assert answer.refusal == (400, "invalid_grant")
    assert answer["error_description"] == "the invitation is not good"
    assert answer["hint"] == "ask your host"


async def test_an_error_that_it_raises_counts_as_returned(service: RunningService) -> None:
    assert (await invite(service, None)).refusal == (400, "invalid_request")
    denied = await service.token(
        "guest", grant_type="urn:example:misbehaving", scope="api1", way="denies"
    )
    assert denied.refusal == (400, "access_denied")
    assert (denied["host"], denied["error_description"]) == ("Zoe", "Zo? said no")


async def test_scope_is_required(service: RunningService) -> None:
    assert (await invite(service, scope="")).refusal == (400, "invalid_scope")
    assert (await invite(service, scope="api1 email")).refusal == (400, "invalid_scope")


async def test_handler_may_give_less_scope(service: RunningService) -> None:
    assert (await invite(service, scope="api1 api2", little="yes"))["scope"] == "api1"
    assert (await invite(service, scope="api2", little="yes"))["scope"] == ""


async def test_handler_may_give_a_shorter_lifetime(service: RunningService) -> None:
    assert (await invite(service, brief="yes"))["expires_in"] == 60


async def test_handler_may_allow_a_refresh(service: RunningService) -> None:
    first = await invite(service, scope="api1 offline_access")
    second = await service.token(
        "guest", grant_type="refresh_token", refresh_token=first["refresh_token"]
    )
    assert claims_in(second["access_token"])["invited"] is True


async def test_handler_may_forbid_a_refresh(service: RunningService) -> None:
    answer = await invite(service, scope="api1 offline_access", once="yes")
    assert "refresh_token" not in answer.json
    assert answer["scope"] == "api1"


async def test_only_clients_that_list_it_may_use_it(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="urn:example:invitation")
    assert answer.refusal == (400, "unauthorized_client")


async def test_handler_is_made_once(service: RunningService) -> None:
    before = InvitationGrant.made
    for _ in range(3):
        await invite(service)
    assert InvitationGrant.made == before


async def test_discovery_lists_it(service: RunningService) -> None:
    document = (await service.get("/.well-known/openid-configuration")).json
    assert "urn:example:invitation" in document["grant_types_supported"]


async def test_a_reload_brings_its_new_options(
    service: RunningService, config: dict[str, Any]
) -> None:
    config["extension_grants"][0]["options"] = {"invitations": {"postcard": "88421113"}}
    service.reload(config)
    assert (await invite(service)).refusal == (400, "invalid_grant")
    answer = await invite(service, "postcard")
    assert (answer["welcome"], claims_in(answer["access_token"])["sub"]) == ("welcome", "88421113")


async def test_a_handler_that_cannot_be_made_anew_keeps_the_present_one(
    service: RunningService, config: dict[str, Any]
) -> None:
    config["extension_grants"][0]["options"] = {}
    service.features.shared.configuration.file.write_text(yaml.safe_dump(config))
    assert not service.features.shared.registry.reload()
    assert (await invite(service)).status == 200


@pytest.mark.parametrize(
    "handler",
    [
        f"{HANDLERS}.misbehaving:SecondInvitationGrant",
        f"{HANDLERS}.misbehaving:FussyGrant",
        f"{HANDLERS}.misbehaving:NoSuchGrant",
        f"{HANDLERS}.no_such_module:Grant",
        "no-such-entry-point",
    ],
)
def test_a_handler_that_cannot_serve_prevents_the_start(
    config: dict[str, Any], handler: str, tmp_path: Path
) -> None:
    config["extension_grants"].append({"handler": handler})
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(config | {"issuer": "http://localhost:8080"}))
    with pytest.raises((ConfigError, ExtensionGrantError)) as refused:
        create_app(load(file, {}))
    assert handler.rpartition(":")[2] in str(refused.value)


async def test_an_installed_package_may_name_its_handler(
    start: Start, config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "invitations-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: invitations\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(
        textwrap.dedent(f"""
            [token_service.grants]
            invitation = {HANDLERS}.invitations:InvitationGrant
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    config["extension_grants"][0]["handler"] = "invitation"
    assert (await invite(await start(config))).status == 200


@pytest.mark.rfc("8707#2.2")
async def test_a_resource_may_be_named(service: RunningService) -> None:
    answer = await invite(service, scope="api1 api2", resource="api2")
    assert (answer["scope"], claims_in(answer["access_token"])["aud"]) == ("api2", "api2")
    refused = await invite(service, scope="api1", resource="api2")
    assert refused.refusal == (400, "invalid_target")
