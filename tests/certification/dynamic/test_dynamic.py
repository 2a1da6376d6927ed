"""Dynamic OP (oidcc-dynamic-certification-test-plan): clients register themselves and authenticate by private_key_jwt."""

from __future__ import annotations

from tests.certification.plan import Plan
from tests.certification.rules.discovery import Discovery
from tests.certification.rules.registered import RedirectUris, Registration, Sectors
from tests.certification.rules.signed_requests import RequestObjects


class TestDiscovery(Discovery):
    """With dynamic clients."""


class TestCode(Registration, RedirectUris, Sectors, RequestObjects):
    """By query."""

    plan = Plan(response_type="code")


class TestCodeIdToken(Registration, RedirectUris, Sectors, RequestObjects):
    """By fragment."""

    plan = Plan(response_type="code id_token")
