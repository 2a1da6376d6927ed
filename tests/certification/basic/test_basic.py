"""Basic OP (oidcc-basic-certification-test-plan)."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestCode(runs.Code):
    """By query."""

    plan = Plan(client_id="basic", response_type="code")


class TestRegisteredClient(runs.Code):
    """By query too; the plan can be run with clients that register themselves, who are asked for consent."""

    plan = Plan(response_type="code", on_redis=False)
