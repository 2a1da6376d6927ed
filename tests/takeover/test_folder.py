"""The folder that `import` writes: whole or not at all, for its owner alone, and never over something else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.takeover.conftest import Import, a_client, a_realm, invoke


def test_an_import_of_a_whole_realm_exits_with_0_and_can_be_checked(
    import_realm: Import, tmp_path: Path
) -> None:
    assert import_realm(a_realm()).exit_code == 0
    checked = invoke("check", str(tmp_path / "out/config.yaml"))
    assert (checked.exit_code, "0 errors" in checked.stderr) == (0, True)


def test_an_import_that_leaves_something_out_exits_with_4(import_realm: Import) -> None:
    result = import_realm(a_realm(clients=[a_client(webOrigins=["*"])]))
    assert result.exit_code == 4
    assert 'clients[0].webOrigins[0] of "web": every origin' in result.stdout


def test_an_import_without_out_writes_nothing(import_realm: Import, tmp_path: Path) -> None:
    assert import_realm(a_realm(), out=None).exit_code == 0
    assert [each.name for each in tmp_path.iterdir()] == ["export.json"]


def test_only_the_owner_may_read_what_was_written(import_realm: Import, tmp_path: Path) -> None:
    keyed = a_client(clientAuthenticatorType="client-secret-jwt", secret="s" * 40)
    import_realm(a_realm(clients=[keyed]), out="new/er/out")
    modes = {
        stat.S_IMODE(each.stat().st_mode)
        for each in (tmp_path / "new").rglob("*")
        if each.is_file()
    }
    folders = {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "new").rglob("*/")}
    assert (modes, folders) == ({0o600}, {0o700})
    assert (tmp_path / "new/er/out/secrets/1").read_text() == "s" * 40 + "\n"


def test_the_same_input_writes_the_same_bytes(import_realm: Import, tmp_path: Path) -> None:
    for out in ("one", "two"):
        import_realm(a_realm(users=[{"id": "1", "username": "alice"}]), out=out)
    one, two = (
        {each.name: each.read_bytes() for each in (tmp_path / out).iterdir()}
        for out in ("one", "two")
    )
    assert one == two
    assert "users.yaml" in one


def test_a_folder_is_not_replaced_without_force(import_realm: Import, tmp_path: Path) -> None:
    import_realm(a_realm())
    before = (tmp_path / "out/registry.yaml").read_text()
    refused = import_realm(a_realm(clients=[]))
    assert (refused.exit_code, "add --force" in refused.stderr) == (1, True)
    assert (tmp_path / "out/registry.yaml").read_text() == before


def test_force_replaces_a_folder_that_an_import_has_written(
    import_realm: Import, tmp_path: Path
) -> None:
    import_realm(a_realm(users=[{"id": "1", "username": "alice"}]))
    assert import_realm(a_realm(), "--force").exit_code == 0
    assert not (tmp_path / "out/users.yaml").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["export.json", "out"]


@pytest.mark.parametrize("name", ["mine.txt", "secrets/database"])
def test_force_replaces_no_folder_with_other_files(
    import_realm: Import, tmp_path: Path, name: str
) -> None:
    import_realm(a_realm())
    (tmp_path / "out/secrets").mkdir(exist_ok=True)
    (tmp_path / "out" / name).write_text("mine")
    refused = import_realm(a_realm(), "--force")
    assert (refused.exit_code, "does not write" in refused.stderr) == (1, True)
    assert (tmp_path / "out" / name).read_text() == "mine"


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_link_is_not_followed(import_realm: Import, tmp_path: Path, options: tuple[str]) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    refused = import_realm(a_realm(), *options)
    assert (refused.exit_code, "links are not followed" in refused.stderr) == (1, True)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_nothing_is_left_of_an_import_whose_users_cannot_be_read(
    import_realm: Import, tmp_path: Path
) -> None:
    broken = '{"realm": "shop", "users": [{"id": "1", "username": "alice"}, {"id": "2", "usern'
    refused = import_realm(broken)
    assert (refused.exit_code, "at users[1]" in refused.stderr) == (1, True)
    assert [each.name for each in tmp_path.iterdir()] == ["export.json"]


def test_nothing_is_left_of_an_import_that_fails_while_it_writes(
    import_realm: Import, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", refuse)
    refused = import_realm(a_realm())
    assert (refused.exit_code, "No space left" in refused.stderr) == (1, True)
    assert [each.name for each in tmp_path.iterdir()] == ["export.json"]


def test_an_unknown_kind_is_an_error_of_usage() -> None:
    assert invoke("import", "zitadel", "export.json").exit_code == 2


def test_an_issuer_that_is_none_is_an_error_of_usage(import_realm: Import) -> None:
    refused = import_realm(a_realm(), "--issuer", "http://id.example.com/realms/shop")
    assert (refused.exit_code, "must be https" in refused.stderr) == (2, True)


def test_a_pipe_is_no_input(import_realm: Import, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with os.fdopen(os.open(tmp_path / "pipe", os.O_RDWR)):
        refused = import_realm(tmp_path / "pipe")
    assert (refused.exit_code, "this is no file" in refused.stderr) == (1, True)
