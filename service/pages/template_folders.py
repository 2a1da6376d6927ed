"""In which folders is what a person sees?"""

from __future__ import annotations

from pathlib import Path

BUILT_IN = Path(__file__).parents[2] / "templates"


def folders_of(templates: Path | None) -> tuple[Path, ...]:
    """The operator's own folder, where there is one, before ours."""
    return (BUILT_IN,) if templates is None else (templates, BUILT_IN)
