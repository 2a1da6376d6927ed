"""Whatever values the keys of another server's export have, an import ends in words, and `check` accepts what it wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.takeover.importing import run_command

TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["openid", "code", "https://app.example.com/cb", "http://localhost", "none", "true", "1h", "$A", "${file:x}", "AAAA", "0", "[]", "{}"]
    ),
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers(-1, 10**12) | st.floats(allow_nan=False) | TEXTS


def objects_of(keys: Sequence[str], depth: int = 2) -> st.SearchStrategy[dict[str, object]]:
    """Objects with some of these keys, and any values below them."""
    values: st.SearchStrategy[object] = SCALARS | st.lists(SCALARS, max_size=3)
    if depth:
        inner = objects_of(keys, depth - 1)
        values |= inner | st.lists(inner, max_size=2)
    return st.dictionaries(st.sampled_from(keys) | TEXTS, values, max_size=8)


DEX = objects_of(
    [
        *(
            "issuer",
            "storage",
            "web",
            "oauth2",
            "expiry",
            "connectors",
            "staticClients",
            "sessions",
        ),
        *("enablePasswordDB", "staticPasswords", "id", "idEnv", "secret", "public", "redirectURIs"),
        *("trustedPeers", "allowedConnectors", "type", "name", "config", "host", "userSearch"),
        *("baseDN", "username", "groupSearch", "userMatchers", "email", "hash", "userID", "groups"),
        *("responseTypes", "grantTypes", "pkce", "refreshTokens", "idTokens", "clientID", "scopes"),
    ],
    depth=3,
)
HYDRA = st.lists(
    objects_of(
        [
            *("client_id", "id", "client_secret", "redirect_uris", "grant_types", "response_types"),
            *("scope", "audience", "jwks", "keys", "kty", "metadata", "token_endpoint_auth_method"),
            *("subject_type", "skip_consent", "access_token_strategy", "allowed_cors_origins"),
            *("authorization_code_grant_access_token_lifespan", "backchannel_logout_uri"),
        ]
    ),
    max_size=3,
)
IDENTITYSERVER = objects_of(
    [
        *("IdentityServer", "Clients", "ApiResources", "ApiScopes", "IdentityResources", "Scopes"),
        *("Keys", "Data", "DataProtected", "AspNetUsers", "AspNetUserTokens", "AspNetUserLogins"),
        *(
            "ClientId",
            "ClientSecrets",
            "Value",
            "Type",
            "AllowedGrantTypes",
            "RedirectUris",
            "Flow",
        ),
        *("AllowedScopes", "Claims", "Properties", "Id", "UserName", "PasswordHash", "LockoutEnd"),
        *(
            "Name",
            "UserClaims",
            "Enabled",
            "Expiration",
            "AccessTokenType",
            "UserId",
            "LoginProvider",
        ),
    ],
    depth=3,
)
USUAL = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@USUAL
@given(DEX)
def test_any_configuration_of_dex_ends_in_words(export: dict[str, object]) -> None:
    judge("dex", export)


@USUAL
@given(HYDRA)
def test_any_clients_of_hydra_end_in_words(export: list[dict[str, object]]) -> None:
    judge("hydra", export)


@USUAL
@given(IDENTITYSERVER)
def test_any_export_of_identityserver_ends_in_words(export: dict[str, object]) -> None:
    judge("identityserver", export)


def judge(kind: str, export: object) -> None:
    """Import it, and check what was written."""
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "export.json"), Path(folder, "out")
        source.write_text(json.dumps(export))
        done = run_command("import", kind, str(source), "--out", str(out))
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
        assert done.exit_code in {0, 1, 2, 4}, done.output
        assert out.exists() is (done.exit_code in {0, 4})
        if out.exists():
            checked = run_command("check", str(out / "config.yaml"))
            assert checked.exit_code == 0, checked.output
