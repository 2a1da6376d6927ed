"""Pages: each language has every word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.checkers import checkers
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from service.pages.locales import Locales
from service.pages.templates import BUILT_IN
from tests.pages.screens import LANGUAGES, Browser

CATALOGUES = sorted(BUILT_IN.glob("locales/*/LC_MESSAGES/messages.po"))
each_catalogue = pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])


def test_every_language_but_the_source_has_a_catalogue() -> None:
    assert {path.parts[-3] for path in CATALOGUES} == set(LANGUAGES) - {"en"}


def words_of_the_templates() -> set[str]:
    found = extract_from_dir(BUILT_IN, [("**.html", "jinja2")])
    return {str(message) for _, _, message, _, _ in found}


def catalogue_at(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parts[-3])


@each_catalogue
def test_a_catalogue_has_every_word_of_the_templates_and_no_other(path: Path) -> None:
    translated = {
        str(message.id) for message in catalogue_at(path) if message.id and message.string
    }
    assert translated == words_of_the_templates(), "see templates/locales/babel.cfg"


@each_catalogue
def test_a_translation_keeps_the_placeholders_and_markup(path: Path) -> None:
    catalogue = catalogue_at(path)
    for message in catalogue:
        for check in checkers:
            check(catalogue, message)
        kept = r"%\(\w+\)s|</?\w+[^>]*>"
        if message.id:
            assert sorted(re.findall(kept, str(message.id))) == sorted(
                re.findall(kept, str(message.string))
            )


def test_a_country_speaks_the_words_of_its_language() -> None:
    locales = Locales.load([BUILT_IN], ["en", "de-AT"], "en")
    assert locales.translations["de-AT"].gettext("Sign in") == "Anmelden"
    assert locales.choose("de_AT", accept_language=None) == "de-AT"


def test_a_language_without_messages_stops_the_start() -> None:
    with pytest.raises(LookupError, match="ja"):
        Browser(locales=["ja"], default_locale="ja")
