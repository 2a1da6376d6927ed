"""A condition that kept users out at Keycloak is kept, or the report names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.takeover.conftest import Import, a_client, a_realm, report_of

CONFIG = {"issuer": "https://idp.example.com", "clientId": "shop", "clientSecret": "partner"}


def registry(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The written registry."""
    content: dict[str, Any] = yaml.safe_load((folder / "out/registry.yaml").read_text())
    return content


def a_provider(**config: str) -> dict[str, Any]:
    """A provider of OpenID Connect."""
    return {"alias": "partner", "providerId": "oidc", "config": CONFIG | config}


def left_out(import_realm: Import, **members: Any) -> list[str]:
    """The places of what was not taken."""
    report = report_of(import_realm(a_realm(**members), "--report", "json"))
    return [row["place"] for row in report["not_taken"]]


def test_a_claim_that_users_of_a_provider_need_is_kept(
    import_realm: Import, tmp_path: Path
) -> None:
    filtered = {"filteredByClaim": "true", "claimFilterName": "dept", "claimFilterValue": "Sales"}
    assert left_out(import_realm, identityProviders=[a_provider(**filtered)]) == []
    (provider,) = registry(tmp_path)["identity_providers"]
    assert provider["allowed_claims"] == [{"dept": ["Sales"]}]


@pytest.mark.parametrize(
    "filtered",
    [
        {"claimFilterName": "dept", "claimFilterValue": "Sales|Staff"},
        {"claimFilterName": "a.b", "claimFilterValue": "Sales"},
        {"claimFilterName": "dept"},
    ],
    ids=["a pattern", "a nested name", "nothing"],
)
def test_a_provider_whose_condition_cannot_be_kept_is_left_out(
    import_realm: Import, filtered: dict[str, str]
) -> None:
    provider = a_provider(filteredByClaim="true", **filtered)
    place = "identityProviders[0].config.claimFilterValue"
    assert left_out(import_realm, identityProviders=[provider]) == [place]


def test_a_provider_with_an_unknown_method_is_left_out(import_realm: Import) -> None:
    provider = a_provider(clientAuthMethod="client_secret_jwt")
    place = "identityProviders[0].config.clientAuthMethod"
    assert left_out(import_realm, identityProviders=[provider]) == [place]


@pytest.mark.parametrize(
    ("members", "place"),
    [
        pytest.param({"verifyEmail": True}, "verifyEmail", id="addresses"),
        pytest.param({"enabled": False}, "enabled", id="the realm itself"),
        pytest.param(
            {"attributes": {"acr.loa.map": '{"gold": "2"}'}},
            'attributes["acr.loa.map"]',
            id="levels",
        ),
        pytest.param({"resetPasswordAllowed": True}, "resetPasswordAllowed", id="passwords"),
        pytest.param(
            {"clientPolicies": {"policies": [{"name": "off", "enabled": False}, {"name": "fapi"}]}},
            "clientPolicies.policies[1]",
            id="policies",
        ),
        pytest.param(
            {
                "authenticationFlows": [
                    {
                        "alias": "forms",
                        "builtIn": True,
                        "authenticationExecutions": [
                            {"flowAlias": "Browser - Conditional OTP", "requirement": "REQUIRED"}
                        ],
                    }
                ]
            },
            "authenticationFlows[0].authenticationExecutions[0]",
            id="second factors for all",
        ),
        pytest.param(
            {
                "authenticationFlows": [
                    {
                        "alias": "Browser - Conditional 2FA",
                        "builtIn": True,
                        "authenticationExecutions": [
                            {"authenticator": "auth-otp-form", "requirement": "ALTERNATIVE"},
                            {
                                "authenticator": "conditional-user-configured",
                                "requirement": "DISABLED",
                            },
                        ],
                    }
                ]
            },
            "authenticationFlows[0].authenticationExecutions[1]",
            id="second factors without a condition",
        ),
    ],
)
def test_a_safeguard_of_the_realm_is_named(
    import_realm: Import, members: dict[str, Any], place: str
) -> None:
    assert left_out(import_realm, **members) == [place]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("acr.loa.map", "authentication_contexts"),
        ("default.acr.values", "default_acr_values"),
        ("minimum.acr.value", "required_acr"),
    ],
)
@pytest.mark.parametrize("value", ["gold", ""])
def test_a_level_of_authentication_that_a_client_needs_is_named(
    import_realm: Import, name: str, remedy: str, value: str
) -> None:
    realm = a_realm(clients=[a_client(attributes={name: value})])
    rows = report_of(import_realm(realm, "--report", "json"))["not_taken"]
    assert [(row["place"], remedy in row["what_to_do"]) for row in rows] == (
        [(f'clients[0].attributes["{name}"]', True)] if value else []
    )


def test_tokens_with_more_claims_than_lightweight_ones_are_named(import_realm: Import) -> None:
    light = {"client.use.lightweight.access.token.enabled": "true"}
    realm = a_realm(clients=[a_client(attributes=light)])
    changed = report_of(import_realm(realm, "--report", "json"))["changed"]
    place = 'clients[0].attributes["client.use.lightweight.access.token.enabled"]'
    assert place in [row["place"] for row in changed]


def test_the_page_that_shows_a_code_is_no_redirect_uri(import_realm: Import) -> None:
    client = a_client(redirectUris=["urn:ietf:wg:oauth:2.0:oob", "https://a.example/cb"])
    assert left_out(import_realm, clients=[client]) == ["clients[0].redirectUris[0]"]


@pytest.mark.parametrize(
    ("client", "lifetime"),
    [
        pytest.param({"implicitFlowEnabled": True, "standardFlowEnabled": False}, 900, id="alone"),
        pytest.param({"implicitFlowEnabled": True}, 300, id="next to the code flow"),
        pytest.param({"attributes": {"access.token.lifespan": "60"}}, 60, id="its own"),
        pytest.param({"attributes": {"access.token.lifespan": "-1"}}, 36000, id="the session's"),
    ],
)
def test_access_tokens_live_as_long_as_before(
    import_realm: Import, tmp_path: Path, client: dict[str, Any], lifetime: int
) -> None:
    lifetimes = {"accessTokenLifespan": 300, "accessTokenLifespanForImplicitFlow": 900}
    realm = a_realm(clients=[a_client(**client)], ssoSessionMaxLifespan=36000, **lifetimes)
    import_realm(realm)
    (written,) = registry(tmp_path)["clients"]
    assert written["access_token_lifetime"] == lifetime


def test_a_client_with_a_certificate_is_named_with_what_has_to_be_set(import_realm: Import) -> None:
    subject = {"x509.subjectdn": "CN=shop\\, a, O=Example +  OU=b"}
    client = a_client(clientAuthenticatorType="client-x509", attributes=subject)
    (row,) = report_of(import_realm(a_realm(clients=[client]), "--report", "json"))["not_taken"]
    assert "needs certificates of clients" in row["reason"]
    assert "server.client_certificate_header" in row["what_to_do"]
    assert row["what_to_do"].endswith("write the entry by hand")


@pytest.mark.parametrize("attributes", ["text", ["x"], 7], ids=["text", "list", "number"])
@pytest.mark.parametrize("key", ["attributes", "browserSecurityHeaders", "components"])
def test_a_realm_keeps_its_clients_where_its_attributes_are_no_object(
    import_realm: Import, tmp_path: Path, key: str, attributes: object
) -> None:
    assert set(left_out(import_realm, **{key: attributes})) == {key}
    assert [each["client_id"] for each in registry(tmp_path)["clients"]] == ["web"]


@pytest.mark.parametrize("algorithm", [None, "any", "none"])
def test_a_client_whose_request_objects_are_unsigned_is_kept_and_reported(
    import_realm: Import, tmp_path: Path, algorithm: str | None
) -> None:
    attributes = {"request.object.required": "request", "request.object.signature.alg": algorithm}
    place = 'clients[0].attributes["request.object.required"]'
    assert left_out(import_realm, clients=[a_client(attributes=attributes)]) == [place]
    (client,) = registry(tmp_path)["clients"]
    assert "require_signed_request_object" not in client


def test_an_action_and_a_policy_without_a_name_are_reported_as_such(import_realm: Import) -> None:
    members = {
        "requiredActions": [{"enabled": True, "defaultAction": True}],
        "clientPolicies": {"policies": [{}]},
    }
    rows = report_of(import_realm(a_realm(**members), "--report", "json"))["not_taken"]
    assert len(rows) == 2
    assert all(row["reason"].endswith("one without a name") for row in rows)


def test_a_code_of_the_realm_lives_ten_minutes_at_most(
    import_realm: Import, tmp_path: Path
) -> None:
    report = report_of(import_realm(a_realm(accessCodeLifespan=3600), "--report", "json"))
    assert "accessCodeLifespan" in [row["place"] for row in report["changed"]]
    (client,) = registry(tmp_path)["clients"]
    assert client["authorization_code_lifetime"] == 600
