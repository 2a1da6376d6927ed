"""FAPI 2.0 Security Profile with private_key_jwt and DPoP (fapi2-security-profile-final-test-plan)."""

from __future__ import annotations

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.fapi2.rules import runs


class TestOpenIdConnect(runs.EveryRun, runs.PrivateKeyJwt, runs.Dpop, runs.OpenIdConnectByDpop):
    """With identity tokens."""

    plan = FapiPlan(client_id="fapi2-private-key-jwt-dpop", runs_on_redis=True)


class TestPlainOAuth(runs.EveryRun, runs.PrivateKeyJwt, runs.Dpop):
    """Without."""

    plan = FapiPlan(client_id="fapi2-private-key-jwt-dpop", openid="plain_oauth")
