"""Reads the messages of each language, and chooses the language of a page. Pages import it, and Babel, when the first is shown."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

import msgspec
from babel import Locale, UnknownLocaleError, dates, negotiate_locale
from babel.core import get_global, parse_locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from markupsafe import Markup

from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.model.local_text import LocalText
from service.protocol.http_headers import read_qualities
from service.web.pages.html import as_html, escape
from service.web.pages.looks import folders_of

SOURCE_LANGUAGE = "en"
CLOCKS_DIFFER = 10
"""Seconds for which a time is not yet ahead: another replica's clock may have written it."""
MOST_PREFERENCES = 10
MAX_ACCEPT_LANGUAGE_LENGTH = 1000
CATALOGUE = "locales/{}/LC_MESSAGES/messages.po"
_VALUE_IN_TEXT = re.compile(r'(?<!=")%\(\w+\)s')
"""The place of a value, but none in an attribute."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """The names and filters of templates that depend on the language of a page."""

    tag: str
    locale: Locale
    default: str
    """The language of texts that this one lacks."""
    names: Mapping[str, object]
    """The values that every template gets."""

    def local(self, text: str | LocalText | None) -> str:
        """Return a text of the configuration, in the default language if it lacks this one."""
        return (
            text.in_language(self.tag, self.default) if isinstance(text, LocalText) else text or ""
        )

    def ago(self, seconds: int) -> str:
        """Return how long ago a time is, or how far ahead; never «in 0 seconds»."""
        away = seconds - time.time()
        since = timedelta(seconds=away if away > CLOCKS_DIFFER else min(away, -1))
        return dates.format_timedelta(since, add_direction=True, locale=self.locale)

    def date(self, seconds: int) -> str:
        day = datetime.fromtimestamp(seconds, UTC)
        return dates.format_date(day, format="long", locale=self.locale)

    def date_time(self, seconds: int) -> str:
        return f"{dates.format_datetime(seconds, format='medium', locale=self.locale)} UTC"

    def span(self, seconds: int) -> str:
        return dates.format_timedelta(timedelta(seconds=seconds), threshold=2, locale=self.locale)

    def iso(self, seconds: int) -> str:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Locales(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The configured languages."""

    folders: Sequence[Path]
    tags: tuple[str, ...]
    default: str

    @classmethod
    def named(cls, folders: Sequence[Path], names: Iterable[str], default: str) -> Locales:
        """Take the languages as they are named in the configuration, such as pt_BR or pt-BR."""
        return cls(folders=folders, tags=tuple(map(_tag, names)), default=_tag(default))

    def load(self, tag: str, title: str | LocalText) -> Language:
        """Read a language; a title is translated where it is a text of the catalogue, as the default one is."""
        messages, locale = self.read_messages(tag), Locale.parse(tag, sep="-")
        language_of_title = None
        if isinstance(title, LocalText):
            found = title.find_language(tag, self.default)
            if found.partition("-")[0] != tag.partition("-")[0]:
                language_of_title = found or None
            title = title.in_language(tag, self.default)
        else:
            title = messages.gettext(title)
        names: Mapping[str, object] = {
            "title": title,
            # For screen readers, where the title has no text in this language (WCAG 2.2 §3.1.2).
            "title_lang": language_of_title,
            "lang": tag,
            "languages": {each: own_name(each) for each in self.tags},
            "text_direction": locale.text_direction,
            **messages_of(messages, text_direction=locale.text_direction),
        }
        return Language(tag=tag, locale=locale, default=self.default, names=names)

    def read_messages(self, tag: str) -> NullTranslations:
        """Read the messages of a language, those of an earlier folder before those of a later one."""
        messages = NullTranslations()
        for source in reversed(list(_sources(self.folders, tag))):
            catalogue = _compile(source)
            catalogue.add_fallback(messages)
            messages = catalogue
        return messages

    def choose(self, *tags: str, accept_language: str | None) -> str:
        """Return the first of these languages that is on offer, else the first that the browser prefers (RFC 9110 §12.5.4)."""
        known, scripts = self._by_name, self._by_script
        sent = (accept_language or "")[:MAX_ACCEPT_LANGUAGE_LENGTH]
        for preferred in (tags, _parse_accept_language(sent)):
            for name in map(_tag, preferred[:MOST_PREFERENCES]):
                if chosen := negotiate_locale([name.lower()], known, sep="-"):
                    return known[chosen.lower()]
                if (script := _script_of(name)) in scripts:
                    return scripts[script]
        return self.default

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        return {tag.lower(): tag for tag in self.tags}

    @cached_property
    def _by_script(self) -> Mapping[tuple[str, str] | None, str]:
        return {_script_of(tag): tag for tag in reversed(self.tags)}


def has_messages(folders: Iterable[Path], name: str) -> bool:
    """Whether the language exists, and has messages."""
    tag = _tag(name)
    try:
        Locale.parse(tag, sep="-")
    except (UnknownLocaleError, ValueError):
        return False
    return tag.partition("-")[0] == SOURCE_LANGUAGE or any(_sources(folders, tag))


def known_languages(folders: Iterable[Path]) -> list[str]:
    """Return every language that has messages."""
    found = (path.parts[-3] for folder in folders for path in folder.glob(CATALOGUE.format("*")))
    return sorted({SOURCE_LANGUAGE, *map(_tag, found)})


def why_not_read(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield the file and the reason for each broken catalogue of these languages in a folder."""
    known = [name for name in names if has_messages([folder], name)]
    for source in sorted({each for name in known for each in _sources([folder], _tag(name))}):
        try:
            _compile(source)
        except (OSError, LookupError, ValueError) as error:
            yield f"{source}: {error}"


def languages_have_messages(file: ConfigurationFile) -> Iterator[Finding]:
    """A page in a language has words to show, the default one, too; those of the templates themselves are English."""
    folders, default = folders_of(file.ui.templates), file.ui.default_locale
    unknown = {
        at: name for at, name in enumerate(file.ui.locales) if not has_messages(folders, name)
    }
    for at, name in unknown.items():
        known = ", ".join(known_languages(folders))
        hint = f"known: {known}; a catalogue in ui.templates adds one"
        yield Finding(("ui", "locales", at), f"there are no messages for {name}", hint)
    if not unknown and default not in file.ui.locales:  # it may be meant by the unknown one
        message = f"is {default}, which ui.locales does not list"
        yield Finding(("ui", "default_locale"), message, f"set {file.ui.locales[0]}")


def own_messages_can_be_read(file: ConfigurationFile) -> Iterator[Finding]:
    """Catalogues in the operator's folder can be read."""
    for reason in why_not_read(file.ui.templates, file.ui.locales) if file.ui.templates else ():
        yield Finding(("ui", "templates"), reason)


def messages_of(
    translations: NullTranslations, *, text_direction: str
) -> dict[str, Callable[..., Markup]]:
    """Return the functions that templates call for messages; values in them are escaped.

    In text from right to left each value is isolated, so that a name, host or IP address keeps its
    own direction (UAX #9 §2.4).
    """

    def with_values(message: str, values: Mapping[str, object]) -> Markup:
        if text_direction == "rtl":
            message = _VALUE_IN_TEXT.sub(
                "\N{FIRST STRONG ISOLATE}\\g<0>\N{POP DIRECTIONAL ISOLATE}", message
            )
        if "%" in message:
            message %= {
                name: value if isinstance(value, int) else escape(value)
                for name, value in values.items()
            }
        return as_html(message)  # catalogues are ours

    def gettext(message: str, /, **values: object) -> Markup:
        return with_values(translations.gettext(message), values)

    def ngettext(singular: str, plural: str, n: int, /, **values: object) -> Markup:
        return with_values(translations.ngettext(singular, plural, n), {"n": n, **values})

    return {"_": gettext, "gettext": gettext, "ngettext": ngettext}


def own_name(tag: str) -> str:
    """Return the language's own name, such as Deutsch."""
    name = Locale.parse(tag, sep="-").get_display_name() or tag
    return name[:1].upper() + name[1:]


def _tag(name: str) -> str:
    return name.replace("_", "-")


@lru_cache(maxsize=256)
def _script_of(tag: str) -> tuple[str, str] | None:
    """Return a language and its script, which who reads zh-CN also reads in zh-Hans, but not in zh-TW (CLDR)."""
    try:
        language, country, script, *_ = parse_locale(tag, sep="-")
    except ValueError:
        return None
    if script is None:
        likely: Mapping[str, str] = get_global("likely_subtags")
        full = likely.get(f"{language}_{country}") or likely.get(language) or ""
        script = full.partition("_")[2].partition("_")[0]
    return language, script


@lru_cache(maxsize=256)
def _parse_accept_language(header: str) -> tuple[str, ...]:
    qualities = read_qualities(header)
    by_preference = sorted(qualities, key=qualities.__getitem__, reverse=True)
    return tuple([name for name in by_preference if name and qualities[name] > 0])


def _sources(folders: Iterable[Path], tag: str) -> Iterator[Path]:
    """Yield the catalogues of a language, those of its country before those of all its countries."""
    while tag:
        for folder in folders:
            source = folder / CATALOGUE.format(tag.replace("-", "_"))
            try:
                exists = source.is_file()
            except OSError:  # it cannot be told; `why_not_read` says why
                exists = True
            if exists:
                yield source
        tag = tag.rpartition("-")[0]


def _compile(source: Path) -> GNUTranslations:
    compiled = BytesIO()
    with source.open("rb") as file:
        write_mo(compiled, read_po(file, locale=source.parts[-3]))
    compiled.seek(0)
    return GNUTranslations(compiled)
