"""IdentityServer's configuration and tables become clients, APIs, scopes and users here; ASP.NET Identity's hashes go on working.

The hashes are made by the algorithms of its documents, with Python's own implementation.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.conftest import Start
from tests.driving.service import claims_in
from tests.takeover.importing import FILES, Imported, run_import, sign_in

SOURCE = FILES / "appsettings.json"


def sha256(secret: str) -> str:
    """The hash of a secret, as IdentityServer's `"secret".Sha256()` makes it."""
    return base64.b64encode(hashlib.sha256(secret.encode()).digest()).decode()


def identity_v2(password: str) -> str:
    """A hash of ASP.NET Identity 2: PBKDF2 with SHA-1, 1,000 iterations, 16 and 32 bytes, behind a 0."""
    salt = b"sixteen bytes of"
    digest = hashlib.pbkdf2_hmac("sha1", password.encode(), salt, 1000, 32)
    return base64.b64encode(b"\x00" + salt + digest).decode()


def identity_v3(password: str, function: str = "sha512", iterations: int = 100_000) -> str:
    """A hash of ASP.NET Core Identity: 1, then function, iterations and length of the salt in network order."""
    salt = b"sixteen bytes of"
    number = ("sha1", "sha256", "sha512").index(function)
    digest = hashlib.pbkdf2_hmac(function, password.encode(), salt, iterations, 32)
    head = b"\x01" + struct.pack(">III", number, iterations, len(salt))
    return base64.b64encode(head + salt + digest).decode()


def user_row(user_id: str, **columns: Any) -> dict[str, Any]:
    """A row of AspNetUsers as `FOR JSON` writes it: without what is NULL."""
    usual: dict[str, Any] = {
        "Id": user_id,
        "UserName": f"user-{user_id}",
        "NormalizedUserName": f"USER-{user_id}",
        "Email": f"{user_id}@example.com",
        "EmailConfirmed": True,
        "SecurityStamp": "stamp",
        "PhoneNumberConfirmed": False,
        "TwoFactorEnabled": False,
        "LockoutEnabled": True,
        "AccessFailedCount": 0,
    }
    return usual | columns


def take_over(folder: Path, **files: object) -> Imported:
    """Import a folder with a file for each of these tables."""
    source = folder / "export"
    source.mkdir()
    for name, content in files.items():
        (source / f"{name}.json").write_text(json.dumps(content))
    options = ("--issuer", "https://id.example.com")
    return run_import("identityserver", source, folder / "out", *options)


@pytest.fixture
def settings(tmp_path: Path) -> Imported:
    """The result of an appsettings.json with comments."""
    return run_import("identityserver", SOURCE, tmp_path / "out")


def test_names_and_defaults_are_those_of_identityserver(settings: Imported) -> None:
    assert settings.client("web") == {
        "client_id": "web",
        "client_name": "Web application",
        "require_client_secret": True,
        "client_secrets": [{"sha256": sha256("web-secret"), "expires_at": "2099-12-31T23:59:59Z"}],
        "allowed_grant_types": ["authorization_code", "refresh_token"],
        "allowed_response_types": ["code"],
        "allow_access_tokens_via_browser": False,
        "allowed_scopes": ["openid", "profile", "roles", "orders.read"],
        "allow_offline_access": True,
        "redirect_uris": ["https://web.example.com/signin-oidc"],
        "post_logout_redirect_uris": ["https://web.example.com/signout-callback-oidc"],
        "frontchannel_logout_uri": "https://web.example.com/signout-oidc",
        "require_consent": False,
        "require_pkce": True,
        "access_token_type": "reference",
        "access_token_lifetime": 1800,
        "refresh_token_expiration": "sliding",
        "refresh_token_usage": "reuse",
        "sliding_refresh_token_lifetime": 86400,
    }


def test_names_may_begin_with_small_letters_and_values_may_be_texts(settings: Imported) -> None:
    client = settings.client("machine")
    assert client["allowed_grant_types"] == ["client_credentials"]
    assert client["claims"] == {"tier": "gold", "level": 3, "area": ["north", "south"]}
    assert (client["client_claims_prefix"], client["always_send_client_claims"]) == ("", True)


def test_a_list_may_have_keys_as_configuration_binding_reads_it(tmp_path: Path) -> None:
    client = {"RequireClientSecret": False, "AllowedGrantTypes": {"0": "authorization_code"}}
    uris = {"RedirectUris": {"a": "https://a.example.com/cb", "b": "https://b.example.com/cb"}}
    listed = {"web": {"ClientId": "web-1", **client, **uris}, "1": {"ClientId": "web-2", **client}}
    source = tmp_path / "appsettings.json"
    source.write_text(json.dumps({"IdentityServer": {"Clients": listed}}))
    taken = run_import("identityserver", source, tmp_path / "out")
    assert [each["client_id"] for each in taken.configuration["clients"]] == ["web-1", "web-2"]
    assert taken.client("web-1")["redirect_uris"] == [*uris["RedirectUris"].values()]
    assert "# IdentityServer.Clients[1]" in (taken.folder / "registry.yaml").read_text()


def test_a_lifetime_of_nothing_is_a_second(tmp_path: Path) -> None:
    keys = ("AccessTokenLifetime", "SlidingRefreshTokenLifetime", "ConsentLifetime")
    unused = dict.fromkeys((*keys, "UserSsoLifetime", "AbsoluteRefreshTokenLifetime"), 0)
    client = {"ClientId": "app", "RequireClientSecret": False, "AllowOfflineAccess": True}
    grants = {"AllowedGrantTypes": ["password"]}
    taken = take_over(tmp_path, Clients=[{**client, **grants, **unused}])
    lifetimes = {key: each for key, each in taken.client("app").items() if "lifetime" in key}
    assert (len(lifetimes), {*lifetimes.values()}, taken.exit_code) == (5, {1}, 0)


def test_a_provider_that_a_client_is_restricted_to_and_that_is_code_there_is_reported(
    tmp_path: Path,
) -> None:
    client = {
        "ClientId": "app",
        "AllowedGrantTypes": ["authorization_code"],
        "RequireClientSecret": False,
        "RedirectUris": ["https://app.example.com/cb"],
        "IdentityProviderRestrictions": ["aad"],
    }
    result = take_over(tmp_path, Clients=[client])
    (row,) = [each for each in result.report["not_taken"] if "Restrictions" in each["place"]]
    assert row["reason"] == 'the provider "aad" is not here'
    assert "an empty list means all providers" in row["what_to_do"]
    assert result.exit_code == 4


def test_a_hybrid_client_gets_the_response_types_of_its_flow(settings: Imported) -> None:
    client = settings.client("hybrid")
    assert client["allowed_grant_types"] == ["authorization_code", "implicit"]
    assert client["allowed_response_types"] == [
        "code id_token",
        "code token",
        "code id_token token",
    ]


async def test_secrets_of_sha256_and_sha512_go_on_working(settings: Imported, start: Start) -> None:
    service = await start(settings.configuration)
    tokens = [
        await service.token((client, f"{client}-secret"), grant_type="client_credentials")
        for client in ("machine", "machine512")
    ]
    assert [claims_in(each["access_token"])["aud"] for each in tokens] == ["orders", "orders"]
    assert await service.is_active(tokens[0]["access_token"], caller="orders")
    wrong = await service.token(("machine512", "machine-secret"), grant_type="client_credentials")
    assert wrong.refusal == (401, "invalid_client")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("IdentityServer.Clients[2].AllowedGrantTypes", "is code of the old server"),
        (
            "IdentityServer.Clients[4].ClientSecrets[0].Value",
            "neither base64 of SHA-256 nor of SHA-512",
        ),
        ("IdentityServer.Clients[5]", "ClientId is missing"),
        ("IdentityServer.Clients[6].ProtocolType", "only OpenID Connect"),
        ("IdentityServer.ApiScopes[2]", "disabled"),
    ],
)
def test_what_has_no_meaning_here_is_not_taken(settings: Imported, place: str, reason: str) -> None:
    assert settings.exit_code == 4
    assert reason in settings.left_out[place]


def test_resources_become_apis_scopes_and_claims(settings: Imported) -> None:
    assert settings.entry("identity_resources", "roles")["user_claims"] == ["role"]
    api = settings.entry("api_resources", "orders")
    assert (api["scopes"], api["user_claims"]) == (["orders.read", "orders.write"], ["email"])
    scope = settings.entry("api_scopes", "orders.write")
    assert (scope["display_name"], scope["emphasize"]) == ("Write orders", True)


ROWS: Mapping[str, list[dict[str, Any]]] = {
    "Clients": [
        {"Id": 1, "Enabled": True, "ClientId": "shop", "ProtocolType": "oidc", "RequireClientSecret": True, "RequireConsent": True, "RequirePkce": False, "AllowOfflineAccess": False, "AccessTokenType": 0, "RefreshTokenUsage": 1, "RefreshTokenExpiration": 1, "AllowedIdentityTokenSigningAlgorithms": "ES256"},
        {"Id": 2, "ClientId": "other", "RequireClientSecret": False, "RequirePkce": True},
    ],
    "ClientSecrets": [{"Id": 7, "ClientId": 1, "Value": sha256("shop-secret"), "Type": "SharedSecret", "Created": "2020-01-01T00:00:00"}],
    "ClientGrantTypes": [{"ClientId": 1, "GrantType": "client_credentials"}, {"ClientId": 2, "GrantType": "authorization_code"}],
    "ClientRedirectUris": [{"ClientId": 2, "RedirectUri": "https://other.example.com/cb"}],
    "ClientScopes": [{"ClientId": 1, "Scope": "orders"}, {"ClientId": 2, "Scope": "openid"}],
    "ClientProperties": [{"ClientId": 1, "Key": "team", "Value": "shop"}],
    "ApiScopes": [{"Id": 4, "Name": "orders", "ShowInDiscoveryDocument": True}],
    "ApiScopeClaims": [{"ScopeId": 4, "Type": "email"}],
    "ApiResources": [{"Id": 9, "Name": "orders-api", "RequireResourceIndicator": False}],
    "ApiResourceScopes": [{"ApiResourceId": 9, "Scope": "orders"}],
    "ApiResourceSecrets": [{"ApiResourceId": 9, "Value": sha256("api-secret"), "Type": "SharedSecret"}],
}  # fmt: skip


def test_rows_of_the_tables_are_joined(tmp_path: Path) -> None:
    database = take_over(tmp_path, **ROWS)
    client = database.client("shop")
    assert client["client_secrets"] == [{"sha256": sha256("shop-secret")}]
    assert (client["allowed_scopes"], client["properties"]) == (["orders"], {"team": "shop"})
    assert (client["require_consent"], client["require_pkce"]) == (True, False)
    assert database.configuration["signing"]["algorithms"] == ["RS256", "ES256"]
    assert database.client("other")["redirect_uris"] == ["https://other.example.com/cb"]
    assert database.entry("api_resources", "orders-api")["scopes"] == ["orders"]
    assert database.entry("api_scopes", "orders")["user_claims"] == ["email"]


def test_each_entry_names_its_place_by_file_and_position(tmp_path: Path) -> None:
    database = take_over(tmp_path, **ROWS)
    places = [
        line.strip()
        for line in (database.folder / "registry.yaml").read_text().splitlines()
        if "Clients.json" in line
    ]
    assert places == ["# Clients.json: [0]", "# Clients.json: [1]"]


def test_users_in_the_section_of_all_are_taken(tmp_path: Path) -> None:
    inner = {
        "Clients": ROWS["Clients"],
        "AspNetUsers": [user_row("1")],
        "AspNetUserClaims": [{"UserId": "1", "ClaimType": "dept", "ClaimValue": "a"}],
    }
    source = tmp_path / "appsettings.json"
    source.write_text(json.dumps({"IdentityServer": inner}))
    taken = run_import("identityserver", source, tmp_path / "out")
    (user,) = taken.configuration["users"]["list"]
    assert (user["sub"], user["claims"]["dept"]) == ("1", "a")


def test_a_part_without_its_row_is_reported(tmp_path: Path) -> None:
    parts = [*ROWS["ClientScopes"], {"ClientId": 99, "Scope": "openid"}]
    database = take_over(tmp_path, **{**ROWS, "ClientScopes": parts})
    assert "its row of clients is missing" in database.left_out["ClientScopes.json: [2]"]


def test_scopes_of_the_version_before_4_are_objects_and_its_defaults_count(tmp_path: Path) -> None:
    scope = {"Name": "api1.read", "DisplayName": "Read", "UserClaims": ["email"]}
    client = {
        "ClientId": "app",
        "RequireClientSecret": False,
        "AllowedGrantTypes": ["authorization_code"],
        "RedirectUris": ["https://app.example.com/cb"],
        "AllowedScopes": ["openid", "api1.read"],
    }
    old = take_over(tmp_path, Clients=[client], ApiResources=[{"Name": "api1", "Scopes": [scope]}])
    assert old.entry("api_resources", "api1")["scopes"] == ["api1.read"]
    assert old.entry("api_scopes", "api1.read")["display_name"] == "Read"
    taken = old.client("app")
    assert (taken["require_consent"], taken["require_pkce"]) == (True, False)


@pytest.mark.parametrize(
    ("flow", "grants"),
    [
        ("AuthorizationCode", ["authorization_code", "refresh_token"]),
        (2, ["authorization_code", "implicit", "refresh_token"]),
        ("ResourceOwner", ["password", "refresh_token"]),
        (6, ["authorization_code", "refresh_token"]),
        (None, ["implicit", "refresh_token"]),
    ],
)
def test_flows_of_version_3_become_grants(
    tmp_path: Path, flow: str | int | None, grants: list[str]
) -> None:
    client = {
        "ClientId": "app",
        "Flow": flow,
        "ClientSecrets": [{"Value": sha256("s")}],
        "RedirectUris": ["https://app.example.com/cb"],
        "AllowAccessToAllScopes": True,
    }
    scopes = [
        {"Name": "openid", "Type": "Identity", "Claims": [{"Name": "sub"}]},
        {"Name": "api1", "Type": 1, "ScopeSecrets": [{"Value": sha256("scope")}]},
    ]
    old = take_over(tmp_path, Clients=[client], Scopes=scopes)
    taken = old.client("app")
    assert (taken["allowed_grant_types"], taken["allowed_scopes"]) == (grants, ["openid", "api1"])
    assert taken["require_pkce"] is (flow == 6)
    assert old.entry("api_scopes", "api1")["secrets"] == [{"sha256": sha256("scope")}]


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(identity_v2("password-1"), id="v2"),
        pytest.param(identity_v3("password-1", "sha256", 10_000), id="v3 with SHA-256"),
        pytest.param(identity_v3("password-1"), id="v3 with SHA-512"),
    ],
)
async def test_a_user_of_aspnet_identity_signs_in_with_the_same_password_and_subject(
    tmp_path: Path, start: Start, stored: str
) -> None:
    source = {**ROWS, "AspNetUsers": [user_row("5f1e", PasswordHash=stored)]}
    service = await start(take_over(tmp_path, **source).configuration)
    uri = "https://other.example.com/cb"
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=")
    answer = await sign_in(
        service,
        "USER-5F1E",
        "password-1",
        client_id="other",
        redirect_uri=uri,
        scope="openid",
        code_challenge=challenge.decode(),
        code_challenge_method="S256",
    )
    form = {"code": answer["code"], "redirect_uri": uri, "code_verifier": verifier}
    tokens = await service.token(None, grant_type="authorization_code", client_id="other", **form)
    assert claims_in(tokens["id_token"])["sub"] == "5f1e"


def users_of(folder: Path, **files: object) -> Mapping[str, dict[str, Any]]:
    """The users that an import has written, by their subjects."""
    listed = take_over(folder, **files).configuration["users"]["list"]
    return {user["sub"]: user for user in listed}


def test_claims_roles_and_addresses_are_those_of_identityserver(tmp_path: Path) -> None:
    users = users_of(
        tmp_path,
        AspNetUsers=[user_row("1", PhoneNumber="+1 555", EmailConfirmed=False)],
        AspNetUserClaims=[
            {"Id": 1, "UserId": "1", "ClaimType": "name", "ClaimValue": "Alice"},
            {"Id": 2, "UserId": "1", "ClaimType": "dept", "ClaimValue": "a"},
            {"Id": 3, "UserId": "1", "ClaimType": "dept", "ClaimValue": "b"},
        ],
        AspNetRoles=[{"Id": "r1", "Name": "admin"}],
        AspNetRoleClaims=[{"RoleId": "r1", "ClaimType": "level", "ClaimValue": "3"}],
        AspNetUserRoles=[{"UserId": "1", "RoleId": "r1"}],
    )
    assert users["1"]["claims"] == {
        "name": "Alice",
        "preferred_username": "user-1",
        "dept": ["a", "b"],
        "role": "admin",
        "level": "3",
        "email": "1@example.com",
        "email_verified": False,
        "phone_number": "+1 555",
        "phone_number_verified": False,
    }


def test_a_user_who_is_locked_out_for_ever_is_disabled(tmp_path: Path) -> None:
    rows = [
        user_row("1", LockoutEnd="9999-12-31T23:59:59.9999999+00:00"),
        user_row("2", LockoutEnd="2020-01-01T00:00:00+00:00"),
        user_row("3", LockoutEnd="9999-12-31T23:59:59Z", LockoutEnabled=False),
    ]
    users = users_of(tmp_path, AspNetUsers=rows)
    assert users["1"]["enabled"] is False
    assert "enabled" not in users["2"] | users["3"]


def test_authenticator_apps_are_those_of_users_who_have_confirmed_them(tmp_path: Path) -> None:
    token = {"LoginProvider": "[AspNetUserStore]", "Name": "AuthenticatorKey"}
    seed = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    database = take_over(
        tmp_path,
        AspNetUsers=[
            user_row("1", TwoFactorEnabled=True),
            user_row("2"),
            user_row("3", TwoFactorEnabled=True),
        ],
        AspNetUserTokens=[
            {"UserId": "1", "Value": seed, **token},
            {"UserId": "2", "Value": seed, **token},
            {"UserId": "1", **token, "Name": "RecoveryCodes", "Value": "a;b"},
        ],
    )
    factors = json.loads((database.folder / "factors.json").read_text())
    (user,) = factors["users"]
    file = user["totp"]["seed"].removeprefix("${file:").removesuffix("}")
    assert (user["sub"], (database.folder / file).read_text().strip()) == ("1", seed)
    assert "recovery codes of 1 users" in database.left_out["AspNetUserTokens"]
    assert "1 users have a second factor by e-mail" in database.left_out["AspNetUsers"]


def test_accounts_at_providers_become_identities_of_providers_that_are_here(tmp_path: Path) -> None:
    properties = json.dumps(
        {"Authority": "https://login.partner.example", "ClientId": "c", "ClientSecret": "s"}
    )
    database = take_over(
        tmp_path,
        IdentityProviders=[
            {
                "Id": 1,
                "Scheme": "partner",
                "Type": "oidc",
                "Enabled": True,
                "Properties": properties,
            }
        ],
        AspNetUsers=[user_row("1")],
        AspNetUserLogins=[
            {"LoginProvider": "partner", "ProviderKey": "p-1", "UserId": "1"},
            {"LoginProvider": "Google", "ProviderKey": "g-1", "UserId": "1"},
        ],
    )
    (user,) = database.configuration["users"]["list"]
    assert user["identities"] == [{"provider": "partner", "subject": "p-1"}]
    assert (
        database.entry("identity_providers", "partner")["issuer"] == "https://login.partner.example"
    )
    assert '1 accounts at "Google"' in database.left_out["AspNetUserLogins"]


def test_a_hash_that_costs_too_much_is_left_out_with_the_users_id(tmp_path: Path) -> None:
    database = take_over(
        tmp_path,
        AspNetUsers=[user_row("1", PasswordHash=identity_v3("p", "sha1", 1).replace("A", "B", 1))],
    )
    (user,) = database.configuration["users"]["list"]
    assert "password" not in user
    assert 'user "1"' in database.left_out["[0]"]


RSA = {
    "Modulus": base64.b64encode(b"\xc1" + bytes(range(255))).decode(),
    "Exponent": "AQAB",
    "D": base64.b64encode(b"private").decode(),
}


def test_only_public_halves_of_keys_are_taken(tmp_path: Path) -> None:
    key = {"Id": "K1", "Algorithm": "RS256", "Parameters": RSA}
    database = take_over(
        tmp_path,
        **ROWS,
        Keys=[
            {
                "Id": "K1",
                "Version": 1,
                "Use": "signing",
                "Algorithm": "RS256",
                "DataProtected": False,
                "Data": json.dumps(key),
            },
            {
                "Id": "K2",
                "Version": 1,
                "Use": "signing",
                "Algorithm": "RS256",
                "DataProtected": True,
                "Data": "CfDJ8...",
            },
        ],
        tempkey={"KeyId": "K3", "Parameters": RSA},
    )
    assert "encrypted by ASP.NET Core" in database.left_out["Keys.json: [1]"]
    assert database.report["taken"]["public keys"] == 2
    assert base64.b64encode(b"private").decode() not in "".join(
        each.read_text() for each in database.folder.rglob("*") if each.is_file()
    )


def certificate_of(key: rsa.RSAPrivateKey) -> str:
    """A certificate of its own, in base64 as IdentityServer keeps it."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "signer")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, SHA256())
    )
    return base64.b64encode(certificate.public_bytes(Encoding.DER)).decode()


@pytest.mark.parametrize("kind", ["JWK", "X509CertificateBase64"])
async def test_a_client_with_a_key_signs_its_assertions_with_it(
    tmp_path: Path, start: Start, kind: str
) -> None:
    private = rsa.generate_private_key(65537, 2048)
    key = RSAKey.import_key(private)
    value = json.dumps(key.as_dict(private=True)) if kind == "JWK" else certificate_of(private)
    client = {
        "ClientId": "signer",
        "ClientSecrets": [{"Type": kind, "Value": value}],
        "AllowedGrantTypes": ["client_credentials"],
        "AllowedScopes": ["orders"],
    }
    signing = take_over(tmp_path, Clients=[client], ApiScopes=[{"Name": "orders"}])
    assert str(key.as_dict(private=True)["d"]) not in (signing.folder / "registry.yaml").read_text()
    service = await start(signing.configuration)
    now = int(time.time())
    claims = {"iss": "signer", "sub": "signer", "aud": service.issuer, "exp": now + 60, "jti": "1"}
    tokens = await service.token(
        None,
        grant_type="client_credentials",
        client_assertion=jwt.encode({"alg": "RS256"}, claims, key),
        client_assertion_type="urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    )
    assert tokens.status == 200


def test_thumbprints_and_names_of_certificates_are_not_taken(tmp_path: Path) -> None:
    client = {
        "ClientId": "signer",
        "ClientSecrets": [
            {"Type": "X509Thumbprint", "Value": "AB" * 20},
            {"Type": "X509Name", "Value": "CN=signer"},
        ],
        "AllowedGrantTypes": ["client_credentials"],
    }
    signing = take_over(tmp_path, Clients=[client])
    assert "SHA-1" in signing.left_out["[0].ClientSecrets[0]"]
    remedies = {row["what_to_do"] for row in signing.report["not_taken"]}
    assert any("tls_client_auth_subject_dn" in remedy for remedy in remedies)


def test_a_user_who_is_locked_until_a_later_time_is_reported(tmp_path: Path) -> None:
    end = (datetime.now(UTC) + timedelta(days=300)).isoformat()
    users = [user_row("1", LockoutEnd=end), user_row("2", LockoutEnd="2020-01-01T00:00:00")]
    taken = take_over(tmp_path, AspNetUsers=users)
    assert [each for each in taken.left_out.values() if "locked" in each] == [
        'user "1" is locked until a time, and may sign in here'
    ]


def test_properties_of_a_resource_in_their_table_are_reported(tmp_path: Path) -> None:
    row = {"Id": 1, "Name": "a", "Enabled": True}
    part = {"Id": 1, "ScopeId": 1, "Key": "k", "Value": "v"}
    taken = take_over(tmp_path, ApiScopes=[row], ApiScopeProperties=[part])
    assert any("properties of your own" in each for each in taken.left_out.values())
