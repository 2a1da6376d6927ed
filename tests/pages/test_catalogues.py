"""Pages: each language has every text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from scripts.texts import collect_texts, is_translated, messages_in, read_catalogue
from service.web.pages.locales import Locales
from service.web.pages.looks import BUILT_IN
from tests.pages.screens import LANGUAGES

CATALOGUES = sorted(BUILT_IN.glob("locales/*/LC_MESSAGES/messages.po"))
each_catalogue = pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parts[-3])


def test_every_catalogue_is_a_language() -> None:
    assert len(CATALOGUES) == len(LANGUAGES) - 1
    assert {"ar", "de", "en", "pt-BR", "zh-Hans"} < set(LANGUAGES)


@each_catalogue
def test_a_catalogue_has_every_text_of_the_templates_and_no_other(path: Path) -> None:
    catalogue = read_catalogue(path)
    translated = {
        message.id
        for message in messages_in(catalogue)
        if is_translated(message, catalogue.num_plurals) and not message.fuzzy
    }
    texts = {message.id for message in messages_in(collect_texts())}
    assert translated == texts, "run `make texts`"


@each_catalogue
def test_a_translation_keeps_the_placeholders_and_markup(path: Path) -> None:
    catalogue = read_catalogue(path)
    for message in messages_in(catalogue):
        assert not list(message.check(catalogue))
        for text in forms_of(message.string):
            assert kept_in(text) in map(kept_in, forms_of(message.id)), text


def forms_of(text: str | tuple[str, ...] | list[str] | None) -> Sequence[str]:
    return (text,) if isinstance(text, str) else text or ()


def kept_in(text: str) -> list[str]:
    return sorted(re.findall(r"%\(\w+\)s|</?\w+[^>]*>", text))


def test_a_number_has_the_plural_form_of_its_language(tmp_path: Path) -> None:
    catalogue = tmp_path / "locales/pl/LC_MESSAGES/messages.po"
    catalogue.parent.mkdir(parents=True)
    forms = "".join(f'msgstr[{at}] "{form}"\n' for at, form in enumerate(("kod", "kody", "kodów")))
    catalogue.write_text(f'msgid "code"\nmsgid_plural "codes"\n{forms}')
    polish = Locales.named([tmp_path], ["pl"], "pl").read_messages("pl")
    found = [polish.ngettext("code", "codes", n) for n in (1, 3, 5, 22, 25)]
    assert found == ["kod", "kody", "kodów", "kody", "kodów"]


def test_a_country_speaks_the_words_of_its_language() -> None:
    locales = Locales.named([BUILT_IN], ["en", "de-AT"], "en")
    assert locales.read_messages("de-AT").gettext("Sign in") == "Anmelden"
    assert locales.choose("de_AT", accept_language=None) == "de-AT"
