"""Stricter profiles: OAuth 2.1, FAPI 2 and MCP, as far as a registry can meet them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from service.clients.rules.profiles import PROFILES, stricter_rules
from service.start.load import inspect

SOUND: dict[str, Any] = {
    "issuer": "https://auth.example.com",
    "signing": {"algorithms": ["PS256"]},
    "clients": [
        {
            "client_id": "web",
            "jwks_uri": "https://app/jwks",
            "token_endpoint_auth_method": "private_key_jwt",
            "redirect_uris": ["https://app/cb"],
            "allow_offline_access": True,
            "refresh_token_usage": "reuse",
            "require_pushed_authorization_requests": True,
            "dpop_bound_access_tokens": True,
        }
    ],
    "api_resources": [{"name": "tools", "url": "https://mcp.example.com/mcp"}],
}
FAPI2 = ["fapi2_security", "fapi2", "fapi2_message_signing"]


@pytest.fixture
def errors(file: Path) -> Any:
    def errors(profile: str, **keys: Any) -> Any:
        content = SOUND | {"clients": [SOUND["clients"][0] | keys]}
        file.write_text(yaml.dump(content))
        found = inspect(file, {}, stricter_rules(profile))
        return {
            problem.path.removeprefix("clients[web].")
            for problem in found
            if problem.severity == "error"
        }

    return errors


def test_the_profiles_are_those_of_the_contract() -> None:
    assert {*PROFILES} == {"oauth21", "mcp", *FAPI2}


@pytest.mark.parametrize("profile", ["oauth21", "mcp", "fapi2_security", "fapi2"])
def test_a_sound_registry_meets_the_profile(errors: Any, profile: str) -> None:
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
def test_what_every_profile_forbids(errors: Any, profile: str, keys: Any, path: Any) -> None:
    assert path in errors(profile, **keys)


def test_oauth21_allows_http_on_loopback(errors: Any) -> None:
    assert errors("oauth21", redirect_uris=["http://127.0.0.1:8000/cb", "http://[::1]/cb"]) == set()


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"token_endpoint_auth_method": None}, "token_endpoint_auth_method"),
        ({"authorization_code_lifetime": 61}, "authorization_code_lifetime"),
        ({"refresh_token_usage": "one_time"}, "refresh_token_usage"),
        ({"dpop_bound_access_tokens": False}, "dpop_bound_access_tokens"),
        (
            {"require_pushed_authorization_requests": False},
            "require_pushed_authorization_requests",
        ),
        ({"redirect_uris": ["http://127.0.0.1/cb"]}, "redirect_uris[0]"),
    ],
)
@pytest.mark.parametrize("profile", FAPI2)
def test_what_fapi2_forbids(errors: Any, profile: str, keys: Any, path: Any) -> None:
    assert path in errors(profile, **keys)


@pytest.mark.profile("algorithms_of_everybody")
def test_fapi2_judges_the_default_algorithm_of_a_file_without_one(file: Path) -> None:
    file.write_text("issuer: https://auth.example.com\n")
    rules = stricter_rules("fapi2")
    found = inspect(file, {}, rules)
    assert "signing.algorithms[0]" in {each.path for each in found}


@pytest.mark.profile("https_issuer")
def test_fapi2_needs_https_even_on_loopback(file: Path) -> None:
    file.write_text("issuer: http://localhost:8080\nsigning: {algorithms: [ES256]}\n")
    found = inspect(file, {}, stricter_rules("fapi2"))
    assert {each.path for each in found if each.severity == "error"} == {"issuer"}


@pytest.mark.profile("apis_by_url")
def test_mcp_needs_an_api_that_is_named_by_its_url(file: Path) -> None:
    file.write_text(yaml.dump(SOUND | {"api_resources": [{"name": "api"}]}))
    found = inspect(file, {}, stricter_rules("mcp"))
    assert "api_resources" in {each.path for each in found if each.severity == "error"}


@pytest.mark.profile("apis_by_url")
def test_mcp_needs_metadata_of_an_api_whose_name_is_its_url(file: Path) -> None:
    name = "https://mcp.example.com/mcp"
    file.write_text(yaml.dump(SOUND | {"api_resources": [{"name": name}]}))
    found = inspect(file, {}, stricter_rules("mcp"))
    assert f"api_resources[{name}].url" in {one.path for one in found if one.severity == "error"}


@pytest.mark.profile("offline_access_is_listed")
def test_mcp_needs_offline_access(errors: Any, file: Path) -> None:
    assert errors("mcp", allow_offline_access=False) == {"clients"}
    content = yaml.safe_load(file.read_text())
    for section in ("client_id_metadata", "registration"):
        allowed = {"enabled": True, "allowed_scopes": ["openid", "offline_access"]}
        file.write_text(yaml.dump(content | {section: allowed}))
        found = inspect(file, {}, stricter_rules("mcp"))
        assert [one for one in found if one.severity == "error"] == []


@pytest.mark.profile("agents_need_no_operator")
def test_mcp_warns_where_no_client_can_come_by_itself(file: Path) -> None:
    def warned(**sections: Any) -> bool:
        file.write_text(yaml.dump(SOUND | sections))
        found = inspect(file, {}, stricter_rules("mcp"))
        return "client_id_metadata.enabled" in {one.path for one in found}

    assert warned()
    assert not warned(registration={"enabled": True})
    assert not warned(client_id_metadata={"enabled": True})


def test_a_client_that_has_the_profile_itself_is_judged_once(file: Path) -> None:
    client = SOUND["clients"][0] | {"profile": "fapi2_security", "authorization_code_lifetime": 61}
    file.write_text(yaml.dump(SOUND | {"clients": [client]}))
    found = inspect(file, {}, stricter_rules("fapi2"))
    errors = [each.path for each in found if each.severity == "error"]
    assert errors == ["clients[web].authorization_code_lifetime"]
