"""FAPI 2.0 Message Signing (fapi2-message-signing-final-test-plan)."""

from __future__ import annotations

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.fapi2.rules import runs


class TestSignedRequestsAndResponses(
    runs.EveryRun,
    runs.PrivateKeyJwt,
    runs.Dpop,
    runs.OpenIdConnectByDpop,
    runs.SignedNonRepudiation,
    runs.Jarm,
):
    """As the profile has it by default."""

    plan = FapiPlan(
        client_id="fapi2-message-signing",
        fapi_request_method="signed_non_repudiation",
        fapi_response_mode="jarm",
    )


class TestSignedRequests(runs.EveryRun, runs.Mtls, runs.SignedNonRepudiation):
    """With `profile_options: {response: plain}`, by mutual TLS, and without OpenID Connect."""

    plan = FapiPlan(
        client_id="fapi2-message-signing-mtls",
        client_auth_type="mtls",
        sender_constrain="mtls",
        openid="plain_oauth",
        fapi_request_method="signed_non_repudiation",
    )


class TestSignedResponses(
    runs.EveryRun, runs.PrivateKeyJwt, runs.Dpop, runs.OpenIdConnectByDpop, runs.Jarm
):
    """A client of the Security Profile that asks for response_mode=jwt."""

    plan = FapiPlan(client_id="fapi2-private-key-jwt-dpop", fapi_response_mode="jarm")
