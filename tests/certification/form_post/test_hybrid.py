"""Form Post OP (oidcc-formpost-hybrid-certification-test-plan)."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestCodeIdToken(runs.CodeIdToken):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="code id_token", form_post=True)


class TestCodeToken(runs.CodeToken):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="code token", form_post=True)


class TestCodeIdTokenToken(runs.CodeIdToken):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="code id_token token", form_post=True)
