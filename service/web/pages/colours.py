"""Makes style sheets of the operator's colours, for light and for dark pages (WCAG 2.2 §1.4.3)."""

from __future__ import annotations

from collections.abc import Iterator

from coloraide import Color

from service.config.problem import Finding, warning
from service.config.schema.file import ConfigurationFile

READABLE = 4.5
"""The least contrast of text with its background."""
_DARK = 7
"""The contrast of text with the background of a dark page, which is darker than it would have to be."""
_DARK_CARD = "#161f1e"
_DARK_PAGE = "#0d1413"
_DARK_TEXT = "#05231f"
_TEXTS = ("#53635e", "#14211e", "#ffffff")
"""The colours that can be read on a light page's background: the usual colour, a darker one, white."""
_TEXT_ON_DARK = "#a4b4af"


def parse_colour(text: str) -> Color:
    """Read any notation of CSS; raise ValueError for anything but an opaque colour."""
    colour = Color(text).convert("srgb").fit()
    if colour.alpha() != 1:
        raise ValueError("the colour is not opaque")
    return colour


def colours_are_readable(file: ConfigurationFile) -> Iterator[Finding]:
    """Text in the accent colour, on it, and on the background can be read (WCAG 2.2 §1.4.3)."""
    for location, look in file.looks.items():
        for name in ("accent", "background"):
            if (text := getattr(look, name)) is not None:
                yield from [each.below(*location, name) for each in _judge_colour(name, text)]


def _judge_colour(name: str, text: str) -> Iterator[Finding]:
    try:
        colour = parse_colour(text)
    except ValueError:
        yield Finding((), "is not an opaque colour of CSS, such as #0c6b62 or rebeccapurple")
        return
    if name == "accent":
        contrast, of = contrast_of_accent(colour), "its contrast with light pages"
        hint = f"a darker colour reaches {READABLE}:1 (WCAG 2.2)"
    else:
        contrast, of = contrast_of_background(colour), "the contrast of text on it"
        hint = f"a lighter or a darker colour reaches {READABLE}:1 (WCAG 2.2)"
    if contrast < READABLE:
        yield warning((), f"is hard to read: {of} is {contrast:.1f}:1", hint)


def contrast_of_accent(accent: Color) -> float:
    """Return the contrast of text in this colour where it is worst: on its own tint."""
    return accent.contrast(_mix(accent, "white", 0.9))


def contrast_of_background(background: Color) -> float:
    """Return the contrast of the text at the foot of light pages with this background."""
    return background.contrast(_text_on(background))


def style_sheet_of_accent(accent: Color) -> str:
    """Return the custom properties of style.css that follow from the accent colour."""
    tint = _mix(Color(_DARK_CARD), accent, 0.2)
    bright = _adapt(accent, "white", to=tint, contrast=READABLE)
    light = _properties(accent, "black", tint=_mix(accent, "white", 0.9))
    dark = _properties(bright, "white", tint=tint)
    return _themes(light, dark)


def style_sheet_of_background(background: Color) -> str:
    """Return those that follow from the colour behind pages; dark pages have it darker."""
    text = Color(_text_on(background))
    text_on_dark = Color(_TEXT_ON_DARK)
    dark = _adapt(background, _DARK_PAGE, to=text_on_dark, contrast=_DARK)
    return _themes(_page_properties(background, text), _page_properties(dark, text_on_dark))


def _text_on(background: Color) -> str:
    readable = (each for each in _TEXTS if background.contrast(each) >= READABLE)
    return next(readable, None) or max(_TEXTS, key=background.contrast)


def _adapt(colour: Color, towards: str, *, to: Color, contrast: float) -> Color:
    """Return the nearest shade of a colour that has enough contrast with another one."""
    shades = (_mix(colour, towards, part / 20) for part in range(21))
    return next(shade for shade in shades if shade.contrast(to) >= contrast)


def _properties(accent: Color, towards: str, *, tint: Color) -> str:
    text = max("white", _DARK_TEXT, key=accent.contrast)
    hover = _mix(accent, towards, 0.2)
    values = {"accent": accent, "accent-hover": hover, "tint": tint, "glow": tint}
    return f"{_written(values)} --on-accent: {text};"


def _page_properties(background: Color, text: Color) -> str:
    return _written({"page": background, "glow": background, "on-page": text})


def _written(values: dict[str, Color]) -> str:
    return " ".join(f"--{name}: {each.to_string(hex=True)};" for name, each in values.items())


def _themes(light: str, dark: str) -> str:
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _mix(colour: Color, other: Color | str, part: float) -> Color:
    return colour.mix(other, part, space="srgb")
