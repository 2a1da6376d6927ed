"""FAPI 2.0 Security Profile with mutual TLS, for one purpose or for both (fapi2-security-profile-final-test-plan)."""

from __future__ import annotations

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.fapi2.rules import runs


class TestTokensBoundToCertificates(
    runs.EveryRun, runs.PrivateKeyJwt, runs.MtlsConstraint, runs.OpenIdConnect
):
    """Clients authenticate by private_key_jwt."""

    plan = FapiPlan(client_id="fapi2-private-key-jwt-mtls", sender_constrain="mtls")


class TestAuthenticationByCertificates(
    runs.EveryRun, runs.MtlsAuthentication, runs.Dpop, runs.OpenIdConnectByDpop
):
    """Tokens are bound by DPoP."""

    plan = FapiPlan(client_id="fapi2-mtls-dpop", client_auth_type="mtls")


class TestBoth(runs.EveryRun, runs.Mtls, runs.OpenIdConnect):
    """With identity tokens."""

    plan = FapiPlan(client_id="fapi2-mtls-mtls", client_auth_type="mtls", sender_constrain="mtls")


class TestPlainOAuth(runs.EveryRun, runs.Mtls):
    """Without."""

    plan = FapiPlan(
        client_id="fapi2-mtls-mtls",
        client_auth_type="mtls",
        sender_constrain="mtls",
        openid="plain_oauth",
    )


class TestAuthenticationByCertificatesOfAnAuthority(runs.TokenEndpointByMtls):
    """Clients authenticate by tls_client_auth; in the other runs their certificates are self-signed."""

    plan = FapiPlan(
        client_id="fapi2-tls-client-auth", client_auth_type="mtls", sender_constrain="mtls"
    )
