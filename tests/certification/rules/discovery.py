"""The provider's metadata (OpenID Connect Discovery §3)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.certification.provider import ISSUER, Provider

_PATH = "/.well-known/openid-configuration"
_STANDARD_CLAIMS = {"sub", "name", "email", "address", "phone_number"}
_TAG = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?")
_SCOPE_VALUE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
_PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "k"}
_SIGNED = ("id_token", "userinfo", "request_object", "introspection", "authorization")
_AUTHENTICATED = ("token", "revocation", "introspection")
_REGISTERED = {
    *("issuer", "jwks_uri", "service_documentation", "op_policy_uri", "op_tos_uri"),
    *("authorization_endpoint", "userinfo_endpoint", "registration_endpoint"),
    *("device_authorization_endpoint", "pushed_authorization_request_endpoint"),
    *("backchannel_authentication_endpoint", "end_session_endpoint", "check_session_iframe"),
    *("scopes_supported", "response_types_supported", "response_modes_supported"),
    *("grant_types_supported", "subject_types_supported", "acr_values_supported"),
    *("display_values_supported", "prompt_values_supported", "code_challenge_methods_supported"),
    *("claims_supported", "claim_types_supported", "claims_locales_supported"),
    *("claims_parameter_supported", "ui_locales_supported"),
    *("request_parameter_supported", "request_uri_parameter_supported"),
    *("require_request_uri_registration", "require_signed_request_object"),
    *("require_pushed_authorization_requests", "authorization_response_iss_parameter_supported"),
    *("backchannel_logout_supported", "backchannel_logout_session_supported"),
    *("frontchannel_logout_supported", "frontchannel_logout_session_supported"),
    *("dpop_signing_alg_values_supported", "tls_client_certificate_bound_access_tokens"),
    *("mtls_endpoint_aliases", "authorization_details_types_supported"),
    *("backchannel_token_delivery_modes_supported", "backchannel_user_code_parameter_supported"),
    "backchannel_authentication_request_signing_alg_values_supported",
    *(f"{what}_signing_alg_values_supported" for what in _SIGNED),
    *(f"{what}_encryption_{how}_values_supported" for what in _SIGNED for how in ("alg", "enc")),
    *(f"{what}_endpoint" for what in _AUTHENTICATED),
    *(f"{what}_endpoint_auth_methods_supported" for what in _AUTHENTICATED),
    *(f"{what}_endpoint_auth_signing_alg_values_supported" for what in _AUTHENTICATED),
}
"""The registry of RFC 8414 §7.1, as far as this service may go; the suite warns of other names."""


def values(provider: Provider, name: str) -> set[str]:
    """A published list, which is not empty and holds nothing twice."""
    listed: Any = provider.metadata[name]
    assert isinstance(listed, list)
    assert listed
    assert len(listed) == len(set(listed))
    return set(listed)


@pytest.mark.conformance("oidcc-discovery-endpoint-verification")
@pytest.mark.rfc("openid-discovery#3", "openid-discovery#4")
class Discovery:
    """The document, member by member."""

    async def test_the_document_is_json(self, provider: Provider) -> None:
        answer = await provider.service.get(_PATH)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")

    def test_it_is_that_of_the_issuer(self, provider: Provider) -> None:
        assert provider.metadata["issuer"] == ISSUER

    def test_every_endpoint_is_https(self, provider: Provider) -> None:
        endpoints = {
            name: url
            for name, url in provider.metadata.items()
            if name.endswith("_endpoint") or name in {"jwks_uri", "check_session_iframe"}
        }
        assert {"authorization_endpoint", "token_endpoint", "userinfo_endpoint"} <= set(endpoints)
        assert [name for name, url in endpoints.items() if not url.startswith("https://")] == []

    @pytest.mark.rfc("8414#2", "8414#7.1")
    def test_every_member_has_a_registered_name(self, provider: Provider) -> None:
        assert provider.metadata.keys() <= _REGISTERED

    def test_response_types_and_grant_types_are_those_of_all_flows(
        self, provider: Provider
    ) -> None:
        response_types = {
            frozenset(one.split()) for one in values(provider, "response_types_supported")
        }
        needed = ["code", "id_token", "id_token token", "code id_token", "code token"]
        assert {frozenset(one.split()) for one in needed} <= response_types
        grant_types = values(provider, "grant_types_supported")
        assert {"authorization_code", "implicit", "refresh_token"} <= grant_types

    def test_modes_and_subject_types_are_listed(self, provider: Provider) -> None:
        assert values(provider, "response_modes_supported") >= {"query", "fragment", "form_post"}
        assert values(provider, "subject_types_supported") == {"public", "pairwise"}

    def test_rs256_is_offered_wherever_something_is_signed(self, provider: Provider) -> None:
        for what in ("id_token", "userinfo", "request_object"):
            algorithms = values(provider, f"{what}_signing_alg_values_supported")
            assert "RS256" in algorithms
            assert "none" not in algorithms

    def test_methods_of_client_authentication_are_listed(self, provider: Provider) -> None:
        methods = values(provider, "token_endpoint_auth_methods_supported")
        assert methods >= {"client_secret_basic", "client_secret_post", "private_key_jwt"}
        algorithms = values(provider, "token_endpoint_auth_signing_alg_values_supported")
        assert "RS256" in algorithms

    def test_claims_and_scopes_are_listed(self, provider: Provider) -> None:
        assert values(provider, "claims_supported") >= _STANDARD_CLAIMS
        scopes = values(provider, "scopes_supported")
        assert scopes >= {"openid", "profile", "email", "address", "phone", "offline_access"}
        assert all(_SCOPE_VALUE.fullmatch(value) for value in scopes)

    def test_what_may_be_asked_for_is_said(self, provider: Provider) -> None:
        for parameter in ("claims", "request", "request_uri"):
            assert provider.metadata[f"{parameter}_parameter_supported"] is True

    def test_languages_are_language_tags(self, provider: Provider) -> None:
        assert all(_TAG.fullmatch(tag) for tag in values(provider, "ui_locales_supported"))

    def test_challenge_methods_are_a_list(self, provider: Provider) -> None:
        assert "S256" in values(provider, "code_challenge_methods_supported")

    @pytest.mark.rfc("7517#4", "7517#5", "7518#6.3.2")
    async def test_the_keys_are_public_and_each_has_a_name(self, provider: Provider) -> None:
        keys = (await provider.jwks())["keys"]
        names = [key["kid"] for key in keys]
        assert len(names) == len(set(names))
        assert {key["kty"] for key in keys} <= {"RSA", "EC", "OKP"}
        assert {key["use"] for key in keys} <= {"sig", "enc"}
        assert [key["kid"] for key in keys if _PRIVATE & key.keys()] == []
