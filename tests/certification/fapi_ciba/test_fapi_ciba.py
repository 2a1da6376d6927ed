"""FAPI-CIBA, poll and ping (fapi-ciba-id1-test-plan)."""

from __future__ import annotations

from tests.certification.fapi2.plan import FapiPlan
from tests.certification.fapi2.rules import ciba


class TestPoll(ciba.Discovery, ciba.Flows, ciba.Expiry, ciba.Requests, ciba.PrivateKeyJwt):
    """Clients authenticate by private_key_jwt."""

    plan = FapiPlan(client_id="ciba-poll", sender_constrain="mtls", endpoint_is_audience=True)


class TestPing(ciba.Ping):
    """The differences in ping mode."""

    plan = FapiPlan(client_id="ciba-ping", sender_constrain="mtls", endpoint_is_audience=True)


class TestPollByCertificate(ciba.Mtls):
    """The differences with client_auth_type=mtls."""

    plan = FapiPlan(client_id="ciba-poll-mtls", client_auth_type="mtls", sender_constrain="mtls")
