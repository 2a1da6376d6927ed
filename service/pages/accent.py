"""Makes a style sheet of the operator's accent colour, for light and for dark pages (WCAG 2.2 §1.4.3)."""

from __future__ import annotations

from coloraide import Color

READABLE = 4.5
"""The least contrast of text with its background."""
_DARK_CARD = "#161f1e"
_DARK_TEXT = "#05231f"


def parse_accent(text: str) -> Color:
    """Read any notation of CSS; raise ValueError for anything but an opaque colour."""
    colour = Color(text).convert("srgb").fit()
    if colour.alpha() != 1:
        raise ValueError("the colour is not opaque")
    return colour


def contrast_of(accent: Color) -> float:
    """Return the contrast of text in this colour where it is worst: on its own tint."""
    return accent.contrast(_mix(accent, "white", 0.9))


def style_sheet_of(accent: Color) -> str:
    """Return the custom properties of style.css that follow from the colour."""
    tint = _mix(Color(_DARK_CARD), accent, 0.2)
    shades = (_mix(accent, "white", part / 20) for part in range(20))
    bright = next(shade for shade in shades if shade.contrast(tint) >= READABLE)
    light = _properties(accent, "black", tint=_mix(accent, "white", 0.9))
    dark = _properties(bright, "white", tint=tint)
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _properties(accent: Color, towards: str, *, tint: Color) -> str:
    text = max("white", _DARK_TEXT, key=accent.contrast)
    hover = _mix(accent, towards, 0.2)
    values = {"accent": accent, "accent-hover": hover, "tint": tint, "glow": tint}
    written = [f"--{name}: {colour.to_string(hex=True)};" for name, colour in values.items()]
    return " ".join([*written, f"--on-accent: {text};"])


def _mix(colour: Color, other: Color | str, part: float) -> Color:
    return colour.mix(other, part, space="srgb")
