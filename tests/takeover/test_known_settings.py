"""Each setting of dex, Hydra and IdentityServer is taken, is named by the report, or changes nothing for applications and users."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.takeover.dex import known_settings as dex
from service.takeover.hydra import known_settings as hydra
from service.takeover.identityserver import known_settings as identityserver
from service.takeover.settings import Settings
from tests.takeover.importing import FILES, Imported, run_import

TABLES = [
    each
    for module in (dex, hydra, identityserver)
    for name, value in vars(module).items()
    if name.isupper()
    for each in (value.values() if isinstance(value, dict) else [value])
    if isinstance(each, Settings)
]


@pytest.mark.parametrize("table", TABLES)
def test_a_key_is_in_lower_case_and_in_one_table_only(table: Settings) -> None:
    keys = [*table.read, *table.idle, *table.reported]
    assert len(keys) == len(set(keys))
    assert all(key == key.lower() for key in keys)


def unknown(table: Settings, *objects: dict[str, Any]) -> set[str]:
    """The keys that the table does not know."""
    return {key for each in objects for key in each if not table.knows(key.lower())}


def test_the_tables_know_each_key_of_dexs_examples() -> None:
    root = yaml.safe_load((FILES / "dex.yaml").read_text().partition("\n---")[0])
    found = unknown(dex.ROOT, root)
    found |= unknown(dex.CLIENT, *root["staticClients"])
    found |= unknown(dex.PASSWORD, *root["staticPasswords"])
    found |= unknown(dex.CONNECTOR, *root["connectors"])
    for section, table in (("oauth2", dex.OAUTH2), ("expiry", dex.EXPIRY), ("web", dex.WEB)):
        found |= unknown(table, root[section])
    assert found == set()


def test_the_table_knows_each_column_of_hydras_clients() -> None:
    rows = json.loads((FILES / "hydra_client.json").read_text())
    listed = json.loads((FILES / "hydra-list.json").read_text())["items"]
    assert unknown(hydra.CLIENT, *rows, *listed) == set()


def imported(kind: str, content: object, folder: Path) -> Imported:
    """The report of an export."""
    source = folder / "export"
    source.write_text(json.dumps(content))
    return run_import(kind, source, folder / "out")


DEX_CLIENT = {"id": "app", "name": "App", "secret": "s", "redirectURIs": ["https://a.example/cb"]}
OPENID = {"issuer": "https://idp.example", "clientID": "dex", "clientSecret": "s"}
CONNECTOR = {"type": "oidc", "id": "corp", "name": "Corp", "config": OPENID}


def dex_of(**members: Any) -> dict[str, Any]:
    """A configuration with one client and one connector."""
    usual: dict[str, Any] = {
        "issuer": "https://dex.example.com",
        "staticClients": [DEX_CLIENT],
        "connectors": [CONNECTOR],
    }
    return usual | members


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"grpc": {"addr": "127.0.0.1:5557"}}, "grpc"),
        ({"expiry": {"something": "1h"}}, "expiry.something"),
        ({"oauth2": {"something": True}}, "oauth2.something"),
        ({"web": {"headers": {"X-Frame-Options": "ALLOW"}}}, "web.headers"),
        ({"staticClients": [DEX_CLIENT | {"something": "x"}]}, "staticClients[0].something"),
        (
            {"connectors": [CONNECTOR | {"config": OPENID | {"something": "x"}}]},
            "connectors[0].config.something",
        ),
        (
            {"mfa": {"authenticators": [{"id": "totp", "connectorTypes": ["ldap"]}]}},
            "mfa.authenticators[0].connectorTypes",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_setting_of_dex_that_is_not_taken_is_reported(
    tmp_path: Path, members: dict[str, Any], place: str
) -> None:
    assert imported("dex", dex_of(**members), tmp_path).reasons(place)


@pytest.mark.parametrize(
    ("own", "expected"), [({}, "always"), ({"mfaChain": []}, None), ({"mfaChain": ["x"]}, "always")]
)
def test_the_second_factor_of_dexs_clients_that_name_none_is_kept(
    tmp_path: Path, own: dict[str, Any], expected: str | None
) -> None:
    clients = [DEX_CLIENT | own]
    mfa = {"defaultMFAChain": ["totp"]}
    taken = imported("dex", dex_of(mfa=mfa, staticClients=clients), tmp_path)
    assert taken.client("app").get("mfa_required") == expected


def test_the_domains_of_dexs_connector_for_openid_are_kept(tmp_path: Path) -> None:
    config = OPENID | {"hostedDomains": ["a.example"], "allowedGroups": ["staff"]}
    taken = imported("dex", dex_of(connectors=[CONNECTOR | {"config": config}]), tmp_path)
    conditions = taken.entry("identity_providers", "corp")["allowed_claims"]
    assert conditions == [{"groups": ["staff"], "hd": ["a.example"]}]


@pytest.mark.parametrize(("interval", "seconds"), [("500ms", 1), ("1s", 1), ("1m0.5s", 60)])
def test_a_duration_of_dex_has_a_second_at_least(
    tmp_path: Path, interval: str, seconds: int
) -> None:
    expiry = {"refreshTokens": {"reuseInterval": interval}}
    client = imported("dex", dex_of(expiry=expiry), tmp_path).client("app")
    assert client["refresh_token_reuse_interval"] == seconds


def test_the_newer_name_of_the_logout_uri_counts(tmp_path: Path) -> None:
    members = {
        "AllowedGrantTypes": ["authorization_code"],
        "RequireClientSecret": False,
        "RedirectUris": ["https://app.example/cb"],
        "FrontChannelLogoutUri": "https://app.example/new",
        "LogoutUri": "https://app.example/old",
    }
    client = imported("identityserver", identityserver_of(**members), tmp_path).client("app")
    assert client["frontchannel_logout_uri"] == "https://app.example/new"


@pytest.mark.parametrize("key", ["skip_logout_consent", "client_secret_expires_at", "something"])
def test_a_member_of_hydras_clients_that_is_not_taken_is_reported(tmp_path: Path, key: str) -> None:
    client = {"client_id": "app", "token_endpoint_auth_method": "none", key: 1}
    assert imported("hydra", [client], tmp_path).reasons(f"[0].{key}")


def identityserver_of(**members: Any) -> dict[str, Any]:
    """A configuration with one client."""
    client = {"ClientId": "app", "AllowedGrantTypes": ["client_credentials"]}
    return {"Clients": [client | {"RequireClientSecret": True} | members]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("DPoPClockSkew", "00:01:00"),
        ("PollingInterval", 9),
        ("CoordinateLifetimeWithUserSession", True),
        ("CibaLifetime", 60),
        ("ConfigurationProfiles", ["fapi2"]),
        ("Something", "x"),
    ],
)
def test_a_property_of_a_client_that_is_not_taken_is_reported(
    tmp_path: Path, key: str, value: object
) -> None:
    taken = imported("identityserver", identityserver_of(**{key: value}), tmp_path)
    assert taken.reasons(f"Clients[0].{key}")


def test_the_lifetime_of_codes_and_the_older_name_of_the_logout_uri_are_kept(
    tmp_path: Path,
) -> None:
    uri = "https://app.example/logout"
    members = {
        "AllowedGrantTypes": ["authorization_code"],
        "RedirectUris": ["https://app.example/cb"],
        "RequireClientSecret": False,
        "AuthorizationCodeLifetime": 120,
        "LogoutUri": uri,
        "LogoutSessionRequired": False,
    }
    client = imported("identityserver", identityserver_of(**members), tmp_path).client("app")
    assert client["authorization_code_lifetime"] == 120
    assert client["frontchannel_logout_uri"] == uri
    assert client["frontchannel_logout_session_required"] is False


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"ApiResources": [{"Name": "a", "Something": "x"}]}, "ApiResources[0].Something"),
        ({"ApiScopes": [{"Name": "a", "Properties": {"k": "v"}}]}, "ApiScopes[0].Properties"),
        ({"EmitStaticAudienceClaim": True}, "emitstaticaudienceclaim"),
    ],
    ids=["api", "scope", "option"],
)
def test_a_property_of_a_resource_or_the_server_that_is_not_taken_is_reported(
    tmp_path: Path, section: dict[str, Any], place: str
) -> None:
    content = identityserver_of() | section
    assert imported("identityserver", content, tmp_path).reasons(place)


def test_a_code_of_a_client_lives_ten_minutes_at_most(tmp_path: Path) -> None:
    members = {
        "AllowedGrantTypes": ["authorization_code"],
        "RedirectUris": ["https://app.example/cb"],
        "RequireClientSecret": False,
    }
    content = identityserver_of(**members, AuthorizationCodeLifetime=3600)
    taken = imported("identityserver", content, tmp_path)
    assert taken.client("app")["authorization_code_lifetime"] == 600
    assert taken.reasons("Clients[0].AuthorizationCodeLifetime")


@pytest.mark.parametrize("key", ["AllowPlainTextPkce", "AlwaysSendClientClaims"])
def test_a_switch_that_is_an_empty_text_is_not_on(tmp_path: Path, key: str) -> None:
    members = {"ClientSecrets": [{"Value": "A" * 43 + "="}], key: ""}
    client = imported("identityserver", identityserver_of(**members), tmp_path).client("app")
    assert not {"allow_plain_text_pkce", "always_send_client_claims"} & client.keys()


def test_the_report_says_how_often_a_refresh_token_counts_where_the_client_does_not(
    tmp_path: Path,
) -> None:
    members = {"ClientSecrets": [{"Value": "A" * 43 + "="}], "AllowOfflineAccess": True}
    taken = imported("identityserver", identityserver_of(**members), tmp_path)
    assert taken.reasons("Clients[0].RefreshTokenUsage")


def test_an_api_keeps_its_secrets_under_the_name_of_the_entity(tmp_path: Path) -> None:
    secret = {"Value": "A" * 43 + "="}
    content = {"ApiResources": [{"Name": "a", "Scopes": ["a"], "Secrets": [secret]}]}
    content |= {"ApiScopes": [{"Name": "a"}]}
    taken = imported("identityserver", identityserver_of() | content, tmp_path)
    assert taken.entry("api_resources", "a")["secrets"] == [{"sha256": secret["Value"]}]
    assert not taken.reasons("ApiResources[0].Secrets")


def test_a_provider_that_is_asked_for_another_response_by_default_is_reported(
    tmp_path: Path,
) -> None:
    provider = {"Scheme": "corp", "Properties": {"Authority": "https://idp.example"}}
    content = identityserver_of() | {"IdentityProviders": [provider]}
    taken = imported("identityserver", content, tmp_path)
    assert taken.reasons("IdentityProviders[0].Properties.ResponseType")


def test_a_claim_that_was_always_in_the_id_token_is_reported(tmp_path: Path) -> None:
    claim = {"Name": "email", "AlwaysIncludeInIdToken": True}
    content = identityserver_of() | {"Scopes": [{"Name": "mail", "Type": 0, "Claims": [claim]}]}
    taken = imported("identityserver", content, tmp_path)
    assert taken.reasons("Scopes[0].Claims[0].AlwaysIncludeInIdToken")


@pytest.mark.parametrize("name", ["AspNetUserPasskeys", "SamlServiceProviders"])
def test_a_table_of_which_nothing_is_taken_is_named_with_what_to_do(
    tmp_path: Path, name: str
) -> None:
    content = identityserver_of() | {name: [{"UserId": "1"}]}
    (row,) = [
        each
        for each in imported("identityserver", content, tmp_path).report["not_taken"]
        if each["place"] == name
    ]
    assert "compare the name" not in row["what_to_do"]
