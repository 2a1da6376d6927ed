"""One figure that was measured, and the bar it has to meet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One measured figure."""

    what: str
    figure: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the figure is on the right side of its bar, if it has one."""
        above = self.at_least is None or self.figure >= self.at_least
        return above and (self.at_most is None or self.figure <= self.at_most)

    def __str__(self) -> str:
        bar = ""
        if self.at_most is not None:
            bar = f"  at most {self.at_most:g}"
        if self.at_least is not None:
            bar = f"  at least {self.at_least:g}"
        return f"{self.what:76} {self.figure:10.2f} {self.unit:12}{bar}{'' if self.met else '  !'}"
