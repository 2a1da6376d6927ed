"""docs/second-factors.md: its example is a configuration, and people sign in as the page says; its notifier is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.browser import Browser
from tests.driving.service import claims_in
from tests.factors.test_enrolment import phone_of

PAGE = REPOSITORY / "docs" / "second-factors.md"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.mark.usefixtures("one_store")
async def test_the_example_asks_for_more_where_more_is_needed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example, reading, paying, security_keys, notifier, notified = (
        block for block in blocks(PAGE) if block.language != "console"
    )
    (tmp_path / "my_mail.py").write_text(notifier.text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    configuration: dict[str, Any] = yaml.safe_load(example.text)
    configuration |= {"issuer": "http://localhost:0", "signing": {"algorithms": ["ES256"]}}
    configuration["users"] |= yaml.safe_load(notified.text)["users"]
    await start(configuration | yaml.safe_load(security_keys.text) | {"api_scopes": []})
    service = await start(configuration)
    browser = Browser(service.issuer)

    def here(url: str) -> str:
        return url.strip().replace("http://localhost:8080", service.issuer)

    login = await browser.get(here(reading.text))
    assert "code" in (await browser.log_in(login, password="alice")).parameters
    again = await browser.get(here(paying.text))
    page = await browser.log_in(again, password="alice")
    codes = await browser.submit(page, otp=phone_of(page).code())
    done = await browser.get(codes.element("continue")["href"] or "")
    tokens = await service.token(
        None,
        grant_type="authorization_code",
        client_id="app",
        code=done.parameters["code"],
        redirect_uri="http://localhost:3000/callback",
        code_verifier=VERIFIER,
    )
    claims = claims_in(tokens["access_token"])
    assert (claims["acr"], claims["amr"]) == ("strong", ["pwd", "otp", "mfa"])
    assert (tmp_path / "told-1.txt").read_text() == "factor_enrolled otp\n"
    await browser.close()
