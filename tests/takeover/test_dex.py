"""A configuration of dex becomes one of this service: clients, users with their subjects, connectors (OIDC Core §2, RFC 8628)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bcrypt
import pytest
import yaml

from service.model.polling import DEVICE_CODE
from tests.conftest import Start
from tests.device.tv import PATH as DEVICE_PATH
from tests.driving.browser import Browser
from tests.driving.service import claims_in
from tests.takeover.importing import FILES, Imported, run_import, sign_in

SOURCE = FILES / "dex.yaml"
ADMIN = "CiQwOGE4Njg0Yi1kYjg4LTRiNzMtOTBhOS0zY2QxNjYxZjU0NjYSBWxvY2Fs"
"""The subject that dex's documents show for this user and the connector local."""
BAR_HASH = bcrypt.hashpw(b"bar-password", bcrypt.gensalt(4)).decode()
ENVIRON = {
    "DEX_CLIENT_ID": "production",
    "DEX_CLIENT_SECRET": "production-secret",
    "CORPORATE_ID": "corporate-client",
    "CORPORATE_SECRET": "corporate-${secret}",
    "DEX_BAR_HASH": BAR_HASH,
}
ADMIN_PASSWORD = {
    "grant_type": "password",
    "username": "admin@example.com",
    "password": "password",
}
CALLBACK = "https://app.example.com/callback"


@pytest.fixture
def dex(tmp_path: Path) -> Imported:
    """The configuration after the import, with the environment that dex had."""
    return run_import("dex", SOURCE, tmp_path / "out", environ=ENVIRON)


def import_text(text: str, folder: Path, **environ: str) -> Imported:
    """Import a configuration that is written in the test."""
    folder.mkdir(exist_ok=True)
    source = folder / "dex.yaml"
    source.write_text(text)
    return run_import("dex", source, folder / "out", environ=environ)


async def test_a_user_of_dex_signs_in_by_e_mail_in_any_case_and_keeps_the_subject(
    dex: Imported, start: Start
) -> None:
    service = await start(dex.configuration)
    request = {"client_id": "example-app", "redirect_uri": CALLBACK, "scope": "openid email groups"}
    answer = await sign_in(service, "ADMIN@example.com", "password", **request)
    tokens = await service.token(
        ("example-app", "ZXhhbXBsZS1hcHAtc2VjcmV0"),
        grant_type="authorization_code",
        code=answer["code"],
        redirect_uri=CALLBACK,
    )
    identity = claims_in(tokens["id_token"])
    assert (identity["sub"], identity["email"], identity["groups"]) == (
        ADMIN,
        "Admin@Example.com",
        ["team-a", "team-a/admins"],
    )
    assert identity["exp"] - identity["iat"] == 5400


@pytest.mark.parametrize(
    ("username", "password", "status"),
    [
        ("foo@example.com", "foo-password", 200),
        ("bar@example.com", "bar-password", 200),
        ("bar@example.com", "another-password", 400),
    ],
)
async def test_hashes_in_base64_and_from_the_environment_are_those_of_the_passwords(
    dex: Imported, start: Start, username: str, password: str, status: int
) -> None:
    service = await start(dex.configuration)
    tokens = await service.token(
        ("example-app", "ZXhhbXBsZS1hcHAtc2VjcmV0"),
        grant_type="password",
        username=username,
        password=password,
        scope="openid",
    )
    assert tokens.status == status
    assert status == 200 or tokens.error == "invalid_grant"


async def test_a_device_client_gets_tokens_once_its_user_has_allowed_it(
    dex: Imported, start: Start
) -> None:
    service = await start(dex.configuration)
    device = {"client_id": "example-device-client"}
    codes = await service.post(DEVICE_PATH, client_id="example-device-client", scope="openid")
    browser = Browser(service.issuer)
    page = await browser.submit(await browser.get("/device"), user_code=codes["user_code"])
    page = await browser.log_in(page, "admin@example.com", password="password")
    await browser.submit(page, action="allow")
    await browser.close()
    tokens = await service.token(
        None, **device, grant_type=DEVICE_CODE, device_code=codes["device_code"]
    )
    assert (codes["expires_in"], claims_in(tokens["id_token"])["sub"]) == (600, ADMIN)


async def test_the_device_grant_is_not_for_clients_without_its_callback(
    dex: Imported, start: Start
) -> None:
    service = await start(dex.configuration)
    asked = await service.post(DEVICE_PATH, auth=("old-app", "old-app-secret"), scope="openid")
    assert asked.refusal == (400, "unauthorized_client")


async def test_a_peer_gets_access_tokens_for_the_client_that_trusts_it(
    dex: Imported, start: Start
) -> None:
    service = await start(dex.configuration)
    tokens = await service.token(
        ("example-app", "ZXhhbXBsZS1hcHAtc2VjcmV0"),
        **ADMIN_PASSWORD,
        scope="openid audience:server:client_id:kubernetes",
    )
    assert claims_in(tokens["access_token"])["aud"] == "kubernetes"


async def test_no_other_client_gets_them(dex: Imported, start: Start) -> None:
    service = await start(dex.configuration)
    tokens = await service.token(
        ("old-app", "old-app-secret"),
        **ADMIN_PASSWORD,
        scope="openid audience:server:client_id:kubernetes",
    )
    assert tokens.refusal == (400, "invalid_scope")


def test_expiry_becomes_the_lifetimes_of_each_client(dex: Imported) -> None:
    client = dex.client("example-app")
    lifetimes = {
        key: value
        for key, value in client.items()
        if key.endswith(("lifetime", "interval", "expiration"))
    }
    assert lifetimes == {
        "access_token_lifetime": 5400,
        "identity_token_lifetime": 5400,
        "device_code_lifetime": 600,
        "refresh_token_reuse_interval": 3,
        "refresh_token_expiration": "sliding",
        "sliding_refresh_token_lifetime": 2160 * 3600,
        "absolute_refresh_token_lifetime": 3960 * 3600,
    }


def test_settings_of_oauth2_become_those_of_each_client(dex: Imported) -> None:
    client = dex.client("example-app")
    assert client["require_consent"] is False
    assert (client["require_pkce"], client["allow_plain_text_pkce"]) == (False, True)
    assert "implicit" in client["allowed_grant_types"]
    assert "code id_token token" in client["allowed_response_types"]
    assert "token" not in client["allowed_response_types"]
    assert client["allowed_cors_origins"] == ["https://app.example.com"]


def test_the_grant_for_clients_themselves_is_that_of_dex_where_it_is_listed(tmp_path: Path) -> None:
    oauth2 = "\noauth2: {grantTypes: [authorization_code, client_credentials]}\n"
    assert import_text(LDAP, tmp_path).client("app")["allowed_grant_types"] == [
        "authorization_code",
        "refresh_token",
    ]
    listed = import_text(LDAP + oauth2, tmp_path / "listed").client("app")["allowed_grant_types"]
    assert listed == ["authorization_code", "client_credentials"]


def test_a_client_whose_id_and_secret_are_in_the_environment_is_taken(dex: Imported) -> None:
    assert dex.client("production")["redirect_uris"] == ["https://production.example.com/callback"]


def test_variables_that_are_not_set_are_asked_for_by_name(tmp_path: Path) -> None:
    left_out = run_import("dex", SOURCE, tmp_path / "out").left_out
    said = [
        left_out[place]
        for place in (
            "staticClients[1].idEnv",
            "connectors[0].config.clientID",
            "staticPasswords[2].hashFromEnv",
        )
    ]
    for name, reason in zip(("DEX_CLIENT_ID", "CORPORATE_ID", "DEX_BAR_HASH"), said, strict=True):
        assert f"environment variable {name}, which is not set" in reason


def test_dex_expand_env_leaves_dollar_signs_as_they_are(tmp_path: Path) -> None:
    dex = run_import("dex", SOURCE, tmp_path / "out", environ={"DEX_EXPAND_ENV": "false"})
    assert dex.entry("identity_providers", "corporate")["client_id"] == "$CORPORATE_ID"


def test_a_connector_for_openid_becomes_a_provider_with_dexs_subjects(dex: Imported) -> None:
    provider = dex.entry("identity_providers", "corporate")
    secret = Path(provider.pop("client_secret").removeprefix("${file:").removesuffix("}"))
    assert secret.read_text().strip() == "corporate-${secret}"
    assert provider == {
        "name": "corporate",
        "display_name": "Corporate",
        "client_id": "corporate-client",
        "issuer": "https://login.corporate.example",
        "scopes": ["openid", "profile", "email"],
        "claims": {"nickname": "name", "groups": "groups"},
        "allowed_claims": [{"groups": ["staff"]}],
        "prompt": ["login"],
        "trust_email": True,
        "subject_format": "dex",
    }


def test_a_connector_for_github_becomes_a_provider_of_oauth2(dex: Imported) -> None:
    provider = dex.entry("identity_providers", "github")
    assert (provider["kind"], provider["subject_claim"]) == ("oauth2", "id")
    assert provider["userinfo_endpoint"] == "https://api.github.com/user"


def test_connectors_that_would_let_more_people_in_are_not_taken(dex: Imported) -> None:
    assert "everybody at GitHub could sign in" in dex.left_out["connectors[2].config.orgs"]
    assert "has no counterpart" in dex.left_out["connectors[3]"]


def test_allowed_connectors_restrict_the_providers_and_the_login_here(dex: Imported) -> None:
    client = dex.client("kubernetes")
    assert client["identity_provider_restrictions"] == ["corporate"]
    assert client["enable_local_login"] is False


def test_a_connector_that_a_client_is_restricted_to_and_that_was_not_taken_is_reported(
    tmp_path: Path,
) -> None:
    text = """
issuer: https://dex.example.com
connectors: [{type: saml, id: partner, name: Partner}]
enablePasswordDB: true
staticPasswords: [{email: a@example.com, hash: "$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W", userID: "1"}]
staticClients:
  - {id: app, secret: app-secret, redirectURIs: ["https://app.example.com/cb"], allowedConnectors: [partner, local]}
"""
    result = import_text(text, tmp_path)
    rows = [each for each in result.report["not_taken"] if "allowedConnectors" in each["place"]]
    assert [each["reason"] for each in rows] == ['the connector "partner" is not here']
    assert "an empty list means all providers" in rows[0]["what_to_do"]


def test_a_public_client_without_redirect_uris_may_use_the_loopback_address(dex: Imported) -> None:
    client = dex.client("command-line")
    assert "http://127.0.0.1/callback" in client["redirect_uris"]
    assert "any loopback redirect URI" in dex.reasons("staticClients[4].redirectURIs")[0]


def test_a_code_that_is_copied_by_hand_is_not_taken(dex: Imported) -> None:
    client = dex.client("old-app")
    assert client["redirect_uris"] == ["http://old.example.com/callback"]
    assert client["allow_insecure_redirect_uris"] is True
    assert client["mfa_required"] == "always"
    assert "urn:ietf:wg:oauth:2.0:oob" in dex.left_out["staticClients[5].redirectURIs"]


MERGED = """
issuer: https://dex.example.com
staticClients:
- &first
  id: first
  name: &name First
  secret: secret-of-first
  redirectURIs: &uris ["https://app.example.com/callback"]
- <<: *first
  id: second
- redirectURIs: *uris
  id: third
  public: yes
  name: *name
- <<: [{name: Fourth, secret: other}, *first]
  id: "yes"
- {id: !!str no, name: "Fifth", "secret": 'true', redirectURIs: *uris}
"""


def test_anchors_merges_and_words_mean_as_much_as_in_dex(tmp_path: Path) -> None:
    dex = import_text(MERGED, tmp_path)
    clients = {each["client_id"]: each for each in dex.configuration["clients"]}
    assert {name: client["client_name"] for name, client in clients.items()} == {
        "first": "First",
        "second": "First",
        "third": "First",
        "yes": "Fourth",
        "no": "Fifth",
    }
    assert len({tuple(client["redirect_uris"]) for client in clients.values()}) == 1
    assert [name for name, client in clients.items() if "client_secrets" not in client] == ["third"]


def test_the_first_document_counts(dex: Imported) -> None:
    written = yaml.safe_load((dex.folder / "config.yaml").read_text())
    assert written["issuer"] == "https://dex.example.com/dex"


LDAP = """
issuer: https://dex.example.com
staticClients: [{id: app, secret: s, name: App, redirectURIs: ["https://app.example.com/cb"]}]
connectors:
  - type: ldap
    id: ldap
    name: OpenLDAP
    config:
      host: ldap.example.com:636
      bindDN: cn=admin,dc=example,dc=org
      bindPW: admin
      userSearch: {baseDN: "ou=People,dc=example,dc=org", filter: "(objectClass=person)", username: mail, idAttr: DN, emailAttr: mail, nameAttr: cn}
      groupSearch:
        baseDN: ou=Groups,dc=example,dc=org
        filter: (objectClass=groupOfNames)
        userMatchers: [{userAttr: DN, groupAttr: member}]
        nameAttr: cn
"""


def test_a_connector_for_ldap_becomes_the_source_of_users(tmp_path: Path) -> None:
    users = import_text(LDAP, tmp_path).configuration["users"]
    ldap: dict[str, Any] = users["ldap"]
    assert (
        Path(ldap.pop("bind_password").removeprefix("${file:").removesuffix("}"))
        .read_text()
        .strip()
        == "admin"
    )
    assert users["source"] == "ldap"
    assert ldap == {
        "urls": ["ldaps://ldap.example.com:636"],
        "bind_dn": "cn=admin,dc=example,dc=org",
        "base": "ou=People,dc=example,dc=org",
        "filter": "(objectClass=person)",
        "username": ["mail"],
        "sub": "DN",
        "subject_format": "dex",
        "connector_id": "ldap",
        "claims": {"name": "cn", "email": "mail"},
        "fixed_claims": {"email_verified": True},
        "groups": {
            "attribute": None,
            "base": "ou=Groups,dc=example,dc=org",
            "filter": "(&(objectClass=groupOfNames)(member={dn}))",
            "name": "cn",
        },
    }


def test_a_directory_is_not_taken_where_dex_has_users_of_its_own(tmp_path: Path) -> None:
    own = (
        "\nenablePasswordDB: true\nstaticPasswords: [{email: a@example.com, userID: a, hash: '"
        + BAR_HASH
        + "'}]\n"
    )
    dex = import_text(LDAP + own, tmp_path)
    assert "one source of users" in dex.left_out["connectors[0]"]
    assert [user["username"] for user in dex.configuration["users"]["list"]] == ["a@example.com"]


def test_the_report_says_whether_tokens_of_before_count(tmp_path: Path) -> None:
    assert (
        "name the file by --jwks" in import_text(LDAP, tmp_path).reasons("signing.verify_only")[0]
    )


@pytest.mark.parametrize(("written", "verified"), [("", True), (", emailVerified: false", False)])
def test_an_address_is_verified_unless_dex_says_that_it_is_not(
    tmp_path: Path, written: str, verified: bool
) -> None:
    user = f"{{email: a@example.com, userID: a, hash: '{BAR_HASH}'{written}}}"
    text = f"issuer: https://a.example\nenablePasswordDB: true\nstaticPasswords: [{user}]\n"
    (taken,) = import_text(text, tmp_path).configuration["users"]["list"]
    assert taken["claims"]["email_verified"] is verified


def test_an_import_without_anything_left_out_exits_with_0(tmp_path: Path) -> None:
    assert import_text(LDAP, tmp_path).exit_code == 0


def test_the_same_configuration_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = (run_import("dex", SOURCE, tmp_path / name, environ=ENVIRON) for name in "ab")
    files = [
        sorted(each for each in one.folder.rglob("*") if each.is_file()) for one in (first, second)
    ]
    assert [each.read_bytes() for each in files[0]] == [each.read_bytes() for each in files[1]]
