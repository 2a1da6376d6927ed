"""The report of a takeover tells an operator which client, user or file a row is about, and asks only for what is still to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.keys.jose import Key
from tests.takeover.conftest import Import, a_client, a_realm, report_of
from tests.takeover.importing import run_import

PARTIAL = Path(__file__).parent / "keycloak/partial.json"
PATTERN = a_client(clientId="wild", redirectUris=["https://a.example/*"])


def rows_of(import_realm: Import, **members: Any) -> dict[str, dict[str, str]]:
    """The rows of what was not taken, by place."""
    report = report_of(import_realm(a_realm(**members), "--report", "json"))
    return {row["place"]: row for row in report["not_taken"]}


@pytest.mark.parametrize(
    ("client", "name"),
    [
        pytest.param(PATTERN, "wild", id="of a client that is taken"),
        pytest.param({"clientId": "masked", "secret": "*" * 10}, "masked", id="of one that is not"),
        pytest.param(PATTERN | {"clientId": "a\u202eb"}, "a\\u202eb", id="with a hidden character"),
    ],
)
def test_a_row_names_the_client(import_realm: Import, client: dict[str, Any], name: str) -> None:
    realm = a_realm(clients=[client])
    lines = import_realm(realm, "--force").stdout.splitlines()
    assert any(line.startswith("  clients[0]") and f' of "{name}": ' in line for line in lines)
    rows = report_of(import_realm(realm, "--force", "--report", "json"))["not_taken"]
    assert {row["name"] for row in rows} == {name}


def test_a_row_names_the_client_of_hydra(tmp_path: Path) -> None:
    client = {"client_id": "app", "token_endpoint_auth_method": "client_secret_basic"}
    (tmp_path / "clients.json").write_text(json.dumps([client]))
    report = run_import("hydra", tmp_path / "clients.json", tmp_path / "out").report
    assert [row["name"] for row in report["not_taken"]] == ["app"]


def test_a_reason_that_several_clients_share_is_said_once(import_realm: Import) -> None:
    masked = [a_client(clientId=name, secret="*" * 10) for name in ("one", "two", "three")]
    lines = import_realm(a_realm(clients=masked)).stdout.splitlines()
    at = lines.index("  the secret is masked")
    remedy, *places = lines[at + 1 : at + 5]
    assert "kc.sh export" in remedy
    names = ("one", "two", "three")
    assert places == [
        f'    - clients[{number}].secret of "{name}"' for number, name in enumerate(names)
    ]


def test_a_row_names_the_scope_and_the_provider(import_realm: Import) -> None:
    scope = {"name": "odd", "protocolMappers": [{"protocolMapper": "script-x.js"}]}
    members = {
        "clients": [a_client(defaultClientScopes=["odd"])],
        "clientScopes": [scope],
        "identityProviders": [{"alias": "partner", "providerId": "saml"}],
    }
    rows = rows_of(import_realm, **members)
    assert {row["name"] for row in rows.values()} == {"odd", "partner"}


def test_the_report_shows_the_pattern_that_is_left_out(import_realm: Import) -> None:
    row = rows_of(import_realm, clients=[PATTERN])["clients[0].redirectUris[0]"]
    assert row["reason"] == 'a pattern of redirect URIs: "https://a.example/*"'


def test_a_place_has_the_number_of_the_file_of_users(import_realm: Import, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "shop-realm.json").write_text(json.dumps(a_realm()))
    for number in (0, 2, 10):
        user = {"id": "one", "username": f"user-{number}"}
        content = {"realm": "shop", "users": [user]}
        (folder / f"shop-users-{number}.json").write_text(json.dumps(content))
    rows = report_of(import_realm(folder, "--report", "json"))["not_taken"]
    assert [row["place"] for row in rows] == ["users-2/users[0]", "users-10/users[0]"]
    assert all('(user "one")' in row["reason"] for row in rows)


def test_the_report_names_the_actions_that_a_user_has_to_do(import_realm: Import) -> None:
    user = {"id": "1", "username": "alice", "requiredActions": ["UPDATE_PASSWORD", "x"]}
    row = rows_of(import_realm, users=[user])["users[0].requiredActions"]
    assert '"UPDATE_PASSWORD", "x"' in row["reason"]


def test_the_first_password_of_a_user_counts(import_realm: Import, tmp_path: Path) -> None:
    def password(salt: str) -> dict[str, str]:
        hashed = {"value": "A" * 43 + "=", "salt": salt}
        how = {"hashIterations": 27500, "algorithm": "pbkdf2-sha256"}
        return {
            "type": "password",
            "secretData": json.dumps(hashed),
            "credentialData": json.dumps(how),
        }

    credentials = [password("Zmlyc3Q="), password("c2Vjb25k")]
    rows = rows_of(
        import_realm, users=[{"id": "1", "username": "alice", "credentials": credentials}]
    )
    assert rows.keys() == {"users[0].credentials[1]"}
    assert "Zmlyc3Q=" in (tmp_path / "out/users.yaml").read_text()


@pytest.mark.parametrize("source", [PARTIAL, None], ids=["masked keys", "no components"])
def test_keys_are_not_asked_for_where_they_are_given(
    import_realm: Import, tmp_path: Path, source: Path | None
) -> None:
    (tmp_path / "jwks.json").write_text(json.dumps(Key.generate("RS256").public_jwk))
    given = ("--jwks", str(tmp_path / "jwks.json"), "--report", "json")
    realm = source or a_realm(components={})
    assert "--jwks" in import_realm(realm, out=None).stdout
    rows = report_of(import_realm(realm, *given, out=None))["not_taken"]
    assert not any("--jwks" in row["what_to_do"] for row in rows)
