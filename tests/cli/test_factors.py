"""`factors` loads second factors of another server, and counts those in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fido2.utils import websafe_encode

from service.model.handle import digest
from tests.cli.conftest import Command
from tests.driving.authenticator import Authenticator
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.factors.keyring import use
from tests.factors.phone import ALICE, Phone
from tests.factors.test_loading import document, passkey_entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "factors.json"


def write(file: Path, *users: dict[str, Any], **header: Any) -> None:
    file.write_text(json.dumps(document(*users, **header)))


async def test_loaded_factors_are_used_and_counted(
    command: Command, service: RunningService, app: ClientApp, file: Path
) -> None:
    phone, mine = Phone(), Authenticator(origin=service.issuer, user_handle=websafe_encode(b"1"))
    users = [{"sub": ALICE, "totp": {"seed": phone.secret}, "passkeys": [passkey_entry(mine)]}]
    users += [{"sub": f"other {at}", "totp": {"seed": Phone().secret}} for at in range(120)]
    write(file, *users)
    nothing = {"added": 0, "replaced": 0, "unchanged": 0, "kept": 0}
    for outcome in ("added", "unchanged"):
        loaded = await command("factors", "load", str(file), "--format", "json")
        assert phone.secret not in loaded.output
        assert json.loads(loaded.stdout) == {
            "otp": nothing | {outcome: 121},
            "passkey": nothing | {outcome: 1},
        }
    assert "code" in (await use(app.browser, await app.authorize(), mine)).parameters
    counted = await command("factors", "list", "--format", "json")
    assert json.loads(counted.stdout) == {
        "users": 121,
        "otp": 121,
        "passkeys": 1,
        "recovery_codes": 0,
        "unreadable": 0,
    }


async def test_nothing_is_loaded_of_a_file_with_a_fault(
    command: Command, service: RunningService, file: Path
) -> None:
    seed = Phone().secret
    wrong: list[dict[str, Any]] = [
        {"sub": f"{at}", "totp": {"seed": f"{seed}1"}} for at in range(30)
    ]
    write(file, {"sub": ALICE, "totp": {"seed": seed}}, *wrong)
    result = await command("factors", "load", str(file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("totp.seed") == 20
    assert "nothing was loaded; problems: 30" in result.stderr
    assert seed not in result.stderr
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def test_passkeys_of_another_domain_can_be_left_out(
    command: Command, service: RunningService, file: Path
) -> None:
    mine = Authenticator(origin=service.issuer, user_handle="AA")
    user = {"sub": ALICE, "totp": {"seed": Phone().secret}, "passkeys": [passkey_entry(mine)]}
    write(file, user, rp_id="old.example")
    refused = await command("factors", "load", str(file))
    assert refused.exit_code == 1
    assert "--without-passkeys" in refused.stderr
    loaded = await command("factors", "load", str(file), "--without-passkeys")
    assert [line.split() for line in loaded.stdout.splitlines()] == [
        ["METHOD", "ADDED", "REPLACED", "UNCHANGED", "KEPT"],
        ["otp", "1", "0", "0", "0"],
        ["passkey", "0", "0", "0", "0"],
    ]


async def test_file_that_is_not_there_is_an_error(command: Command, file: Path) -> None:
    result = await command("factors", "load", str(file))
    assert result.exit_code == 1
    assert "No such file" in result.stderr


async def test_unreadable_factors_are_counted_as_such(
    command: Command, service: RunningService
) -> None:
    await Phone().enrol(service)
    shared = service.features.shared
    record = shared.stores.factors
    lost = record.encode("sealed by a lost key")
    assert await shared.kv.replace(record.key(digest("lost")), old=None, new=lost)
    result = await command("factors", "list")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["users", "1"],
        ["otp", "1"],
        ["passkeys", "0"],
        ["recovery", "codes", "10"],
        ["unreadable", "1"],
    ]
