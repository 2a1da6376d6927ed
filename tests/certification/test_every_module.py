"""No module of the suite is left out, and none is made up."""

from __future__ import annotations

import pytest

from scripts.docs.conformance import mirrors_of
from tests.certification.profiles import PROFILES


@pytest.mark.parametrize("profile", PROFILES)
def test_each_module_of_a_profile_has_its_test(profile: str) -> None:
    mirrored = {mirror.module for mirror in mirrors_of(profile)}
    assert mirrored == set(PROFILES[profile].modules)
