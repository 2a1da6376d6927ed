"""Stricter rules, for whoever wants to know whether a registry meets a profile."""

from __future__ import annotations

from collections.abc import Mapping

from service.config.rules import FileRule

PROFILES: Mapping[str, tuple[FileRule, ...]] = {"oauth21": (), "fapi2": ()}
