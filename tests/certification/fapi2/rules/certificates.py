"""Mutual TLS: authentication by certificates, and tokens that are bound to them (RFC 8705)."""

from __future__ import annotations

import pytest

from tests.certification.fapi2.client import NO_CERTIFICATE, FapiClient
from tests.certification.fapi2.flow import complete
from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import Provider


class MtlsEndpoints:
    """Wherever a client shows certificates."""

    @mirrors("discovery-end-point-verification")
    @pytest.mark.rfc("8705#5")
    def test_the_endpoints_for_mutual_tls_are_listed(self, provider: Provider) -> None:
        aliases = provider.metadata["mtls_endpoint_aliases"]
        wanted = {"token_endpoint", "userinfo_endpoint", "pushed_authorization_request_endpoint"}
        assert wanted <= aliases.keys()
        assert all(url.startswith("https://") for url in aliases.values())


class BoundTokens:
    """sender_constrain=mtls."""

    @mirrors("ensure-holder-of-key-required")
    @pytest.mark.rfc("fapi2#5.3.2.1", "8705#3")
    async def test_a_code_is_refused_without_a_certificate(self, client: FapiClient) -> None:
        answer = await client.redeem(await client.code(), certificate=NO_CERTIFICATE)
        assert answer.refusal == refusal(client)

    @mirrors("refresh-token")
    @pytest.mark.rfc("fapi2#5.3.2.1", "8705#3")
    async def test_a_refresh_token_is_refused_without_a_certificate(
        self, client: FapiClient
    ) -> None:
        flow = await complete(client, prompt="consent")
        answer = await client.refresh(flow.refresh_token, certificate=NO_CERTIFICATE)
        assert answer.refusal == refusal(client)


class Certificates:
    """client_auth_type=mtls."""

    @mirrors("ensure-client-id-in-token-endpoint")
    @pytest.mark.rfc("8705#2", "6749#5.2")
    async def test_the_certificate_of_another_client_is_refused(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        another = {"client_id": second_client.client_id}
        answer = await client.redeem(await client.code(), credentials=another)
        assert answer.refusal == (401, "invalid_client")


def refusal(client: FapiClient) -> tuple[int, str]:
    """The refusal of a missing certificate."""
    if client.plan.client_auth_type == "mtls":
        return 401, "invalid_client"
    return 400, "invalid_request"
