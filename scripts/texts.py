"""Keeps the catalogues of all languages complete: `make texts`.

It collects the texts of the templates into every catalogue and writes those that lack a translation to build/texts.yaml.
Fill that file in and run it again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from service.web.pages.looks import BUILT_IN

ASKED = Path("build/texts.yaml")
Translation = str | list[str] | None


def main() -> None:
    """Take the translations that were filled in, and ask for those that are missing."""
    given: Mapping[str, Mapping[str, Translation]] = (
        yaml.safe_load(ASKED.read_text()) if ASKED.exists() else None
    ) or {}
    template = collect_texts()
    missing: dict[str, dict[str, Translation]] = {}
    for path in sorted(BUILT_IN.glob("locales/*/LC_MESSAGES/messages.po")):
        language = path.parts[-3]
        catalogue = read_catalogue(path)
        catalogue.update(template, no_fuzzy_matching=True)
        for message in messages_in(catalogue):
            singular = message.id if isinstance(message.id, str) else message.id[0]
            if text := given.get(singular, {}).get(language):
                message.string = text if isinstance(text, str) else tuple(text)
            if not is_translated(message, catalogue.num_plurals):
                forms = [""] * catalogue.num_plurals if message.pluralizable else ""
                missing.setdefault(singular, {})[language] = forms
        with path.open("wb") as file:
            write_po(
                file, catalogue, width=110, omit_header=True, sort_output=True, ignore_obsolete=True
            )
    ASKED.unlink(missing_ok=True)
    if missing:
        ASKED.parent.mkdir(exist_ok=True)
        ASKED.write_text(yaml.safe_dump(missing, allow_unicode=True, width=1000))
        sys.exit(f"{len(missing)} texts lack translations: fill in {ASKED} and run this again")


def collect_texts() -> Catalog:
    """Return a catalogue of the texts in the built-in templates, without translations."""
    catalogue = Catalog()
    for _, _, message, _, _ in extract_from_dir(BUILT_IN, [("**.html", "jinja2")]):
        catalogue.add(message)
    return catalogue


def read_catalogue(path: Path) -> Catalog:
    """Return the catalogue in a file; the language in its path decides how many plural forms a text has."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


def messages_in(catalogue: Catalog) -> Iterator[Message]:
    """Yield the messages without the header."""
    return (message for message in catalogue if message.id)


def is_translated(message: Message, forms: int) -> bool:
    """Return whether the text has a translation, one that counts in all of the language's plural forms."""
    strings = message.string if message.pluralizable else (message.string,)
    return (
        isinstance(strings, tuple)
        and all(strings)
        and len(strings) == (forms if message.pluralizable else 1)
    )


if __name__ == "__main__":
    main()
