"""Texts that are shown, each in one language or in several."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

NO_LANGUAGE = ""
"""The key of a text without a language tag."""


class LocalText(msgspec.Struct, frozen=True):
    """One text by language tag in lower case (OpenID Connect Dynamic Client Registration §2.1), such as `{"en": "Orders", "de-at": "Bestellungen"}`."""

    by_language: Mapping[str, str]

    def __str__(self) -> str:
        return self.in_language(NO_LANGUAGE)

    def in_language(self, *tags: str) -> str:
        """Return the text in the first of these languages that exists, else the first text."""
        return self.by_language[self.find_language(*tags)]

    def find_language(self, *tags: str) -> str:
        """Return the tag, in lower case, of the text that is shown in these languages."""
        for tag in (*tags, NO_LANGUAGE):
            for wanted in (tag.lower(), tag.lower().partition("-")[0]):
                if wanted in self.by_language:
                    return wanted
        return next(iter(self.by_language))


def local_text(texts: Mapping[str, str]) -> LocalText:
    """Make a text of texts by tags in any spelling."""
    return LocalText({tag.lower().replace("_", "-"): text for tag, text in texts.items()})
