"""Finds the folders of the templates, styles and translations."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
BUILT_IN = next(  # a wheel holds them in the package, a checkout beside it
    folder for folder in (PACKAGE / "templates", PACKAGE.parent / "templates") if folder.is_dir()
)


def folders_of(templates: Path | None) -> tuple[Path, ...]:
    """Return the operator's own folder, where there is one, before the built-in one."""
    return (BUILT_IN,) if templates is None else (templates, BUILT_IN)
