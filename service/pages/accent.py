"""Makes a style sheet of the operator's accent colour, for light and for dark pages (WCAG 2.2 §1.4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from coloraide import Color

READABLE = 4.5
"""The least contrast of text with its background."""
_DARK_CARD = "#161f1e"
_DARK_TEXT = "#05231f"


@dataclass(frozen=True, slots=True)
class Accent:
    """An opaque colour that buttons, links and marks have on light pages."""

    colour: Color

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read any notation of CSS; raise ValueError if it is no colour, or a translucent one."""
        colour = Color(text).convert("srgb").fit()
        if colour.alpha() != 1:
            raise ValueError("the colour is not opaque")
        return cls(colour)

    @property
    def contrast(self) -> float:
        """The contrast of text in this colour where it is worst: on its own tint."""
        return self.colour.contrast(_mix(self.colour, "white", 0.9))

    def style_sheet(self) -> str:
        """Return the custom properties of style.css that follow from the colour."""
        tint = _mix(Color(_DARK_CARD), self.colour, 0.2)
        shades = (_mix(self.colour, "white", part / 20) for part in range(20))
        bright = next(shade for shade in shades if shade.contrast(tint) >= READABLE)
        light = _properties(self.colour, "black", tint=_mix(self.colour, "white", 0.9))
        dark = _properties(bright, "white", tint=tint)
        return (
            f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
        )


def _properties(accent: Color, towards: str, *, tint: Color) -> str:
    text = max("white", _DARK_TEXT, key=accent.contrast)
    hover = _mix(accent, towards, 0.2)
    values = {"accent": accent, "accent-hover": hover, "tint": tint, "glow": tint}
    written = [f"--{name}: {colour.to_string(hex=True)};" for name, colour in values.items()]
    return " ".join([*written, f"--on-accent: {text};"])


def _mix(colour: Color, other: Color | str, part: float) -> Color:
    return colour.mix(other, part, space="srgb")
