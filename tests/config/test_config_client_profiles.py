"""`clients[].profile` sets what the profile demands, and makes anything weaker an error with its line."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from service.clients.rules.profiles import RULES
from service.config.configuration import Configuration
from service.config.problem import Problem
from service.model.polling import CIBA
from service.model.profiles import with_profile_defaults
from tests.driving.authority import self_signed

Problems = Callable[..., dict[str, Problem]]
Read = Callable[..., Configuration]

WEAK_CERTIFICATE = self_signed(key=ec.generate_private_key(ec.SECP192R1()))
WEAK_JWK = {"kty": "EC", "x5c": [b64encode(WEAK_CERTIFICATE.der).decode()]}
FAPI2 = ("fapi2_security", "fapi2_message_signing")


def text(profile: str | None, keys: dict[str, Any], **file: Any) -> str:
    """A file with one client of this profile, which has no values but necessary ones."""
    client = {
        "client_id": "web",
        "profile": profile,
        "redirect_uris": ["https://web.example/cb"],
        "allowed_scopes": ["api1"],
    }
    credential = (
        {} if keys.keys() & {"jwks", "client_secrets"} else {"jwks_uri": "https://web/jwks"}
    )
    content = {
        "signing": {"algorithms": ["RS256", "ES256"]},
        "api_resources": [{"name": "api1", "introspection_signed_response": True}],
        "clients": [client | credential | keys],
    }
    return yaml.dump(content | file, sort_keys=False)


def errors(found: dict[str, Problem]) -> set[str]:
    return {path for path, problem in found.items() if problem.severity == "error"}


def test_fapi2_sets_what_it_demands(read: Read) -> None:
    client = read(text("fapi2_security", {})).registry.clients["web"]
    assert client.require_pushed_authorization_requests
    assert client.dpop_bound_access_tokens
    assert client.require_pkce
    assert client.token_endpoint_auth_method == "private_key_jwt"
    assert client.refresh_token_usage == "reuse"
    assert client.id_token_signed_response_alg == "ES256"


def test_tokens_bound_to_a_certificate_need_no_dpop(read: Read) -> None:
    keys = {"tls_client_certificate_bound_access_tokens": True}
    proxy = {"trusted_proxies": ["10.0.0.0/8"], "client_certificate_header": "Client-Cert"}
    client = read(text("fapi2_security", keys, server=proxy)).registry.clients["web"]
    assert not client.dpop_bound_access_tokens


@pytest.mark.profile("client_authentication")
@pytest.mark.parametrize(
    ("keys", "method"),
    [
        ({"tls_client_auth_san_dns": "web.example"}, "tls_client_auth"),
        ({"self_signed_certificates": ["A" * 43]}, "self_signed_tls_client_auth"),
    ],
)
def test_a_certificate_chooses_mutual_tls(keys: dict[str, Any], method: str) -> None:
    assert with_profile_defaults({"profile": "fapi2_security", **keys}) == {
        **keys,
        "profile": "fapi2_security",
        "require_pushed_authorization_requests": True,
        "refresh_token_usage": "reuse",
        "dpop_bound_access_tokens": True,
        "token_endpoint_auth_method": method,
    }


def test_message_signing_sets_what_it_demands(read: Read) -> None:
    client = read(text("fapi2_message_signing", {})).registry.clients["web"]
    assert client.require_signed_request_object
    assert client.default_response_mode == "jwt"
    assert client.authorization_signed_response_alg == "ES256"


def test_without_a_profile_nothing_is_set(read: Read) -> None:
    plain = text("fapi2_security", {"profile": None, "token_endpoint_auth_method": None})
    client = read(plain).registry.clients["web"]
    assert not client.require_pushed_authorization_requests
    assert client.token_endpoint_auth_method is None
    assert client.id_token_signed_response_alg is None


def test_oauth21_allows_a_public_client_with_the_defaults(problems: Problems) -> None:
    keys = {"require_client_secret": False, "jwks": None}
    assert errors(problems(text("oauth21", keys))) == set()


ALL = (
    (
        "only_codes",
        {"allowed_grant_types": ["authorization_code", "implicit"]},
        "allowed_grant_types[implicit]",
    ),
    ("only_codes", {"allowed_grant_types": ["password"]}, "allowed_grant_types[password]"),
    ("s256", {"require_pkce": False}, "require_pkce"),
    ("s256", {"allow_plain_text_pkce": True}, "allow_plain_text_pkce"),
)
WEAK_FAPI2 = (
    *ALL,
    ("confidential", {"require_client_secret": False}, "require_client_secret"),
    (
        "client_authentication",
        {"token_endpoint_auth_method": "client_secret_basic"},
        "token_endpoint_auth_method",
    ),
    ("client_authentication", {"token_endpoint_auth_method": None}, "token_endpoint_auth_method"),
    ("algorithms", {"token_endpoint_auth_signing_alg": "RS256"}, "token_endpoint_auth_signing_alg"),
    ("algorithms", {"request_object_signing_alg": "none"}, "request_object_signing_alg"),
    ("algorithms", {"id_token_signed_response_alg": "RS256"}, "id_token_signed_response_alg"),
    ("algorithms", {"userinfo_signed_response_alg": "RS256"}, "userinfo_signed_response_alg"),
    (
        "key_sizes",
        {"jwks": {"keys": [{"kty": "RSA", "n": "x" * 171, "e": "AQAB"}]}},
        "jwks.keys[0]",
    ),
    (
        "key_sizes",
        {"jwks": None, "self_signed_certificates": [WEAK_CERTIFICATE.pem]},
        "self_signed_certificates[0]",
    ),
    ("key_sizes", {"jwks": {"keys": [WEAK_JWK]}}, "jwks.keys[0]"),
    ("no_rsa1_5", {"request_object_encryption_alg": "RSA1_5"}, "request_object_encryption_alg"),
    ("bound_tokens", {"dpop_bound_access_tokens": False}, "dpop_bound_access_tokens"),
    (
        "pushed_requests",
        {"require_pushed_authorization_requests": False},
        "require_pushed_authorization_requests",
    ),
    ("pushed_requests", {"pushed_authorization_lifetime": 600}, "pushed_authorization_lifetime"),
    ("https_redirect_uris", {"redirect_uris": ["http://127.0.0.1/cb"]}, "redirect_uris[0]"),
    ("https_redirect_uris", {"redirect_uris": ["com.example.web:/cb"]}, "redirect_uris[0]"),
    ("short_codes", {"authorization_code_lifetime": 61}, "authorization_code_lifetime"),
    (
        "no_rotation",
        {
            "refresh_token_usage": "one_time",
            "allow_offline_access": True,
            "allowed_grant_types": ["authorization_code", "refresh_token"],
        },
        "refresh_token_usage",
    ),
)
WEAK_SIGNING = (
    ("signed_requests", {"require_signed_request_object": False}, "require_signed_request_object"),
    ("signed_responses", {"default_response_mode": "query"}, "default_response_mode"),
)
WEAK_OAUTH21 = (
    *ALL,
    ("encrypted_redirect_uris", {"redirect_uris": ["http://web.example/cb"]}, "redirect_uris[0]"),
    (
        "protected_refresh_tokens",
        {"require_client_secret": False, "refresh_token_usage": "reuse"},
        "refresh_token_usage",
    ),
)
CASES = [
    *(("oauth21", *case) for case in WEAK_OAUTH21),
    *((profile, *case) for case in WEAK_FAPI2 for profile in FAPI2),
    *(("fapi2_message_signing", *case) for case in WEAK_SIGNING),
]


@pytest.mark.profile(
    *("only_codes", "s256", "confidential", "client_authentication", "algorithms", "key_sizes"),
    *("no_rsa1_5", "bound_tokens", "pushed_requests", "https_redirect_uris", "short_codes"),
    *("no_rotation", "signed_requests", "signed_responses", "encrypted_redirect_uris"),
    "protected_refresh_tokens",
)
@pytest.mark.parametrize(("profile", "rule", "keys", "path"), CASES)
def test_a_weaker_client_is_an_error_at_its_line(
    problems: Problems, profile: str, rule: str, keys: dict[str, Any], path: str
) -> None:
    written = text(profile, keys)
    problem = problems(written)[f"clients[web].{path}"]
    assert problem.severity == "error"
    key = path.partition("[")[0].partition(".")[0]
    line = (written.splitlines()[problem.line - 2]).strip()
    assert line.startswith((f"{key}:", "- ")), (rule, line)


@pytest.mark.profile("algorithms_of_the_service", "clock_skew")
@pytest.mark.parametrize("profile", FAPI2)
@pytest.mark.parametrize(
    ("rule", "settings", "path"),
    [
        ("algorithms_of_the_service", {"signing": {"algorithms": ["RS256"]}}, "signing.algorithms"),
        (
            "algorithms_of_the_service",
            {"api_resources": [{"name": "api1", "access_token_signing_algorithm": "RS256"}]},
            "api_resources[api1].access_token_signing_algorithm",
        ),
        ("clock_skew", {"server": {"clock_skew": "9s"}}, "server.clock_skew"),
        ("clock_skew", {"server": {"clock_skew": "61s"}}, "server.clock_skew"),
    ],
)
def test_a_weaker_setting_is_an_error_where_a_client_has_the_profile(
    problems: Problems, profile: str, rule: str, settings: dict[str, Any], path: str
) -> None:
    found = problems(text(profile, {}, **settings))
    assert (found[path].severity, found[path].line > 0) == ("error", True), rule
    without = problems(text(profile, {"profile": None}, **settings))
    assert path not in errors(without)


@pytest.mark.profile("signed_introspection")
def test_signed_messages_need_signed_introspection(problems: Problems) -> None:
    apis = {"api_resources": [{"name": "api1"}, {"name": "api2"}]}
    found = problems(text("fapi2_message_signing", {}, **apis))
    path = "api_resources[api1].introspection_signed_response"
    assert found[path].severity == "error"
    assert path not in problems(text("fapi2_security", {}, **apis))
    assert "api_resources[api2].introspection_signed_response" not in found


def test_a_native_app_may_listen_on_loopback(problems: Problems) -> None:
    keys = {"application_type": "native", "redirect_uris": ["http://127.0.0.1/cb"]}
    assert "clients[web].redirect_uris[0]" not in problems(text("fapi2_security", keys))


def test_two_credentials_leave_the_method_to_the_operator(problems: Problems) -> None:
    keys = {"tls_client_auth_subject_dn": "CN=web"}
    found = problems(text("fapi2_security", keys))
    assert found["clients[web].token_endpoint_auth_method"].severity == "error"


@pytest.mark.parametrize("profile", [None, "oauth21", "fapi2_security", "fapi_ciba"])
def test_options_of_another_profile_are_an_error(problems: Problems, profile: str | None) -> None:
    found = problems(text(profile, {"profile_options": {"response": "plain"}}))
    assert found["clients[web].profile_options"].severity == "error"


def test_fapi_ciba_sets_what_it_demands(read: Read) -> None:
    client = read(text("fapi_ciba", {})).registry.clients["web"]
    assert client.dpop_bound_access_tokens
    assert client.token_endpoint_auth_method == "private_key_jwt"
    assert client.id_token_signed_response_alg == "ES256"
    assert not client.require_pushed_authorization_requests
    assert client.refresh_token_usage == "one_time"
    assert client.allowed_grant_types == {CIBA}


@pytest.mark.profile("ciba_alone")
@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"require_client_secret": False}, "require_client_secret"),
        ({"dpop_bound_access_tokens": False}, "dpop_bound_access_tokens"),
        ({"client_secrets": [{"sha256": "0" * 64}]}, "token_endpoint_auth_method"),
        ({"id_token_signed_response_alg": "RS256"}, "id_token_signed_response_alg"),
        (
            {"allowed_grant_types": [CIBA, "authorization_code"]},
            "allowed_grant_types[authorization_code]",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fapi_ciba_takes_nothing_weaker(problems: Problems, keys: dict[str, Any], key: str) -> None:
    assert f"clients[web].{key}" in errors(problems(text("fapi_ciba", keys)))


def test_an_unknown_profile_is_an_error(problems: Problems) -> None:
    assert errors(problems(text("fapi3", {}))) == {"clients[web].profile"}


def test_the_names_of_the_rules_are_those_of_the_table() -> None:
    assert {case[1] for case in CASES} <= {rule.name for rule in RULES}
