"""Claims of users in config.yaml are issued with the types that clients rely on (OIDC Core §5.1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.start.load import inspect
from tests.claims.conftest import ALICE, IN_OTHER_LANGUAGES

pytestmark = pytest.mark.rfc("openid-core#5.1")


def warned_of(tmp_path: Path, claims: dict[str, object]) -> dict[str, str]:
    """Return the warnings by their claims."""
    user = {"sub": "1", "username": "alice", "claims": claims}
    file = tmp_path / "config.yaml"
    content = {"issuer": "https://auth.example.com", "users": {"list": [user]}}
    file.write_text(json.dumps(content), encoding="utf-8")
    problems = inspect(file, {})
    assert all(problem.severity == "warning" for problem in problems)
    return {problem.path.rpartition(".")[2]: problem.message for problem in problems}


def test_the_right_types_are_fine(tmp_path: Path) -> None:
    others = {"shoe_size": 38, "nickname": None, "updated_at": 1.5}
    assert warned_of(tmp_path, ALICE | IN_OTHER_LANGUAGES | others) == {}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", 5, "a string"),
        ("name#de", ["Alice"], "a string"),
        ("birthdate", 1990, "a string"),
        ("phone_number", 491234, "a string"),
        ("email_verified", "true", "true or false"),
        ("phone_number_verified", 1, "true or false"),
        ("updated_at", "2026-11-21", "a number of seconds"),
        ("updated_at", True, "a number of seconds"),
        ("address", "1 Main St", "an object whose members such as locality are strings"),
        (
            "address",
            {"locality": "Springfield", "postal_code": 62701},
            "an object whose members such as locality are strings",
        ),
    ],
)
def test_claim_of_another_type_is_a_warning(
    tmp_path: Path, name: str, value: object, expected: str
) -> None:
    assert list(warned_of(tmp_path, {name: value}).values()) == [f"expected {expected}"]
