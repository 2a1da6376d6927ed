"""Whatever an operator's template does, a page is what Jinja alone would make of it: its escaping is never lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import Markup

from service.web.pages.locales import Locales
from service.web.pages.templates import FILTERS, Templates

MACROS = """\
{% macro plain(a, b="<b>", c=none) %}{{ a }}|{{ b }}|{{ c }}{% endmacro %}
{% macro more(a) %}{{ a }}{{ varargs|join("&") }}{% for k in kwargs %}{{ k }}{{ kwargs[k] }}{% endfor %}{% endmacro %}
{% macro around(a) %}<p title="{{ a }}">{{ caller(a) }}</p>{% endmacro %}
{% macro known() %}<i>{{ plain("<u>", c="&") }}</i>{% endmacro %}
"""
BASE = "<title>{% block title %}{{ x }}{% endblock %}</title>{% block body %}<p>{{ y }}</p>{% endblock %}"
PIECES = (
    "{{ x }}",
    "<a href='{{ x }}' title={{ y }}>",
    "{{ x ~ y }}{{ '<b>' ~ x }}{{ x ~ '<b>'|safe }}{{ '<b>'|safe ~ '&' }}",
    "{{ x|safe }}{{ x|e }}{{ x|escape|e }}{{ x|forceescape }}{{ x|striptags }}",
    "{{ x|upper }}{{ x|replace('a', '<') }}{{ x|default('<') }}{{ z|default('<') }}{{ x|urlencode }}",
    "{{ [x, y, '<i>'|safe]|join('<br>') }}{{ [x, y]|join('<br>'|safe) }}{{ [x, y] }}{{ {'<': x} }}",
    "{{ '%s<b>%s'|format(x, y) }}{{ ('%s<b>'|safe)|format(x) }}{{ x|length }}{{ x|first }}",
    "{{ (x|safe) + y }}{{ '<b>'|safe + x }}{{ x|string }}{{ x|list }}{{ x == y }}{{ x if y else '<' }}",
    "{{ n }}{{ n + 1 }}{{ none }}{{ true }}{{ z }}{{ 1.5 }}{{ html }}{{ html ~ x }}{{ html|e }}{{ html|striptags }}",
    "{% set s %}<b>{{ x }}{% endset %}{{ s }}{{ s ~ x }}{% set t = x %}{{ t }}",
    "{% for one in [x, y, html] %}{{ loop.index }}{{ one }}{% else %}<{% endfor %}",
    "{% filter upper %}<b>{{ x }}{% endfilter %}{% filter escape %}<b>{{ x }}{% endfilter %}",
    "{% autoescape false %}{{ x }}{{ m.plain(x) }}{{ x ~ html }}{% endautoescape %}{{ x }}",
    "{% autoescape escapes %}{{ x }}{{ m.plain(x, y) }}{% endautoescape %}{{ x }}",
    "{{ m.plain(x) }}{{ m.plain(x, y) }}{{ m.plain(x, c=y) }}{{ m.plain(c=x, a=y) }}{{ m.plain() }}{{ m.plain(x)|e }}",
    "{{ m.more(x) }}{{ m.more(x, y, '<') }}{{ m.more(x, d=y) }}{{ m.more(x, y, d=html) }}",
    "{% call(inner) m.around(x) %}<b>{{ inner }}{{ y }}{% endcall %}",
    "{{ m.known() }}{{ m.plain('<', '&'|safe) }}{{ m.plain('<') ~ x }}{{ m.plain(html) }}",
    "{% macro own(a, b=x) %}<em>{{ a }}{{ b }}</em>{% endmacro %}{{ own(y) }}{{ own(y, '<') }}{{ own(own(x)) }}",
    "{% with x = '<q>' %}{{ x }}{{ m.plain(x) }}{% endwith %}{{ x }}{% include 'part.html' %}",
    "{% include 'part.html' without context %}{% from 'macros.html' import plain as p with context %}{{ p(x) }}",
    "{{ d.a }}{{ d['a'] }}{{ d.nothing }}{{ d.items()|list }}{{ x[:2] }}{{ html.upper() }}{{ html.join([x, y]) }}",
    "{{ _('Sign in <b>') }}{{ _('%(x)s is <b>', x=x) }}{{ url(x) }}{{ url('/<') }}",
    "{{ x|wordwrap(3) }}{{ x|indent }}{{ html|indent }}{{ x|truncate(4, leeway=0) }}{{ x|trim }}{{ x|center(9) }}{{ x|xmlattr if x is mapping }}",
    "{{ {'title': x, 'class': html}|xmlattr }}{{ x|replace('&'|safe, y) }}{{ html|replace('b', x) }}{{ x|title }}",
)  # fmt: skip
NAMES: dict[str, Any] = {
    "_": lambda text, **values: Markup(text) % values if values else Markup(text),  # noqa: S704
    "url": lambda path: f"/auth{path}",
    "has_asset": lambda _: True,
}
TEXTS = st.text(alphabet=st.sampled_from("<>&\"'a{%}é \n\0"), max_size=6)
VALUES = st.one_of(TEXTS, TEXTS.map(Markup))


@pytest.fixture(scope="module")
def environments() -> tuple[jinja2.Environment, jinja2.Environment]:
    """Ours in a language, and Jinja's own."""
    pages = {"macros.html": MACROS, "base.html": BASE, "part.html": "<s>{{ x }}{{ y }}</s>"}
    for number, piece in enumerate(PIECES):
        with_macros = "{% import 'macros.html' as m %}" + piece
        pages[f"{number}.html"] = with_macros
        pages[f"{number}-block.html"] = (
            "{% extends 'base.html' %}{% import 'macros.html' as m %}"
            "{% block title %}{{ super() }}<{{ x }}{% endblock %}"
            "{% block body %}" + with_macros + "{{ self.title() }}{% endblock %}"
        )
    options: dict[str, Any] = {
        "autoescape": True,
        "loader": jinja2.DictLoader(pages),
        "trim_blocks": True,
        "lstrip_blocks": True,
    }
    ours, jinjas = Templates(**options), jinja2.Environment(**options)  # noqa: S701 - it is on
    language = Locales.named([Path("templates")], ["en"], "en").load("en", "Title")
    for one in (ours, jinjas):
        made: Any = one
        made.globals.update(NAMES)
        made.filters.update(dict.fromkeys(FILTERS, str))
    in_language = ours.in_language(language)
    in_language.globals.update(NAMES)
    return in_language, jinjas


@pytest.mark.parametrize("number", range(len(PIECES)), ids=lambda number: PIECES[number][:40])
@settings(max_examples=20)
@given(x=VALUES, y=VALUES, html=TEXTS.map(Markup), n=st.integers(), escapes=st.booleans())
def test_a_page_is_what_jinja_makes_of_it(
    environments: tuple[jinja2.Environment, jinja2.Environment],
    number: int,
    **values: Any,
) -> None:
    context = {**values, "d": {"a": values["x"], "items": "<"}}
    for name in (f"{number}.html", f"{number}-block.html"):
        ours, jinjas = [_render(one, name, context) for one in environments]
        assert ours == jinjas


def _render(environment: jinja2.Environment, name: str, context: dict[str, Any]) -> str:
    """Return the page, or the kind of error."""
    try:
        return environment.get_template(name).render(context)
    except (jinja2.TemplateError, TypeError, ValueError, IndexError) as error:
        return type(error).__name__
