"""Keys of the server before come from a file, too: a set or one key, of which only public members are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.keys.jose import Key
from tests.takeover.conftest import Import, a_realm, report_of

KEY: dict[str, Any] = Key.generate("ES256").private_jwk | {"kid": "theirs"}


@pytest.mark.parametrize("written", [{"keys": [KEY]}, KEY], ids=["a set", "a bare key"])
def test_only_public_members_are_kept(
    import_realm: Import, tmp_path: Path, written: dict[str, Any]
) -> None:
    (tmp_path / "jwks.json").write_text(json.dumps(written))
    result = import_realm(a_realm(), "--jwks", str(tmp_path / "jwks.json"))
    assert result.exit_code == 0, result.output
    (key,) = json.loads((tmp_path / "out/keys.json").read_text())["keys"]
    assert key == {name: KEY[name] for name in ("kty", "crv", "x", "y", "kid")} | {
        "alg": "ES256",
        "use": "sig",
    }
    assert KEY["d"] not in (tmp_path / "out/keys.json").read_text()
    assert "jwks: keys.json" in (tmp_path / "out/config.yaml").read_text()


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "P-256", "x": 1, "y": None},
        {"kty": "RSA", "n": "AA" * 5000, "e": "AQAB"},
        KEY | {"use": "enc"},
        KEY | {"alg": "none"},
        KEY | {"kty": ["EC"]},
        {},
    ],
    ids=["secret", "no point", "no text", "huge", "encryption", "none", "list", "empty"],
)
def test_what_is_no_public_key_of_signatures_is_left_out(
    import_realm: Import, tmp_path: Path, key: dict[str, Any]
) -> None:
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [key]}))
    result = import_realm(a_realm(), "--jwks", str(tmp_path / "jwks.json"), "--report", "json")
    assert result.exit_code == 4
    assert report_of(result)["not_taken"][0]["place"] == "jwks.json: keys[0]"
    assert not (tmp_path / "out/keys.json").exists()


@pytest.mark.parametrize("written", ["", "[]", '{"keys": {}}', '{"keys": [1]}', "[" * 100_000])
def test_a_file_that_is_no_set_of_keys_is_refused(
    import_realm: Import, tmp_path: Path, written: str
) -> None:
    (tmp_path / "jwks.json").write_text(written)
    refused = import_realm(a_realm(), "--jwks", str(tmp_path / "jwks.json"))
    assert (refused.exit_code, "jwks.json" in refused.stderr) == (1, True)
    assert not (tmp_path / "out").exists()


def test_a_folder_of_several_realms_is_refused(import_realm: Import, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    for name in ("shop", "master"):
        (folder / f"{name}-realm.json").write_text(json.dumps(a_realm(realm=name)))
    refused = import_realm(folder)
    assert (refused.exit_code, "several realms" in refused.stderr) == (1, True)
    assert import_realm(folder / "shop-realm.json").exit_code == 0
