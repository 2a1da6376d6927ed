"""Implicit OP (oidcc-implicit-certification-test-plan): the plan runs once for each response type."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestIdToken(runs.IdToken):
    """By fragment."""

    plan = Plan(client_id="implicit", response_type="id_token", on_redis=False)


class TestIdTokenToken(runs.IdTokenToken):
    """By fragment."""

    plan = Plan(client_id="implicit", response_type="id_token token")
