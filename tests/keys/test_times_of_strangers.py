"""A NumericDate of somebody else is a time that people mean, or is refused (RFC 7519 §2)."""

from __future__ import annotations

import pytest

from service.keys.foreign_keys import check_times, time_in
from service.keys.jose import JwtRefused

pytestmark = pytest.mark.rfc("7519#2")

NAMES = ("exp", "nbf", "iat", "auth_time")
ABSURD = [1e300, 10**400, float("inf"), float("nan"), 253402300800, -1, -1e300, True, "1", [1], {}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ABSURD, ids=lambda value: str(value)[:12])
def test_a_number_beyond_the_range_of_dates_is_refused(name: str, value: object) -> None:
    with pytest.raises(JwtRefused, match=name):
        time_in({name: value}, name)


@pytest.mark.parametrize("name", NAMES[:3])
def test_no_check_of_times_accepts_one(name: str) -> None:
    with pytest.raises(JwtRefused):
        check_times({name: 1e300}, now=1_800_000_000, clock_skew=30)


@pytest.mark.parametrize("value", [0, 1_800_000_000, 1_800_000_000.5, 253402300799])
def test_a_time_is_accepted(value: float) -> None:
    assert time_in({"exp": value}, "exp") == value
