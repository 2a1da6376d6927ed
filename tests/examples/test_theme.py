"""The theme of examples/theme is used as its README.md says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.driving.browser import Browser

THEME = Path(__file__).parents[2] / "examples/theme"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    (block,) = re.findall(r"```yaml\n(.*?)```", (THEME / "README.md").read_text(), re.DOTALL)
    config |= yaml.safe_load(block.replace("examples/theme", str(THEME)))
    return config


async def test_the_login_page_has_the_themes_texts(browser: Browser) -> None:
    page = await browser.get("/account/login")
    assert "<h1>Meadow</h1>" in page.text
    assert "Remember me on this device" in page.text
    page = await browser.get("/account/login?language=de")
    assert "Der Laden ist von 8 bis 18 Uhr geöffnet." in page.text
    assert "Hier angemeldet bleiben" in page.text
    assert "Benutzername" in page.text


async def test_the_themes_static_files_are_served(browser: Browser) -> None:
    page = await browser.get("/account/login")
    for name in ("custom.css", "colours.css", "service-logo.svg"):
        pattern = re.escape(name).replace(r"\.", r"\.[0-9a-f]{12}\.")
        (path,) = re.findall(rf'"(/static/{pattern})"', page.text)
        assert (await browser.get(path)).status == 200
    assert (await browser.get("/static/meadow.svg")).headers["Content-Type"] == "image/svg+xml"
