"""Rows on what a token is for: scope and resource."""

from __future__ import annotations

import pytest

from tests.refusals.attempts import ClientCredentials, Refresh
from tests.refusals.row import refused

BOTH_APIS = "openid api1 api2 offline_access"

ROWS = [
    *refused(
        ClientCredentials(proven=False),
        (400, "invalid_target"),
        {"no scope and an unknown resource": {"scope": None, "resource": "unknown"}},
        pytest.mark.rfc("8707#2"),
    ),
    *refused(
        Refresh(scope=BOTH_APIS, resource="api2"),
        (400, "invalid_scope"),
        {"a scope that the granted resource does not understand": {"scope": "api1"}},
        pytest.mark.rfc("6749#3.3", "8707#2.2"),
    ),
]
