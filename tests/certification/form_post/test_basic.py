"""Form Post OP (oidcc-formpost-basic-certification-test-plan)."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestCode(runs.Code):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="code", form_post=True)
