"""Finds the operator's own classes: by import path, or by the name of an installed entry point."""

from __future__ import annotations

from importlib.metadata import entry_points
from pkgutil import resolve_name

ENTRY_POINTS = "token_service.grants"
"""The group in which a package offers extension grants."""


class PluginError(Exception):
    """What the name stands for cannot be loaded."""


def load_plugin(name: str) -> object:
    """What `my_package.module:MyClass`, or an entry point's name, stands for."""
    try:
        if ":" in name:
            return resolve_name(name)
        return _entry_point(name)
    except PluginError:
        raise
    except (Exception, SystemExit) as error:  # the import runs code of others
        raise PluginError(f"cannot be imported: {type(error).__name__}: {error}") from error


def _entry_point(name: str) -> object:
    for entry_point in entry_points(group=ENTRY_POINTS, name=name):
        return entry_point.load()
    raise PluginError(f"no installed package offers {name} in the entry point group {ENTRY_POINTS}")
