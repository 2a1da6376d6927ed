"""Hybrid OP (oidcc-hybrid-certification-test-plan): the plan runs once for each response type."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestCodeIdToken(runs.CodeIdToken):
    """By fragment."""

    plan = Plan(client_id="hybrid", response_type="code id_token", on_redis=False)


class TestCodeToken(runs.CodeToken):
    """By fragment."""

    plan = Plan(client_id="hybrid", response_type="code token", on_redis=False)


class TestCodeIdTokenToken(runs.CodeIdToken):
    """By fragment."""

    plan = Plan(client_id="hybrid", response_type="code id_token token")
