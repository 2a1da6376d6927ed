"""Rules on the domain of passkeys: browsers refuse all others (WebAuthn §5.1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.rfc("webauthn#5.1.3")


def written(rp_id: str) -> str:
    return yaml.dump({"mfa": {"webauthn": {"rp_id": rp_id}}})


@pytest.mark.parametrize("rp_id", ["auth.example.com", "example.com"])
def test_issuers_host_and_its_own_parent_are_accepted(
    problems: Callable[..., Any], rp_id: str
) -> None:
    assert problems(written(rp_id)) == {}


@pytest.mark.parametrize(
    "rp_id", ["com", "other.example.com", "ample.com", "Example.com", "https://auth.example.com"]
)
def test_domain_that_browsers_refuse_is_an_error_with_a_remedy(
    problems: Callable[..., Any], rp_id: str
) -> None:
    (finding,) = problems(written(rp_id)).values()
    assert f"browsers do not accept {rp_id}" in str(finding)
    assert "a parent domain of it that is yours" in str(finding)
