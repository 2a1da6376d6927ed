"""Claims of a realm that mappers make: each is at the client that had it, or is named by the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.takeover.conftest import Import, a_client, a_realm, report_of

EVERYWHERE = dict.fromkeys(("id.token.claim", "access.token.claim", "userinfo.token.claim"), "true")


def a_mapper(kind: str, **config: str) -> dict[str, Any]:
    """A mapper that puts its claim into all tokens."""
    dotted = {key.replace("__", "."): value for key, value in config.items()}
    return {"protocolMapper": f"oidc-{kind}-mapper", "config": EVERYWHERE | dotted}


def attribute(claim: str, name: str) -> dict[str, Any]:
    """A mapper of a user's attribute."""
    return a_mapper("usermodel-attribute", claim__name=claim, user__attribute=name)


def written(folder: Path, section: str, name: str) -> dict[str, Any]:
    """An entry of the registry."""
    found: list[dict[str, Any]] = yaml.safe_load((folder / "out/registry.yaml").read_text())[
        section
    ]
    return next(each for each in found if name in (each.get("client_id"), each.get("name")))


def claims_of_users(folder: Path) -> list[dict[str, Any]]:
    """The claims of each user."""
    users = yaml.safe_load((folder / "out/users.yaml").read_text())["users"]["list"]
    return [each.get("claims", {}) for each in users]


@pytest.mark.parametrize("name", ["sub", "aud", "exp", "scope.of", "sid"])
@pytest.mark.parametrize("kind", ["hardcoded-claim", "usermodel-attribute"])
def test_a_mapper_for_a_claim_of_the_protocol_is_reported(
    import_realm: Import, kind: str, name: str
) -> None:
    mapper = a_mapper(kind, claim__name=name, claim__value="x", user__attribute="legacy_id")
    user = {"id": "1", "username": "alice", "attributes": {"legacy_id": ["17"]}}
    realm = a_realm(clients=[a_client(protocolMappers=[mapper])], users=[user])
    report = report_of(import_realm(realm, "--report", "json"))
    row = report["not_taken"][0]
    assert row["place"] == "clients[0].protocolMappers[0].config"
    assert name.partition(".")[0] in row["reason"]


@pytest.mark.parametrize("first", ["app", "app.tenant"])
def test_a_claim_within_another_one_is_kept_apart_or_reported(
    import_realm: Import, tmp_path: Path, first: str
) -> None:
    second = "app" if first == "app.tenant" else "app.tenant"
    one = a_client(clientId="one", protocolMappers=[attribute(first, "a")])
    two = a_client(clientId="two", protocolMappers=[attribute(second, "b")])
    user = {"id": "1", "username": "alice", "attributes": {"a": ["x"], "b": ["y"]}}
    result = import_realm(a_realm(clients=[one, two], users=[user]), "--report", "json")
    places = [row["place"] for row in report_of(result)["not_taken"]]
    assert places == (["clients[1].protocolMappers[0]", "users"] if first == "app" else [])
    nested = {"app": {"tenant": "x"}, "app of two": "y"}
    assert claims_of_users(tmp_path) == [{"app": "x"} if first == "app" else nested]


def test_members_of_a_claim_that_another_client_did_not_get_are_reported(
    import_realm: Import,
) -> None:
    one = a_client(clientId="one", protocolMappers=[attribute("app.salary", "a")])
    two = a_client(clientId="two", protocolMappers=[attribute("app.team", "b")])
    report = report_of(import_realm(a_realm(clients=[one, two]), "--report", "json"))
    rows = {row["place"]: row["reason"] for row in report["changed"]}
    assert "those of clients[0]" in rows["clients[1].protocolMappers[0]"]


def test_users_keep_the_address_that_they_sign_in_by_though_no_client_reads_it(
    import_realm: Import, tmp_path: Path
) -> None:
    client = a_client(protocolMappers=[attribute("team", "team")])
    user = {"id": "1", "username": "alice", "email": "Alice@Example.com", "emailVerified": True}
    import_realm(a_realm(clients=[client], users=[user | {"attributes": {"team": ["red"]}}]))
    address = {"email": "alice@example.com", "email_verified": True}
    assert claims_of_users(tmp_path) == [{"team": "red"} | address]
    assert "email" not in written(tmp_path, "clients", "web")["user_claims"]["id_token"]


@pytest.mark.parametrize(
    "kind", ["usermodel-property", "usermodel-attribute"], ids=["24.0", "26.7"]
)
def test_the_standard_claims_are_those_of_either_version(
    import_realm: Import, tmp_path: Path, kind: str
) -> None:
    names = {"preferred_username": "username", "email": "email", "given_name": "firstName"}
    mappers = [
        a_mapper(kind, claim__name=claim, user__attribute=name) for claim, name in names.items()
    ]
    scope = {"name": "profile", "protocol": "openid-connect", "protocolMappers": mappers}
    user = {"id": "1", "username": "ALICE", "email": "Alice@Example.com", "firstName": "Alice"}
    client = a_client(defaultClientScopes=["profile"])
    version = "24.0.5" if kind == "usermodel-property" else "26.7.0"
    members = {"clients": [client], "clientScopes": [scope], "users": [user]}
    result = import_realm(a_realm(keycloakVersion=version, **members))
    assert result.exit_code == 0, result.output
    assert claims_of_users(tmp_path) == [
        {
            "preferred_username": "alice",
            "email": "alice@example.com",
            "given_name": "Alice",
            "email_verified": False,
        }
    ]


@pytest.mark.parametrize("resolves", [True, False])
def test_the_report_says_that_tokens_are_no_longer_for_the_account_client(
    import_realm: Import, resolves: bool
) -> None:
    mappers = [{"protocolMapper": "oidc-audience-resolve-mapper"}] if resolves else []
    roles = {"client": {"account": [{"name": "view-profile"}]}}
    realm = a_realm(clients=[a_client(protocolMappers=mappers)], roles=roles)
    changed = report_of(import_realm(realm, "--report", "json"))["changed"]
    assert ("roles.client.account" in [row["place"] for row in changed]) is resolves


def test_a_client_without_full_scope_gets_tokens_for_the_clients_of_its_scope_mappings(
    import_realm: Import, tmp_path: Path
) -> None:
    resolve = {"protocolMapper": "oidc-audience-resolve-mapper"}
    limited = a_client(fullScopeAllowed=False, protocolMappers=[resolve])
    members = {
        "clients": [limited, *(a_client(clientId=name) for name in ("orders", "stock"))],
        "roles": {"client": {name: [{"name": "read"}] for name in ("orders", "stock")}},
        "clientScopeMappings": {"orders": [{"client": "web", "roles": ["read"]}]},
    }
    import_realm(a_realm(**members))
    assert set(written(tmp_path, "clients", "web")["allowed_scopes"]) == {"openid", "orders"}


def test_roles_that_the_scope_of_a_client_leaves_out_are_reported(import_realm: Import) -> None:
    mapper = a_mapper("usermodel-realm-role", claim__name="realm_access.roles")
    narrow = a_client(fullScopeAllowed=False, protocolMappers=[mapper])
    without = a_client(clientId="other", fullScopeAllowed=False)
    report = report_of(import_realm(a_realm(clients=[narrow, without]), "--report", "json"))
    assert [row["place"] for row in report["not_taken"]] == ["clients[0].fullScopeAllowed"]


@pytest.mark.parametrize(
    "mappings",
    [
        {"scopeMappings": [{"clientScope": "pay", "roles": ["cashier"]}]},
        {"clientScopeMappings": {"orders": [{"clientScope": "pay", "roles": ["cashier"]}]}},
    ],
    ids=["of the realm", "of a client"],
)
def test_a_scope_for_users_with_a_role_is_given_to_no_user(
    import_realm: Import, tmp_path: Path, mappings: dict[str, Any]
) -> None:
    client = a_client(optionalClientScopes=["pay", "offline_access"])
    offline = {"clientScope": "offline_access", "roles": ["offline_access"]}
    mappings["scopeMappings"] = [offline, *mappings.get("scopeMappings", [])]
    scopes = [{"name": "pay"}, {"name": "offline_access"}]
    result = import_realm(
        a_realm(clients=[client], clientScopes=scopes, **mappings), "--report", "json"
    )
    assert [row["place"] for row in report_of(result)["not_taken"]] == ["clientScopes[0]"]
    web = written(tmp_path, "clients", "web")
    assert (web["allowed_scopes"], web["allow_offline_access"]) == (["openid"], True)


def test_the_tokens_of_a_service_account_keep_its_name_and_claims(
    import_realm: Import, tmp_path: Path
) -> None:
    note = a_mapper("usersessionmodel-note", claim__name="clientId")
    note["config"]["user.session.note"] = "clientId"
    mappers = [attribute("preferred_username", "username"), attribute("team", "team"), note]
    machine = a_client(clientId="machine", serviceAccountsEnabled=True, protocolMappers=mappers)
    account = {
        "id": "1",
        "username": "service-account-machine",
        "serviceAccountClientId": "machine",
        "attributes": {"team": ["kafka"]},
    }
    import_realm(a_realm(clients=[machine], users=[account]))
    client = written(tmp_path, "clients", "machine")
    assert client["client_claims_prefix"] == ""
    assert client["claims"] == {
        "preferred_username": "service-account-machine",
        "team": "kafka",
        "clientId": "machine",
    }


def test_fixed_claims_have_the_types_of_their_labels(import_realm: Import, tmp_path: Path) -> None:
    typed = {"String": "x", "int": "5", "long": "-7", "boolean": "true", "JSON": '{"a": [1]}'}
    mappers = [
        a_mapper("hardcoded-claim", claim__name=f"of_{label}", claim__value=value)
        for label, value in typed.items()
    ]
    for mapper, label in zip(mappers, typed, strict=True):
        mapper["config"]["jsonType.label"] = label
    import_realm(a_realm(clients=[a_client(protocolMappers=mappers)]))
    assert written(tmp_path, "clients", "web")["user_claims"]["values"] == {
        "of_String": "x",
        "of_int": 5,
        "of_long": -7,
        "of_boolean": True,
        "of_JSON": {"a": [1]},
    }
