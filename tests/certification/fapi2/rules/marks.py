"""Names a module of the suite, all of which begin alike."""

from __future__ import annotations

import pytest


def mirrors(module: str) -> pytest.MarkDecorator:
    """Mark a rule with the module that it is part of, by what follows the common beginning."""
    return pytest.mark.conformance(f"fapi2-security-profile-final-{module}")
