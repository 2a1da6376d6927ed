"""Each setting of a realm is taken, is named by the report, or is known to change nothing for applications and users."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.takeover.keycloak import known_entries, known_settings
from service.takeover.settings import Settings
from tests.takeover.conftest import Import, a_client, a_realm, report_of
from tests.takeover.test_keycloak_claims import a_mapper, claims_of_users, written

EXPORT = Path(__file__).parent / "keycloak/export"
REALM: dict[str, Any] = json.loads((EXPORT / "shop-realm.json").read_text())
CONFIG = {"issuer": "https://idp.example.com", "clientId": "shop", "clientSecret": "partner"}


def objects_of_a_real_export() -> Iterator[tuple[Settings, dict[str, Any]]]:
    """The objects of a realm, each with the table of its settings."""
    yield known_settings.REALM, REALM
    yield known_settings.REALM_ATTRIBUTES, REALM["attributes"]
    yield known_settings.SECURITY_HEADERS, REALM["browserSecurityHeaders"]
    for client in REALM["clients"]:
        yield known_entries.CLIENT, client
        yield known_entries.CLIENT_ATTRIBUTES, client["attributes"]
    for scope in REALM["clientScopes"]:
        yield known_entries.SCOPE, scope
        yield known_entries.SCOPE_ATTRIBUTES, scope["attributes"]
    for group in REALM["groups"]:
        yield known_entries.GROUP, group
    for provider in REALM["identityProviders"]:
        if provider["providerId"] != "saml":
            yield known_entries.PROVIDER, provider
            yield known_entries.PROVIDER_CONFIG, provider["config"]


def test_the_tables_know_each_key_of_a_real_export() -> None:
    unknown = {
        key for table, each in objects_of_a_real_export() for key in each if not table.knows(key)
    }
    users = [json.loads(file.read_text())["users"] for file in EXPORT.glob("shop-users-*.json")]
    unknown |= {
        key for listed in users for user in listed for key in user
    } - known_entries.USER_KEYS
    assert unknown == set()


def test_a_key_is_in_one_table_only() -> None:
    for table, _ in objects_of_a_real_export():
        assert not {key for key in table.reported if key in table.read or table.is_idle(key)}
        assert not table.read & table.idle


def rows(import_realm: Import, **members: Any) -> dict[str, str]:
    """The reasons of all rows, by place."""
    report = report_of(import_realm(a_realm(**members), "--report", "json"))
    return {row["place"]: row["reason"] for row in [*report["changed"], *report["not_taken"]]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("notBefore", 1_700_000_000),
        ("oauth2DevicePollingInterval", 7),
        ("passwordPolicy", "length(12)"),
        ("otpPolicyDigits", 8),
        ("rememberMe", True),
        ("bruteForceProtected", True),
        ("browserFlow", "browser with a code"),
        ("loginTheme", "shop"),
        ("eventsListeners", ["jboss-logging", "to-the-bus"]),
        ("webAuthnPolicyAcceptableAaguids", ["ee882879-721c-4913-9775-3dfcce97072a"]),
        ("smtpServer", {"host": "mail.example.com"}),
        ("somethingNew", "on"),
        ("somethingNew", [1]),
    ],
)
def test_a_setting_of_the_realm_that_is_not_taken_is_reported(
    import_realm: Import, key: str, value: object
) -> None:
    assert key in rows(import_realm, **{key: value})


@pytest.mark.parametrize("value", [None, "", 0, False, "false", [], {}, -1])
def test_a_setting_that_is_not_set_is_not_reported(import_realm: Import, value: object) -> None:
    reasons = rows(import_realm, notBefore=value, somethingNew=value)
    assert not {"notBefore", "somethingNew"} & reasons.keys()


def test_the_report_says_that_a_refresh_token_counts_once(import_realm: Import) -> None:
    reasons = rows(import_realm, revokeRefreshToken=True, refreshTokenMaxReuse=2)
    assert "3 times" in reasons["refreshTokenMaxReuse"]


@pytest.mark.parametrize(
    ("members", "place"),
    [
        ({"notBefore": 1_700_000_000}, "notBefore"),
        ({"adminUrl": "https://shop.example.com/admin"}, "adminUrl"),
        ({"somethingNew": "on"}, "somethingNew"),
        (
            {"attributes": {"oauth2.device.polling.interval": "9"}},
            '"oauth2.device.polling.interval"',
        ),
        ({"attributes": {"access.token.signed.response.alg": "ES256"}}, '"access.token.signed'),
        ({"attributes": {"client_credentials.use_refresh_token": "true"}}, '"client_credentials'),
        ({"attributes": {"our.extension": "gold"}}, '"our.extension"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_setting_of_a_client_that_is_not_taken_is_reported(
    import_realm: Import, members: dict[str, Any], place: str
) -> None:
    reasons = rows(import_realm, clients=[a_client(**members)])
    assert any(each.startswith("clients[0]") and place in each for each in reasons)


def test_the_lifetimes_of_device_codes_and_pushed_requests_are_kept(
    import_realm: Import, tmp_path: Path
) -> None:
    device = {
        "oauth2.device.authorization.grant.enabled": "true",
        "oauth2.device.code.lifespan": "120",
    }
    realm = a_realm(
        clients=[a_client(attributes=device)], attributes={"parRequestUriLifespan": "30"}
    )
    import_realm(realm)
    client = written(tmp_path, "clients", "web")
    assert (client["device_code_lifetime"], client["pushed_authorization_lifetime"]) == (120, 30)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("request.object.encryption.alg", "any"),
        ("request.object.encryption.enc", "any"),
        ("request.object.signature.alg", "any"),
        ("user.info.response.signature.alg", "unsigned"),
        ("id.token.encrypted.response.alg", ""),
    ],
)
def test_an_algorithm_that_a_client_leaves_open_is_not_required(
    import_realm: Import, name: str, word: str
) -> None:
    result = import_realm(a_realm(clients=[a_client(attributes={name: word})]))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(("lifetime", "longest"), [(300, 600), (1200, 1200)])
def test_the_lifetime_of_ciba_requests_is_kept(
    import_realm: Import, tmp_path: Path, lifetime: int, longest: int
) -> None:
    client = a_client(attributes={"oidc.ciba.grant.enabled": "true"})
    attributes = {"cibaExpiresIn": str(lifetime), "cibaInterval": "3"}
    import_realm(a_realm(clients=[client], attributes=attributes))
    settings = yaml.safe_load((tmp_path / "out/config.yaml").read_text())
    assert settings["ciba"] == {"expires_in": lifetime, "interval": 3, "max_expiry": longest}


@pytest.mark.parametrize("key", ["postBrokerLoginFlowAlias", "storeToken", "organizationId"])
def test_a_setting_of_a_provider_that_is_not_taken_is_reported(
    import_realm: Import, key: str
) -> None:
    provider = {"alias": "partner", "providerId": "oidc", "config": CONFIG, key: "true"}
    assert f"identityProviders[0].{key}" in rows(import_realm, identityProviders=[provider])


def test_a_provider_keeps_its_prompt_and_the_audience_of_assertions(
    import_realm: Import, tmp_path: Path
) -> None:
    config = CONFIG | {
        "clientAuthMethod": "private_key_jwt",
        "tokenUrl": "https://idp.example.com/token",
        "prompt": "login",
    }
    import_realm(
        a_realm(identityProviders=[{"alias": "p", "providerId": "oidc", "config": config}])
    )
    provider = written(tmp_path, "identity_providers", "p")
    assert provider["prompt"] == ["login"]
    assert provider["client_assertion_audience"] == "https://idp.example.com/token"


def test_what_many_users_have_and_no_mapper_reads_is_reported_once(import_realm: Import) -> None:
    users = [
        {"id": str(number), "username": f"user-{number}", "notBefore": 5, "shoeSize": 44}
        | {"attributes": {"desk": ["4"]}, "clientConsents": [{"clientId": "web"}]}
        for number in range(3)
    ]
    report = report_of(import_realm(a_realm(users=users), "--report", "json"))
    listed = [row["reason"] for row in [*report["changed"], *report["not_taken"]]]
    for part in (
        '"desk" of 3 users',
        "of 3 users: tokens from before",
        '3 users have a member "shoeSize"',
    ):
        assert sum(part in reason for reason in listed) == 1
    assert any("3 users have given consent" in reason for reason in listed)


@pytest.mark.parametrize(
    ("own", "aggregate", "expected"),
    [
        pytest.param(["own"], "false", "own", id="the user's own count first"),
        pytest.param([], "false", "below", id="a group's own before those above it"),
        pytest.param(["own"], "true", "own below", id="all of them where they are aggregated"),
    ],
)
def test_a_user_has_the_attributes_of_groups(
    import_realm: Import, tmp_path: Path, own: list[str], aggregate: str, expected: str
) -> None:
    mapper = a_mapper(
        "usermodel-attribute",
        claim__name="site",
        user__attribute="site",
        multivalued="true",
        aggregate__attrs=aggregate,
    )
    below = {"name": "leads", "path": "/staff/leads", "attributes": {"site": ["below"]}}
    above = {"name": "staff", "attributes": {"site": ["above"]}, "subGroups": [below]}
    user = {"id": "1", "username": "a", "groups": ["/staff/leads"], "attributes": {"site": own}}
    import_realm(
        a_realm(clients=[a_client(protocolMappers=[mapper])], groups=[above], users=[user])
    )
    assert claims_of_users(tmp_path)[0]["site"] == expected.split()
