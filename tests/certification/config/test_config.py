"""Config OP (oidcc-config-certification-test-plan)."""

from __future__ import annotations

from tests.certification.rules.discovery import Discovery


class TestConfig(Discovery):
    """With static clients."""
