"""Pages: the operator's folder stands before ours, and static files are cached by their content."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

from service.web.look import BUILT_IN
from tests.pages.screens import Browser, Elements


async def test_a_static_file_is_cached_for_ever_under_its_hash(
    browser: Browser, aiohttp_client: Callable
) -> None:
    client = await aiohttp_client(browser.app)
    answer = await client.get(browser.pages.url("/static/style.css").removeprefix("/auth"))
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.content_type == "text/css"


async def test_another_replicas_hash_gets_the_present_file_uncached(
    aiohttp_client: Callable,
) -> None:
    client = await aiohttp_client(Browser().app)
    answer = await client.get("/static/style.0123456789ab.css")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize("name", ["nothing.css", "..%2fbase.html", "../base.html", "%00"])
async def test_only_static_files_are_served(aiohttp_client: Callable, name: str) -> None:
    client = await aiohttp_client(Browser().app)
    assert (await client.get(f"/static/{name}")).status == 404


def test_the_style_sheet_is_small() -> None:
    assert (BUILT_IN / "static/style.css").stat().st_size < 15_000


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
    with pytest.raises(jinja2.TemplateSyntaxError):
        Browser(tmp_path)


def test_an_operators_title_stands_as_it_is() -> None:
    text = Browser(title="100% <Acme>").sees("login.html").text or ""
    assert "<h1>100% &lt;Acme&gt;</h1>" in text


def test_the_title_that_nobody_chose_is_translated(browser: Browser) -> None:
    assert "<h1>Anmelden</h1>" in (browser.sees("login.html", accept="de").text or "")
