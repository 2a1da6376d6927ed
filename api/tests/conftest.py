"""The fixtures of these tests; fixtures.py has them, because mypy knows one module of the name of this file."""

from __future__ import annotations

from .fixtures import (
    _authorities_are_read_once,
    _issuer_is_the_one_of_the_api,
    api,
    dpop_key,
    local_issuer,
    make_api,
)

__all__ = [
    "_authorities_are_read_once",
    "_issuer_is_the_one_of_the_api",
    "api",
    "dpop_key",
    "local_issuer",
    "make_api",
]
