"""A tenant's pages have its logo, colours and links, in place of the operator's; a reload changes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp

SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
ACME, BETA = "tenant:acme", "tenant:beta"


@pytest.fixture
def config(config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Acme has a look of its own, Beta that of the service."""
    (tmp_path / "acme.svg").write_text(SVG)
    config["ui"] |= {
        "accent": "navy",
        "links": {"help": "https://op.example/help", "privacy": "https://op.example/privacy"},
    }
    config["tenants"][0] |= {
        "logo": str(tmp_path / "acme.svg"),
        "accent": "#7a1f5c",
        "background": "#fdf2f8",
        "links": {"help": "https://acme.example/help", "register": "https://acme.example/join"},
    }
    config["tenants"][1]["logo_uri"] = "https://cdn.beta.example/logo.png"
    return config


def link(page: Page, element: str) -> str | None:
    return page.element(element)["href"] if page.has(element) else None


def style_sheets(page: Page) -> list[str]:
    return re.findall(r'<link rel="stylesheet" href="(.*?)"', page.text)


def policy(page: Page) -> str:
    return str(page.headers["Content-Security-Policy"])


async def test_links_of_a_tenant_take_the_place_of_the_services(app: ClientApp) -> None:
    page = await app.authorize(acr_values=ACME)
    assert link(page, "link-help") == "https://acme.example/help"
    assert link(page, "link-privacy") == "https://op.example/privacy"
    assert link(page, "register") == "https://acme.example/join"
    page = await app.authorize(acr_values=BETA)
    assert link(page, "link-help") == "https://op.example/help"
    assert link(page, "register") is None


async def test_colours_of_a_tenant_are_a_style_sheet_of_its_own(app: ClientApp) -> None:
    for acr_values, colour in ((ACME, "#7a1f5c"), (BETA, "#000080"), (None, "#000080")):
        page = await app.authorize(acr_values=acr_values)
        _, colours = style_sheets(page)
        answer = await app.service.get(colours)
        assert answer.headers["Content-Type"].startswith("text/css")
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert f"--accent: {colour};" in answer.body.decode()
        assert ("--page: #fdf2f8;" in answer.body.decode()) == (acr_values == ACME)


@pytest.mark.rfc("9700#4.16")
async def test_a_tenants_look_needs_no_inline_style(app: ClientApp) -> None:
    page = await app.authorize(acr_values=ACME)
    assert "style-src 'self';" in policy(page)
    assert not re.search("<style|style=", page.text)


async def test_logos_of_tenants_are_shown(app: ClientApp) -> None:
    page = await app.authorize(acr_values=ACME)
    (source,) = re.findall(r'<p class="host"><img class="logo small" src="(.*?)"', page.text)
    answer = await app.service.get(source)
    assert (answer.headers["Content-Type"], answer.body.decode()) == ("image/svg+xml", SVG)
    page = await app.authorize(acr_values=BETA)
    assert 'src="https://cdn.beta.example/logo.png"' in page.text
    assert "https://cdn.beta.example" in policy(page)


async def test_a_reload_changes_the_look(
    app: ClientApp, reload: Callable[..., None], tmp_path: Path
) -> None:
    def change(config: dict[str, Any]) -> None:
        config["tenants"][0]["accent"] = "#0c6b62"

    before = style_sheets(await app.authorize(acr_values=ACME))
    (tmp_path / "acme.svg").write_text(SVG + "<!-- new -->")
    reload(change)
    page = await app.authorize(acr_values=ACME)
    _, colours = style_sheets(page)
    assert colours not in before
    assert "--accent: #0c6b62;" in (await app.service.get(colours)).body.decode()
    (source,) = re.findall(r'<p class="host"><img class="logo small" src="(.*?)"', page.text)
    assert b"new" in (await app.service.get(source)).body


class TestOwnTemplate:
    """A template of the operator that writes the name of a tenant's file."""

    @pytest.fixture
    def config(self, config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
        templates = tmp_path / "templates"
        templates.mkdir()
        (templates / "login.html").write_text(
            '<link rel="stylesheet" href="{{ url(\'/static/tenants/acme.css\') }}">'
        )
        config["ui"]["templates"] = str(templates)
        return config

    async def test_finds_the_file_after_a_reload(
        self, app: ClientApp, reload: Callable[..., None]
    ) -> None:
        def change(config: dict[str, Any]) -> None:
            config["tenants"][0]["accent"] = "#0c6b62"

        await app.authorize(acr_values=ACME)
        reload(change)
        page = await app.authorize(acr_values=ACME)
        answer = await app.service.get(style_sheets(page)[0])
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "--accent: #0c6b62;" in answer.body.decode()


async def test_the_account_looks_as_the_users_tenant(app: ClientApp) -> None:
    await app.code("alice")
    page = await app.browser.get("/account")
    assert link(page, "link-help") == "https://acme.example/help"
    assert "/tenants/acme." in style_sheets(page)[1]


@pytest.mark.parametrize(
    "path", ["gamma.css", "acme.png", "beta.svg", "acme", "..%2fstyle.css", "acme.css/x", ""]
)
async def test_there_are_no_other_files_of_tenants(app: ClientApp, path: str) -> None:
    assert (await app.service.get(f"/static/tenants/{path}")).status == 404
