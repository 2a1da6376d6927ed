"""A bar chart of ratios as SVG, to be looked at in a browser or a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

LABEL, LENGTH, LINE = 290, 420, 26
MET, MISSED = "#2f6f8f", "#b5482f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A ratio and where it should reach."""

    label: str
    ratio: float
    at_least: float


def chart(title: str, bars: Sequence[Bar]) -> str:
    """One bar below the other, each with a mark at its goal."""
    scale = LENGTH / max([1.0, *(max(bar.ratio, bar.at_least) for bar in bars)])
    height = LINE * (len(bars) + 2)
    lines = [_bar(bar, LINE * (number + 1.5), scale) for number, bar in enumerate(bars)]
    size = f'viewBox="0 0 {LABEL + LENGTH + 60} {height}"'
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">'
    )
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    heading = f'<text x="12" y="{LINE * 0.9}" font-weight="bold">{escape(title)}</text>'
    return "\n".join([opening, background, heading, *lines, "</svg>\n"])


def _bar(bar: Bar, top: float, scale: float) -> str:
    goal = LABEL + bar.at_least * scale
    fill = MET if bar.ratio >= bar.at_least else MISSED
    return (
        f'<text x="{LABEL - 8}" y="{top + 13}" text-anchor="end">{escape(bar.label)}</text>'
        f'<rect x="{LABEL}" y="{top}" width="{bar.ratio * scale:.1f}" height="18" fill="{fill}"/>'
        f'<path d="M{goal:.1f} {top - 3}v24" stroke="#222" stroke-width="2"/>'
        f'<text x="{LABEL + bar.ratio * scale + 6:.1f}" y="{top + 13}">{bar.ratio:.2f}</text>'
    )
