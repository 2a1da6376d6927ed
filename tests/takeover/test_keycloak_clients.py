"""Clients and users of a realm: what counts of them, and what the report says of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.takeover.keycloak.clients import BUILT_IN
from tests.takeover.conftest import Import, a_client, a_realm, invoke, report_of

PUBLIC = {"clientId": "spa", "publicClient": True}


def written(folder: Path, section: str = "clients") -> list[dict[str, Any]]:
    """The entries of a section that were written."""
    content: dict[str, list[dict[str, Any]]] = (
        yaml.safe_load((folder / "out/registry.yaml").read_text()) or {}
    )
    return content.get(section, [])


def test_the_six_clients_of_every_realm_are_skipped(import_realm: Import, tmp_path: Path) -> None:
    own = [a_client(clientId=name, secret="*" * 10) for name in sorted(BUILT_IN)]
    report = report_of(import_realm(a_realm(clients=[*own, a_client()]), "--report", "json"))
    assert report["not_taken"] == []
    assert [each["client_id"] for each in written(tmp_path)] == ["web"]


@pytest.mark.parametrize("method", ["client-jwt", "client-x509", "federated-jwt", "own-method"])
def test_a_secret_of_a_client_with_another_method_is_no_credential(
    import_realm: Import, tmp_path: Path, method: str
) -> None:
    client = a_client(clientAuthenticatorType=method, secret="never-a-credential")
    result = import_realm(a_realm(clients=[client]))
    assert result.exit_code == 4
    assert written(tmp_path) == []
    assert "clients[0]" in result.stdout


def test_a_secret_that_only_signs_is_taken_for_assertions_alone(
    import_realm: Import, tmp_path: Path
) -> None:
    secret = "signs-and-is-never-sent-to-any-server-at-all"
    client = a_client(clientAuthenticatorType="client-secret-jwt", secret=secret)
    import_realm(a_realm(clients=[client]))
    (web,) = written(tmp_path)
    assert web["token_endpoint_auth_method"] == "client_secret_jwt"
    assert secret not in (tmp_path / "out/registry.yaml").read_text()


def test_origins_of_redirect_uris_are_those_of_pages(import_realm: Import, tmp_path: Path) -> None:
    uris = ["https://a.example/app/*", "https://*.b.example/", "*"]
    client = PUBLIC | {"redirectUris": uris, "webOrigins": ["+", "https://c.example/"]}
    import_realm(a_realm(clients=[client]))
    (spa,) = written(tmp_path)
    assert spa["allowed_cors_origins"] == ["https://a.example", "https://c.example"]
    assert "redirect_uris" not in spa


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("https://a.example", ["https://a.example/cb"]),
        ("https://a.example/", ["https://a.example//cb"]),  # as Keycloak puts them together
        ("${authBaseUrl}", []),
        ("", []),
        (None, []),
    ],
)
def test_a_relative_uri_is_below_the_root_of_the_client(
    import_realm: Import, tmp_path: Path, root: str | None, expected: list[str]
) -> None:
    client = PUBLIC | {"rootUrl": root, "redirectUris": ["/cb"]}
    result = import_realm(a_realm(clients=[client]))
    (spa,) = written(tmp_path)
    assert spa.get("redirect_uris", []) == expected
    assert ('"/cb" is relative to nothing' in result.stdout) is (expected == [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+", ["https://a.example/cb"]),
        ("https://a.example/bye##https://a.example/", ["https://a.example/bye", "https://a.example/"]),
        ("-", []),
        ("", []),
    ],
)  # fmt: skip
def test_uris_after_logout_are_separated_by_two_signs(
    import_realm: Import, tmp_path: Path, text: str, expected: list[str]
) -> None:
    after = {"post.logout.redirect.uris": text}
    client = PUBLIC | {"redirectUris": ["https://a.example/cb"], "attributes": after}
    import_realm(a_realm(clients=[client]))
    (spa,) = written(tmp_path)
    assert spa.get("post_logout_redirect_uris", []) == expected


def test_the_report_names_the_scopes_that_came_unasked(import_realm: Import) -> None:
    scopes = [{"name": "department"}, {"name": "roles"}]
    client = a_client(defaultClientScopes=["department", "roles"])
    realm = a_realm(clients=[client], clientScopes=scopes)
    changed = report_of(import_realm(realm, "--report", "json"))["changed"]
    rows = {row["place"]: row["reason"] for row in changed}
    assert rows["clients[0].defaultClientScopes"].endswith('`scope`: "department"')


def test_the_report_says_that_a_service_account_has_another_subject(import_realm: Import) -> None:
    realm = a_realm(clients=[a_client(serviceAccountsEnabled=True)])
    changed = report_of(import_realm(realm, "--report", "json"))["changed"]
    assert (
        "`sub` of its own tokens" in {row["place"]: row["reason"] for row in changed}["clients[0]"]
    )


def test_a_password_of_before_the_present_one_is_not_taken(
    import_realm: Import, tmp_path: Path
) -> None:
    history = {"type": "password-history", "secretData": "{}", "credentialData": "{}"}
    user = {"id": "1", "username": "alice", "credentials": [history]}
    result = import_realm(a_realm(users=[user]))
    assert result.exit_code == 0, result.output
    assert "password" not in (tmp_path / "out/users.yaml").read_text()


@pytest.mark.parametrize(
    ("domains", "taken"),
    [
        ({}, 1),
        ({"webAuthnPolicyPasswordlessRpId": "shop.example"}, 0),
        ({"webAuthnPolicyRpId": "a.example", "webAuthnPolicyPasswordlessRpId": "a.example"}, 1),
        ({"webAuthnPolicyRpId": "a.example"}, 0),
    ],
    ids=["no domains", "another domain", "one domain", "the other one's domain"],
)
def test_a_passkey_of_another_domain_is_left_out(
    import_realm: Import, tmp_path: Path, domains: dict[str, str], taken: int
) -> None:
    how = {"credentialId": "AAAA", "credentialPublicKey": "AAAA", "counter": 1}
    passkey = {"type": "webauthn-passwordless", "credentialData": json.dumps(how)}
    user = {"id": "1", "username": "alice", "credentials": [passkey]}
    result = import_realm(a_realm(users=[user], **domains))
    assert (tmp_path / "out/factors.json").exists() is bool(taken)
    assert ("users[0].credentials[0]: a passkey of another domain" in result.stdout) is not taken


def test_disabled_clients_and_users_stay_disabled(import_realm: Import, tmp_path: Path) -> None:
    user = {"id": "1", "username": "alice", "enabled": False}
    import_realm(a_realm(clients=[a_client(enabled=False)], users=[user]))
    (web,) = written(tmp_path)
    (alice,) = yaml.safe_load((tmp_path / "out/users.yaml").read_text())["users"]["list"]
    assert (web["enabled"], alice["enabled"]) == (False, False)


@pytest.mark.parametrize(
    "realm",
    [
        {"realm": "shop"},
        {"realm": "shop", "users": []},
        {"realm": "shop", "clients": [], "users": [{"id": "1", "username": "ALICE"}]},
    ],
    ids=["nothing", "no clients", "no clients and one user"],
)
def test_a_realm_with_next_to_nothing_can_be_checked(
    import_realm: Import, tmp_path: Path, realm: dict[str, Any]
) -> None:
    assert import_realm(realm).exit_code == 4  # it has no keys
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0


def test_thousands_of_groups_and_roles_in_a_circle_are_expanded(
    import_realm: Import, tmp_path: Path
) -> None:
    def group(at: int) -> dict[str, Any]:
        below = [{"name": f"below-{each}", "realmRoles": ["deep"]} for each in range(9)]
        return {"name": f"group-{at}", "realmRoles": [f"role-{at}"], "subGroups": below}

    roles = [
        {"name": f"role-{at}", "composites": {"realm": [f"role-{(at + 1) % 300}"]}}
        for at in range(300)
    ]
    config = {"claim.name": "realm_access.roles", "multivalued": "true"}
    mapper = {
        "protocolMapper": "oidc-usermodel-realm-role-mapper",
        "config": config | {"access.token.claim": "true"},
    }
    realm = a_realm(
        groups=[group(at) for at in range(300)],
        roles={"realm": [*roles, {"name": "deep"}]},
        clients=[a_client(protocolMappers=[mapper])],
        users=[{"id": "1", "username": "alice", "groups": ["/group-7/below-3"]}],
    )
    result = import_realm(realm)
    assert result.exit_code == 0, result.output
    (alice,) = yaml.safe_load((tmp_path / "out/users.yaml").read_text())["users"]["list"]
    assert len(alice["claims"]["realm_access"]["roles"]) == 301


def test_files_of_users_are_read_in_the_order_of_their_numbers(
    import_realm: Import, tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "shop-realm.json").write_text(json.dumps(a_realm()))
    (folder / "other-users-0.json").write_text("not of this realm")
    for number in (10, 9, 0):
        content = {"realm": "shop", "users": [{"id": f"{number}", "username": f"u{number}"}]}
        (folder / f"shop-users-{number}.json").write_text(json.dumps(content))
    assert import_realm(folder).exit_code == 0
    users = yaml.safe_load((tmp_path / "out/users.yaml").read_text())["users"]["list"]
    assert [user["sub"] for user in users] == ["0", "9", "10"]
