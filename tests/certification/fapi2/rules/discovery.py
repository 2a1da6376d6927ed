"""The provider's metadata, as far as FAPI asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import ISSUER, Provider

ALLOWED = {"PS256", "ES256", "EdDSA"}
_OIDC = "/.well-known/openid-configuration"
_OAUTH = "/.well-known/oauth-authorization-server"


@mirrors("discovery-end-point-verification")
@pytest.mark.rfc("8414#2", "8414#3", "openid-discovery#3")
class Discovery:
    """Member by member; the modules that every other class runs need these."""

    @pytest.mark.parametrize("path", [_OIDC, _OAUTH])
    async def test_the_metadata_document_names_the_issuer(
        self, provider: Provider, path: str
    ) -> None:
        answer = await provider.service.get(path)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        assert answer["issuer"] == ISSUER

    def test_response_type_code_is_supported(self, provider: Provider) -> None:
        assert "code" in provider.metadata["response_types_supported"]

    @pytest.mark.rfc("9126#5")
    def test_pushed_requests_are_supported(self, provider: Provider) -> None:
        assert provider.metadata["pushed_authorization_request_endpoint"].startswith(ISSUER)
        assert provider.metadata["require_pushed_authorization_requests"] in {True, False}

    @pytest.mark.rfc("7636#6.2", "fapi2#5.3.2.2")
    def test_challenge_method_s256_is_supported(self, provider: Provider) -> None:
        assert "S256" in provider.metadata["code_challenge_methods_supported"]

    @pytest.mark.rfc("9207#3", "fapi2#5.3.2.2")
    def test_responses_name_the_issuer(self, provider: Provider) -> None:
        assert provider.metadata["authorization_response_iss_parameter_supported"] is True

    @pytest.mark.rfc("fapi2#5.4.1")
    @pytest.mark.parametrize(
        "what", ["id_token", "userinfo", "token_endpoint_auth", "request_object"]
    )
    def test_an_algorithm_of_fapi_is_supported(self, provider: Provider, what: str) -> None:
        assert ALLOWED & set(provider.metadata[f"{what}_signing_alg_values_supported"])

    @pytest.mark.rfc("9449#5.1")
    def test_sender_constrained_tokens_are_supported(
        self, provider: Provider, fapi_plan: FapiPlan
    ) -> None:
        if fapi_plan.sender_constrain == "dpop":
            assert ALLOWED & set(provider.metadata["dpop_signing_alg_values_supported"])
        else:
            assert provider.metadata["tls_client_certificate_bound_access_tokens"] is True

    @pytest.mark.rfc("fapi2#5.3.2.1")
    def test_the_client_authentication_method_is_supported(
        self, provider: Provider, fapi_plan: FapiPlan
    ) -> None:
        methods = set(provider.metadata["token_endpoint_auth_methods_supported"])
        if fapi_plan.client_auth_type == "private_key_jwt":
            assert "private_key_jwt" in methods
        else:
            assert {"tls_client_auth", "self_signed_tls_client_auth"} & methods

    def test_scopes_and_subject_types_are_listed(self, provider: Provider) -> None:
        assert "openid" in provider.metadata["scopes_supported"]
        assert provider.metadata["subject_types_supported"]

    @pytest.mark.rfc("7517#4", "fapi2#5.4.1")
    async def test_the_keys_are_public_and_named_and_long_enough(self, provider: Provider) -> None:
        keys: list[dict[str, Any]] = (await provider.jwks())["keys"]
        assert len({key["kid"] for key in keys}) == len(keys)
        for key in keys:
            assert not {"d", "p", "q", "k"} & key.keys()
            assert len(key.get("n", "n" * 342)) >= 342
