"""Stricter profiles: OAuth 2.1 and the FAPI 2 security profile, as far as a registry can meet them."""

from __future__ import annotations

import pytest
import yaml

from service.config.load import inspect
from service.config.rules.profiles import PROFILES

SOUND = {
    "issuer": "https://auth.example.com",
    "signing": {"algorithms": ["PS256"]},
    "clients": [
        {
            "client_id": "web",
            "jwks_uri": "https://app/jwks",
            "token_endpoint_auth_method": "private_key_jwt",
            "redirect_uris": ["https://app/cb"],
            "dpop_bound_access_tokens": True,
            "require_pushed_authorization_requests": True,
        }
    ],
}


@pytest.fixture
def errors(file):
    def errors(profile, **keys):
        content = SOUND | {"clients": [SOUND["clients"][0] | keys]}
        file.write_text(yaml.dump(content))
        found = inspect(file, {}, rules=PROFILES[profile])
        return {
            problem.path.removeprefix("clients[web].")
            for problem in found
            if problem.severity == "error"
        }

    return errors


@pytest.mark.parametrize("profile", PROFILES)
def test_a_sound_registry_meets_every_profile(errors, profile):
    assert errors(profile) == set()


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"allowed_grant_types": ["implicit"]}, "allowed_grant_types[implicit]"),
        ({"allowed_grant_types": ["password"]}, "allowed_grant_types[password]"),
        ({"require_pkce": False}, "require_pkce"),
        ({"allow_plain_text_pkce": True}, "allow_plain_text_pkce"),
        ({"redirect_uris": ["http://app/cb"]}, "redirect_uris[0]"),
    ],
)
@pytest.mark.parametrize("profile", PROFILES)
def test_what_every_profile_forbids(errors, profile, keys, path):
    assert path in errors(profile, **keys)


def test_oauth21_allows_http_on_loopback(errors):
    assert errors("oauth21", redirect_uris=["http://127.0.0.1:8000/cb", "http://[::1]/cb"]) == set()


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"token_endpoint_auth_method": None}, "token_endpoint_auth_method"),
        ({"dpop_bound_access_tokens": False}, "dpop_bound_access_tokens"),
        (
            {"require_pushed_authorization_requests": False},
            "require_pushed_authorization_requests",
        ),
        ({"authorization_code_lifetime": 61}, "authorization_code_lifetime"),
        ({"allow_offline_access": True}, "refresh_token_usage"),
    ],
)
def test_what_fapi2_forbids(errors, keys, path):
    assert errors("fapi2", **keys) == {path}
