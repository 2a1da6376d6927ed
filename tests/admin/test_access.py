"""The admin API takes few tokens, of few users, at one host (RFC 6750 §3, RFC 9068 §4)."""

from __future__ import annotations

import pytest

from tests.admin.conftest import Admin, token_of
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("6750#3", "9068#4")


async def test_client_with_the_scope_reads(admin: Admin) -> None:
    answer = await admin("GET", "/admin/registry")
    assert (answer.status, bool(answer["generation"])) == (200, True)


async def test_audience_is_the_url_of_the_admin_api(service: RunningService) -> None:
    token = await token_of(service, "operations", "admin.read")
    assert claims_in(token)["aud"] == service.admin_url


async def test_request_without_a_token_is_refused(service: RunningService) -> None:
    answer = await service.admin("GET", "/admin/registry")
    assert answer.refusal == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer realm=")
