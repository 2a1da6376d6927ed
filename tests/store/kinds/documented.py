"""Reads from docs/operations/redis.md the rights of the service's user in Redis."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/operations/redis.md"


def acl_rules(*more: str) -> list[str]:
    """The rules of the ACL line, without the user's name and password."""
    (rules,) = re.findall(r"^ +user token-service on >\S+ (.+)$", PAGE.read_text(), re.MULTILINE)
    return [*rules.split(), *more]
