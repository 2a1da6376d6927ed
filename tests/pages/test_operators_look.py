"""Pages: the operator's folder stands before ours, and static files are cached by their content."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coloraide import Color

from service.config.problem import CannotServe
from service.start.checks import START_RULES
from service.start.load import inspect
from service.web.pages.colours import (
    READABLE,
    parse_colour,
    style_sheet_of_accent,
    style_sheet_of_background,
)
from service.web.pages.looks import style_sheet
from tests.pages.screens import SCREENS, Browser, Elements, policy_of


@pytest.fixture
def problems(tmp_path: Path) -> Callable[..., Any]:
    """Return the findings of `check` in a configuration that ends so, by path."""

    def problems(text: str) -> dict[str, Any]:
        file = tmp_path / "config.yaml"
        file.write_text(f"issuer: https://op.example\n{text}\n")
        return {problem.path: problem for problem in inspect(file, {}, START_RULES)}

    return problems


async def test_a_static_file_is_cached_for_ever_under_its_hash(
    browser: Browser, aiohttp_client: Callable[..., Any]
) -> None:
    client = await aiohttp_client(browser.app)
    answer = await client.get(browser.pages.url("/static/style.css").removeprefix("/auth"))
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.content_type == "text/css"


async def test_another_replicas_hash_gets_the_present_file_uncached(
    aiohttp_client: Callable[..., Any],
) -> None:
    client = await aiohttp_client(Browser().app)
    answer = await client.get("/static/style.0123456789ab.css")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize("name", ["nothing.css", "..%2fbase.html", "../base.html", "%00"])
async def test_only_static_files_are_served(aiohttp_client: Callable[..., Any], name: str) -> None:
    client = await aiohttp_client(Browser().app)
    assert (await client.get(f"/static/{name}")).status == 404


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_an_operators_template_extends_ours(tmp_path: Path) -> None:
    write(
        tmp_path,
        "login.html",
        '{% extends "builtin/login.html" %}{% block foot %}<p id="help">Help</p>{% endblock %}',
    )
    ids = Elements(Browser(tmp_path).sees("login.html")).ids()
    assert {"help", "username"} <= set(ids)


OWN_MACROS = """
{% macro badge(text, kind="plain") %}<i class="{{ kind }}">{{ text }}{{ varargs | join }}</i>{% endmacro %}
"""


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ('{{ own.badge("A") }}', '<i class="plain">A</i>'),
        (
            '{% set words = {"kind": "loud"} %}{{ own.badge("A", **words) }}',
            '<i class="loud">A</i>',
        ),
        ('{% set more = ["B"] %}{{ own.badge("A", "k", *more) }}', '<i class="k">AB</i>'),
        ('{{ _("Hello %(name)s", **{"name": "<B>"}) }}', "Hello &lt;B&gt;"),
        ('{% macro url(path) %}mine{{ path }}{% endmacro %}{{ url("/a") }}', "mine/a"),
        ("{{ own.badge(kind='k', text='<') }}", '<i class="k">&lt;</i>'),
        ('{{ {"b": _("B"), "a": "<"} | tojson }}', '{"a":"\\u003c","b":"B"}'),
        ('{{ own.badge("A") ~ "<" ~ _("B") }}', '<i class="plain">A</i>&lt;B'),
        ('{% macro twice(own) %}{{ own.upper() }}{% endmacro %}{{ twice("a") }}', "A"),
        ('{% if error == "nothing" %}{{ own.absent("A") }}{% endif %}', ""),
        ('{% if error == "nothing" %}{{ own.badge() }}{{ own.badge(colour="A") }}{% endif %}', ""),
        ('{% if error == "nothing" %}{{ _("Hello %(name)s") }}{% endif %}', ""),
    ],
)
def test_an_operators_macros_get_what_the_template_gives_them(
    tmp_path: Path, template: str, shown: str
) -> None:
    write(tmp_path, "own.html", OWN_MACROS)
    write(tmp_path, "error.html", '{% import "own.html" as own %}' + template)
    assert (Browser(tmp_path).sees("error.html").text or "").strip() == shown


OF_0_2_0 = (
    "mark()",
    "script()",
    'logo("https://rp.example/logo.svg", "RP")',
    'hidden("token", "")',
    'alert("error", "No")',
    'stranger("rp.example", id="stranger")',
    'check("scope", "Read", true)',
    'external("https://rp.example", "RP")',
    'claim_name("email")',
)
"""Calls of the macros that templates could use in 0.2.0, whose operators have templates of their own."""


@pytest.mark.parametrize("call", OF_0_2_0)
def test_an_operators_template_of_an_earlier_release_finds_its_macros(
    tmp_path: Path, call: str
) -> None:
    own = '{% import "components.html" as ui %}<main>{{ ui.CALLED }}</main>'
    write(tmp_path, "error.html", own.replace("CALLED", call))
    shown = (Browser(tmp_path).sees("error.html").text or "").strip()
    assert shown != "<main></main>"
    assert "{{" not in shown


def test_an_operators_style_sheet_comes_after_ours(tmp_path: Path) -> None:
    write(tmp_path, "static/custom.css", ":root { --accent: rebeccapurple }")
    links = Elements(Browser(tmp_path).sees("error.html")).every("link", rel="stylesheet")
    assert [link["href"].split(".")[0] for link in links] == [
        "/auth/static/style",
        "/auth/static/custom",
    ]


def test_an_operators_file_replaces_ours(tmp_path: Path, browser: Browser) -> None:
    write(tmp_path, "static/style.css", "")
    path = "/static/style.css"
    assert Browser(tmp_path).pages.url(path) != browser.pages.url(path)


def test_an_operators_words_replace_ours(tmp_path: Path) -> None:
    write(
        tmp_path,
        "locales/de/LC_MESSAGES/messages.po",
        'msgid "Sign in"\nmsgstr "Hereinspaziert"\n',
    )
    text = Browser(tmp_path).sees("login.html", accept="de").text or ""
    assert "Hereinspaziert" in text
    assert "Benutzername" in text


def test_an_operators_template_that_does_not_compile_stops_the_start(tmp_path: Path) -> None:
    write(tmp_path, "login.html", "{% if %}")
    with pytest.raises(CannotServe):
        Browser(tmp_path)


def test_operators_template_cannot_reach_the_application(tmp_path: Path) -> None:
    write(tmp_path, "login.html", "{{ app }}{{ static }}{{ request }}")
    assert Browser(tmp_path).sees("login.html").text == ""


def test_operators_macro_and_constants_are_in_the_language_of_each_page(tmp_path: Path) -> None:
    write(
        tmp_path,
        "own.html",
        '{% macro own() %}{{ lang }} {{ _("Cancel") }} {{ 60 | span }}{% endmacro %}',
    )
    write(tmp_path, "login.html", '{% import "own.html" as own %}{{ own.own() }}')
    browser = Browser(tmp_path)
    found = [browser.sees("login.html", accept=tag).text for tag in ("en", "de", "en")]
    assert found == ["en Cancel 60 seconds", "de Abbrechen 60 Sekunden", "en Cancel 60 seconds"]


def test_operators_macro_that_reads_the_page_sees_each_page(tmp_path: Path) -> None:
    write(tmp_path, "own.html", "{% macro alert(id, text) %}{{ error }}{% endmacro %}")
    write(
        tmp_path, "login.html", '{% import "own.html" as ui with context %}{{ ui.alert("", "") }}'
    )
    browser = Browser(tmp_path)
    found = [browser.sees("login.html", error=error).text for error in ("one", "other")]
    assert found == ["one", "other"]


def test_operators_macro_gets_the_body_of_its_call(tmp_path: Path) -> None:
    write(tmp_path, "own.html", "{% macro box(of) %}{{ of }}: {{ caller() }}{% endmacro %}")
    imported = '{% import "own.html" as own %}'
    write(tmp_path, "login.html", imported + '{% call own.box("a") %}{{ error }}{% endcall %}')
    assert Browser(tmp_path).sees("login.html", error="one").text == "a: one"


def test_an_operators_title_is_not_translated() -> None:
    text = Browser(title="100% <Acme>").sees("login.html").text or ""
    assert "<h1>100% &lt;Acme&gt;</h1>" in text


def test_the_default_title_is_translated(browser: Browser) -> None:
    assert "<h1>Anmelden</h1>" in (browser.sees("login.html", accept="de").text or "")


LINKS = {
    "help": "https://acme.example/help",
    "privacy": "https://acme.example/privacy",
    "imprint": "https://acme.example/imprint",
}


def test_links_of_the_operator_stand_at_the_foot_of_every_page() -> None:
    browser = Browser(links=LINKS)
    for template in SCREENS:
        links = {
            link.get("id"): link["href"] for link in Elements(browser.sees(template)).every("a")
        }
        assert links.items() >= {f"link-{name}": uri for name, uri in LINKS.items()}.items()


def test_links_that_are_not_configured_are_absent(browser: Browser) -> None:
    text = browser.sees("login.html").text or ""
    assert "link-help" not in text
    assert "link-imprint" not in text


def test_a_logo_at_a_url_is_shown_and_may_be_loaded() -> None:
    page = Browser(logo="https://cdn.example/acme.svg").sees("login.html")
    logos = Elements(page).every("img", **{"class": "service-logo"})
    assert [logo["src"] for logo in logos] == ["https://cdn.example/acme.svg"]
    assert "https://cdn.example" in policy_of(page)["img-src"]


async def test_a_logo_in_a_file_is_a_static_file(
    tmp_path: Path, aiohttp_client: Callable[..., Any]
) -> None:
    (tmp_path / "Acme Logo.PNG").write_bytes(b"\x89PNG")
    browser = Browser(logo=str(tmp_path / "Acme Logo.PNG"))
    (logo,) = Elements(browser.sees("login.html")).every("img", **{"class": "service-logo"})
    client = await aiohttp_client(browser.app)
    answer = await client.get(logo["src"].removeprefix("/auth"))
    assert (answer.content_type, await answer.read()) == ("image/png", b"\x89PNG")


async def test_an_accent_is_a_style_sheet_after_ours(aiohttp_client: Callable[..., Any]) -> None:
    browser = Browser(accent="rebeccapurple")
    links = Elements(browser.sees("login.html")).every("link", rel="stylesheet")
    client = await aiohttp_client(browser.app)
    answer = await client.get(links[1]["href"].removeprefix("/auth"))
    assert answer.content_type == "text/css"
    assert "--accent: #663399;" in await answer.text()


@pytest.mark.parametrize(
    "accent", ["#0c6b62", "navy", "oklch(70% 0.2 40)", "#ff0", "black", "white"]
)
def test_an_accent_is_readable_on_dark_pages_and_below_its_text(accent: str) -> None:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+|white);", part))
        for part in style_sheet_of_accent(parse_colour(accent)).split("@media")
    )
    assert Color(dark["accent"]).contrast(Color(dark["tint"])) >= READABLE
    assert Color(dark["accent"]).contrast(Color("#161f1e")) >= READABLE
    for theme in (light, dark):
        assert Color(theme["accent"]).contrast(Color(theme["on-accent"])) >= READABLE


BACKGROUNDS = ["#f1f5f3", "navy", "black", "white", "#ff0", "oklch(70% 0.2 40)", "#6d6d6d"]


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_text_on_a_background_is_readable_on_light_and_dark_pages(background: str) -> None:
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+);", part))
        for part in style_sheet_of_background(parse_colour(background)).split("@media")
    )
    assert light["page"] == parse_colour(background).to_string(hex=True)
    assert Color(light["page"]).contrast(Color(light["on-page"])) >= READABLE
    assert Color(dark["page"]).contrast(Color(dark["on-page"])) >= READABLE
    assert Color(dark["page"]).luminance() <= 0.05


def test_accent_and_background_share_a_style_sheet() -> None:
    sheet = style_sheet("navy", "#eef2ff") or b""
    assert sheet.index(b"--accent: #000080;") < sheet.index(b"--page: #eef2ff;")
    assert style_sheet(None, None) is None


@pytest.mark.parametrize("accent", ["#0c6b62", "navy", "hsl(280 60% 40%)"])
def test_an_accent_that_is_readable_is_no_problem(
    problems: Callable[..., Any], accent: str
) -> None:
    assert problems(f'ui: {{accent: "{accent}"}}') == {}


def test_a_pale_accent_is_a_warning(problems: Callable[..., Any]) -> None:
    problem = problems('ui: {accent: "#ffcc00"}')["ui.accent"]
    assert problem.severity == "warning"
    assert "contrast with light pages is 1." in problem.message


def test_a_background_that_no_text_is_readable_on_is_a_warning(
    problems: Callable[..., Any],
) -> None:
    problem = problems('ui: {background: "#7e7e7e"}')["ui.background"]
    assert problem.severity == "warning"
    assert "the contrast of text on it is 4." in problem.message


def test_colours_of_tenants_are_judged_as_the_services_own(problems: Callable[..., Any]) -> None:
    found = problems(
        'tenants: [{name: acme, accent: "#ffcc00"}, {name: beta, background: rainbow}]'
    )
    assert found["tenants[acme].accent"].severity == "warning"
    assert found["tenants[beta].background"].severity == "error"


@pytest.mark.parametrize("accent", ["greeen", "#12345", "rgb(0 0 0 / 50%)", "red; } body { x: y"])
def test_an_accent_that_is_not_an_opaque_colour_is_refused(
    problems: Callable[..., Any], accent: str
) -> None:
    assert problems(f'ui: {{accent: "{accent}"}}')["ui.accent"].severity == "error"


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("{logo: nowhere.png}", "ui.logo", "there is no file"),
        ("{links: {hlep: https://acme.example}}", "ui.links.hlep", "expected help, privacy"),
        ("{links: {help: 'javascript:1'}}", "ui.links.help", "expected an absolute http or https"),
    ],
)
def test_an_impossible_look_is_refused(
    problems: Callable[..., Any], text: str, path: str, message: str
) -> None:
    assert message in problems(f"ui: {text}")[path].message
