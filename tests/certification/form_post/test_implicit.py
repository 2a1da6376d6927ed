"""Form Post OP (oidcc-formpost-implicit-certification-test-plan)."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules import runs


class TestIdToken(runs.IdToken):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="id_token", form_post=True)


class TestIdTokenToken(runs.IdTokenToken):
    """By form_post."""

    plan = Plan(client_id="form-post", response_type="id_token token", form_post=True)
