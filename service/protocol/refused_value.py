"""Refused values, as the log and developers may see them: never a credential."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST = 200
HIDDEN = "(hidden)"

_USERINFO = re.compile(r"(?<=//)[^/?#]*@")
_START_OF_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?(?:(?:[a-z0-9-]+\.)*[a-z0-9-]+(?=[:/?#]|$))?", re.IGNORECASE
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_~+=-]{20,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """A parameter of a request, and the value that was refused."""

    parameter: str | None = None
    value: str | None = field(default=None, repr=False)
    client_id: str | None = None
    """The client whose registration does not allow the value."""

    @property
    def shown(self) -> str | None:
        """The value, shortened and without texts that look like a credential."""
        if self.value is None:
            return None
        text = hide_credentials(self.value)
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"


NO_VALUE = RefusedValue()
"""For an error that is not about the value of a parameter."""


def hide_credentials(text: str) -> str:
    """Replace what looks like a credential: userinfo of URLs, and long runs of random characters.

    The host of a URL is kept, because it is the part that operators need most.
    """
    text = _USERINFO.sub(f"{HIDDEN}@", text)
    url = _START_OF_URL.match(text)
    kept = url[0] if url else ""
    return kept + _LONG_RUN.sub(_hide, text[len(kept) :])


def _hide(run: re.Match[str]) -> str:
    text = run[0]
    is_words = not re.search(r"[0-9]", text) and (text.islower() or text.isupper())
    return text if is_words or _UUID.fullmatch(text) else HIDDEN
