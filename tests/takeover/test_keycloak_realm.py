"""A realm that a real Keycloak has exported becomes a configuration with the same clients, claims, roles and keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from joserfc import jwt
from joserfc.jwk import KeySet

from service.keys.jose import Key
from tests.takeover.conftest import Import, a_client, a_realm, invoke, report_of

HERE = Path(__file__).parent / "keycloak"
EXPORT = HERE / "export"
ANSWERS: dict[str, Any] = json.loads((HERE / "answers.json").read_text())


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the realm was written to."""
    out = tmp_path_factory.mktemp("taken") / "out"
    issuer = "https://id.example.com/realms/shop"
    result = invoke("import", "keycloak", str(EXPORT), "--out", str(out), "--issuer", issuer)
    assert result.exit_code == 4
    assert invoke("check", str(out / "config.yaml")).exit_code == 0
    return out


def entries(taken: Path, section: str) -> dict[str, dict[str, Any]]:
    """The entries of a section, by their names."""
    found: list[dict[str, Any]] = yaml.safe_load((taken / "registry.yaml").read_text())[section]
    return {str(each.get("client_id", each.get("name"))): each for each in found}


def people(taken: Path) -> dict[str, dict[str, Any]]:
    """The users by name."""
    users: list[dict[str, Any]] = yaml.safe_load((taken / "users.yaml").read_text())["users"][
        "list"
    ]
    return {each["username"]: each for each in users}


@pytest.mark.parametrize("name", ["alice", "bob", "carol", "dave", "grace"])
def test_a_user_keeps_the_subject_and_all_claims(taken: Path, name: str) -> None:
    user, theirs = people(taken)[name], ANSWERS["users"][name]
    assert user["sub"] == theirs["userinfo"]["sub"]
    claims = sorted_lists(user["claims"])
    expected = theirs["access"] | theirs["userinfo"]
    for protocol in ("exp", "iat", "jti", "iss", "aud", "sub", "typ", "azp", "sid", "acr", "scope"):
        expected.pop(protocol, None)
    assert sorted_lists(expected).items() <= claims.items()


def sorted_lists(value: Any) -> Any:
    """The value with all lists in one order."""
    if isinstance(value, dict):
        return {key: sorted_lists(each) for key, each in value.items()}
    return sorted(value) if isinstance(value, list) else value


def test_roles_are_those_of_composites_groups_and_the_groups_above(taken: Path) -> None:
    alice, bob = (people(taken)[name]["claims"] for name in ("alice", "bob"))
    assert {"manager", "clerk", "auditor", "default-roles-shop"} <= {
        *alice["realm_access"]["roles"]
    }
    assert alice["resource_access"]["orders"]["roles"] == ["read", "write"]
    assert bob["resource_access"]["orders"]["roles"] == ["read"]
    assert "manager" not in bob["realm_access"]["roles"]


def test_service_accounts_are_no_people_but_their_clients_keep_their_roles(taken: Path) -> None:
    names = {"alice", "bob", "carol", "dave", "erin", "frank", "grace"}
    assert people(taken).keys() == names
    machine = entries(taken, "clients")["machine"]
    theirs = ANSWERS["machine"]["realm_access"]["roles"]
    assert sorted(theirs) == machine["claims"]["realm_access"]["roles"]
    assert "always_send_client_claims" not in machine


def test_each_published_signing_key_has_its_kid_and_verifies(taken: Path) -> None:
    keys = json.loads((taken / "keys.json").read_text())
    published = {key["kid"]: key for key in ANSWERS["jwks"]["keys"] if key["use"] == "sig"}
    ours = {key["kid"]: key for key in keys["keys"]}
    assert ours.keys() == published.keys()
    for kid, key in published.items():
        public = {
            name: key[name] for name in ("kty", "n", "e", "crv", "x", "y", "alg") if name in key
        }
        assert public.items() <= ours[kid].items()
    assert not any({"d", "p", "k"} & key.keys() for key in keys["keys"])
    jwt.decode(ANSWERS["access_token"], KeySet.import_key_set(keys), algorithms=["RS256"])


def test_clients_authenticate_as_before(taken: Path) -> None:
    clients = entries(taken, "clients")
    assert clients["spa"]["require_client_secret"] is False
    assert "client_secrets" not in clients["signer"]
    assert clients["signer"]["token_endpoint_auth_method"] == "private_key_jwt"
    assert clients["hmac"]["token_endpoint_auth_method"] == "client_secret_jwt"
    reference = clients["hmac"]["client_secrets"][0]["value"]
    file = taken / reference.removeprefix("${file:").removesuffix("}")
    assert file.read_text() == "hmac-secret-hmac-secret-hmac-secret-hmac\n"


def test_uris_are_absolute_and_patterns_are_left_out(taken: Path) -> None:
    clients = entries(taken, "clients")
    spa, web = clients["spa"], clients["web"]
    assert spa["redirect_uris"] == ["http://localhost:5173/cb", "http://localhost:5173/silent"]
    assert spa["post_logout_redirect_uris"] == ["http://localhost:5173/", *spa["redirect_uris"]]
    assert sorted(web["redirect_uris"]) == [
        "http://127.0.0.1/cb",
        "https://shop.example.com/callback",
    ]
    assert web["client_uri"] == "https://shop.example.com/home"


def test_flows_are_grant_types(taken: Path) -> None:
    grants = {name: each["allowed_grant_types"] for name, each in entries(taken, "clients").items()}
    assert grants["spa"] == ["authorization_code", "refresh_token"]
    assert grants["machine"] == ["client_credentials"]
    assert grants["legacy"] == ["implicit"]
    assert grants["tv"][0].endswith("device_code")
    assert grants["bank"][0].endswith("ciba")
    assert grants["stock"][1].endswith("token-exchange")


def test_the_names_of_a_client_are_data(taken: Path) -> None:
    text = (taken / "registry.yaml").read_text()
    assert 'client_name: "Shop: \\"Büro\\" $${x} #1"' in text
    comments = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    assert not any(name in " ".join(comments) for name in ('web"', "Büro", "spa", "shop"))


def test_audiences_are_apis_with_the_scope_values_that_lead_to_them(taken: Path) -> None:
    apis = entries(taken, "api_resources")
    assert apis["orders"]["scopes"] == ["orders:read", "orders:write"]
    assert apis["orders"]["user_claims"] == ["department"]
    assert apis["stock"]["secrets"]
    assert entries(taken, "api_scopes")["orders:write"]["display_name"] == "Change your orders"


def test_fixed_claims_have_their_type_and_no_prefix(taken: Path) -> None:
    web = entries(taken, "clients")["web"]
    assert web["user_claims"]["values"] == {"plan": {"tier": 3}}
    assert all(
        "plan" in web["user_claims"][key] for key in ("access_token", "id_token", "userinfo")
    )


def test_a_mapper_of_a_client_gives_its_claim_to_that_client_alone(taken: Path) -> None:
    clients = entries(taken, "clients")
    assert "grafana_roles" in clients["grafana"]["user_claims"]["id_token"]
    assert "grafana_roles" not in clients["web"]["user_claims"]["id_token"]
    assert people(taken)["alice"]["claims"]["grafana_roles"] == ["Admin"]


def test_two_clients_may_mean_different_claims_by_one_name(
    import_realm: Import, tmp_path: Path
) -> None:
    def mapper(**config: str) -> dict[str, Any]:
        shared = {"claim.name": "level", "id.token.claim": "true", "multivalued": "false"}
        kind = "oidc-usermodel-attribute-mapper"
        return {"protocol": "openid-connect", "protocolMapper": kind, "config": shared | config}

    first = a_client(clientId="first", protocolMappers=[mapper(**{"user.attribute": "rank"})])
    other = a_client(clientId="other", protocolMappers=[mapper(**{"user.attribute": "floor"})])
    user = {"id": "1", "username": "alice", "attributes": {"rank": ["general"], "floor": ["2"]}}
    result = import_realm(a_realm(clients=[first, other], users=[user]), "--report", "json")
    assert [row["place"] for row in report_of(result)["not_taken"]] == []
    out = tmp_path / "out"
    assert people(out)["alice"]["claims"] == {"level": "general", "level of other": "2"}
    where = {"id_token": ["level"], "userinfo": ["level"]}
    assert entries(out, "clients")["first"]["user_claims"] == where
    assert entries(out, "clients")["other"]["user_claims"] == where | {
        "sources": {"level": "level of other"}
    }


@pytest.mark.parametrize(
    ("config", "groups"), [({}, "leads"), ({"full.path": "true"}, "/staff/leads")]
)
def test_groups_have_their_full_path_only_where_the_mapper_says_so(
    import_realm: Import, tmp_path: Path, config: dict[str, str], groups: str
) -> None:
    config |= {"claim.name": "groups", "id.token.claim": "true"}
    mapper = {"protocolMapper": "oidc-group-membership-mapper", "config": config}
    staff = {"name": "staff", "subGroups": [{"name": "leads"}]}
    user = {"id": "1", "username": "alice", "groups": ["/staff/leads"]}
    web = a_client(protocolMappers=[mapper])
    import_realm(a_realm(clients=[web], groups=[staff], users=[user]))
    assert people(tmp_path / "out")["alice"]["claims"] == {"groups": [groups]}


def test_an_audience_that_comes_unasked_still_does(import_realm: Import, tmp_path: Path) -> None:
    mapper = {
        "protocolMapper": "oidc-audience-mapper",
        "config": {"included.custom.audience": "orders"},
    }
    scope = {
        "name": "billing-audience",
        "protocolMappers": [mapper | {"config": {"included.custom.audience": "billing"}}],
    }
    web = a_client(protocolMappers=[mapper], defaultClientScopes=["billing-audience"])
    import_realm(a_realm(clients=[web], clientScopes=[scope]))
    assert entries(tmp_path / "out", "clients")["web"]["added_scopes"] == [
        "billing-audience",
        "orders",
    ]


def test_seeds_are_files_and_the_counter_of_a_passkey_is_kept(taken: Path) -> None:
    factors = json.loads((taken / "factors.json").read_text())
    by_sub = {each["sub"][-1]: each for each in factors["users"]}
    assert by_sub.keys() == {"2", "3", "7"}
    seeds = [(taken / by_sub[at]["totp"]["seed"][7:-1]).read_text().strip() for at in "23"]
    assert seeds == ["IRVTGU3FIVSDAZSCN5RDCMRTGQ2TMNZYHEYA", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]
    (passkey,) = by_sub["7"]["passkeys"]
    assert (passkey["sign_count"], passkey["transports"]) == (7, ["usb", "nfc"])
    assert factors["rp_id"] == "id.example.com"


def test_the_report_has_no_secret_and_no_hash(import_realm: Import) -> None:
    texts = [path.read_text() for path in EXPORT.iterdir()]
    users = [user for text in texts for user in json.loads(text).get("users", [])]
    secrets = [
        json.loads(each["secretData"]).get("value")
        for user in users
        for each in user.get("credentials", [])
    ]
    secrets += [
        each["secret"]
        for text in texts
        for each in json.loads(text).get("clients", [])
        if "secret" in each
    ]
    for style in ("text", "json"):
        report = import_realm(EXPORT, "--report", style, out=None).stdout
        assert [each for each in secrets if each and each in report] == []


def test_a_partial_export_is_masked_and_says_what_is_missing(import_realm: Import) -> None:
    report = report_of(import_realm(HERE / "partial.json", "--report", "json"))
    rows = {row["place"]: row for row in report["not_taken"]}
    masked = [row for row in rows.values() if row["reason"] == "the secret is masked"]
    assert len(masked) >= 7
    assert rows["users"]["reason"] == "the export has no users"
    assert any(
        "no private key" in row["reason"] or "no keys" in row["reason"] for row in rows.values()
    )
    assert report["taken"]["clients"] >= 3


def test_the_file_of_the_realm_alone_says_that_the_users_are_missing(import_realm: Import) -> None:
    report = report_of(import_realm(EXPORT / "shop-realm.json", "--report", "json"))
    assert "users" in [row["place"] for row in report["not_taken"]]
    assert "users" not in report["taken"]


def test_public_keys_come_from_a_jwks_of_the_realm(import_realm: Import, tmp_path: Path) -> None:
    (tmp_path / "jwks.json").write_text(json.dumps(ANSWERS["jwks"]))
    import_realm(HERE / "partial.json", "--jwks", str(tmp_path / "jwks.json"))
    keys = json.loads((tmp_path / "out/keys.json").read_text())["keys"]
    assert {key["kid"] for key in keys} == {
        key["kid"] for key in ANSWERS["jwks"]["keys"] if key["use"] == "sig"
    }


def test_a_kid_is_that_of_the_first_key_and_keys_to_encrypt_to_are_left_out(
    import_realm: Import, tmp_path: Path
) -> None:
    key, recipient = Key.generate("RS256").public_jwk, Key.generate("RSA-OAEP-256").public_jwk
    del recipient["use"]
    keys = [key, key | {"alg": "PS256"}, key, recipient]
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": keys}))
    options = ("--jwks", str(tmp_path / "jwks.json"), "--report", "json")
    result = import_realm(a_realm(), *options)
    assert result.exit_code == 4
    places = [row["place"] for row in report_of(result)["not_taken"]]
    assert places == ["jwks.json: keys[1]", "jwks.json: keys[3]"]
    (written,) = json.loads((tmp_path / "out/keys.json").read_text())["keys"]
    assert (written["kid"], written["alg"]) == (key["kid"], "RS256")
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
