"""Rules on the domain of passkeys: browsers refuse all others (WebAuthn §5.1.3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.start.load import inspect

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


PUBLIC = {
    "a top-level domain": ("https://auth.example.com", "com"),
    "one of two labels": ("https://auth.example.co.uk", "co.uk"),
    "one of a hosting company": ("https://team.github.io", "github.io"),
    "one by a wildcard": ("https://auth.shop.example.ck", "example.ck"),
    "a top-level domain that is not listed": ("https://auth.corp.internal", "internal"),
    "the name of a company's network": ("https://auth.corp", "corp"),
    "one in another script": ("https://auth.xn--55qx5d.cn", "xn--55qx5d.cn"),
}


def refusals(file: Path, issuer: str, rp_id: str) -> list[str]:
    """Return the problems of the domain of this issuer's passkeys."""
    file.write_text(yaml.dump({"issuer": issuer, "mfa": {"webauthn": {"rp_id": rp_id}}}))
    found = inspect(file, {})
    return [problem.message for problem in found if problem.path == "mfa.webauthn.rp_id"]


@pytest.mark.parametrize(("issuer", "rp_id"), PUBLIC.values(), ids=PUBLIC)
def test_public_suffix_is_not_a_domain_of_one_owner(file: Path, issuer: str, rp_id: str) -> None:
    (message,) = refusals(file, issuer, rp_id)
    assert message.startswith(f"browsers do not accept {rp_id} ")


OWN = {
    "below an unlisted top-level domain": ("https://auth.corp.internal", "corp.internal"),
    "the host alone": ("https://intranet", "intranet"),
    "below a public suffix": ("https://auth.example.co.uk", "example.co.uk"),
    "in another script": ("https://auth.example.xn--55qx5d.cn", "example.xn--55qx5d.cn"),
    "of this machine": ("http://auth.localhost:8080", "localhost"),
}


@pytest.mark.parametrize(("issuer", "rp_id"), OWN.values(), ids=OWN)
def test_domain_of_ones_own_is_accepted(file: Path, issuer: str, rp_id: str) -> None:
    assert refusals(file, issuer, rp_id) == []
