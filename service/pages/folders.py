"""Finds the folders of templates, styles and translations: the operator's own, and the built-in one."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
BUILT_IN = next(  # a wheel holds them in the package, a checkout beside it
    folder for folder in (PACKAGE / "templates", PACKAGE.parent / "templates") if folder.is_dir()
)


def folders_of(templates: Path | None) -> tuple[Path, ...]:
    """Return the folders of templates, styles and translations, the operator's own first."""
    return (BUILT_IN,) if templates is None else (templates, BUILT_IN)
