"""No first page of a language waits until its templates are compiled: the process has done that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest
from aiohttp.test_utils import TestClient, TestServer

from service.app import create_app
from service.protocol.paths import LOGIN
from service.start.load import load
from service.web.pages.templates import Templates
from tests.conftest import ENCRYPTION_KEY


def refuse_to_compile(*_: Any, **_and: Any) -> NoReturn:
    raise AssertionError("a template is compiled for a request")


@pytest.mark.parametrize("language", ["en", "de", "ar"])
@pytest.mark.parametrize("path", [LOGIN, "/device", "/connect/authorize"])
async def test_first_page_of_a_language_compiles_no_template(
    path: str,
    language: str,
    config: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config |= {"issuer": "http://localhost:8080", "store": {"url": "memory://"}}
    config["ui"] = {"locales": ["en", "de", "ar"]}
    config["signing"].setdefault("encryption_key", ENCRYPTION_KEY)
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(config))
    made = create_app(load(file, {}), environ={})
    made.compile_pages()
    monkeypatch.setattr(Templates, "compile", refuse_to_compile)
    async with TestClient(TestServer(made.app)) as client:
        page = await client.get(path, headers={"Accept-Language": language})
        assert page.status in {200, 400}
        assert f'lang="{language}"' in await page.text()
