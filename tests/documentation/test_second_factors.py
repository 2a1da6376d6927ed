"""docs/second-factors.md: its example is a configuration, and people sign in as the page says; its notifier is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from fido2 import cbor
from fido2.utils import websafe_encode

from service.takeover.factors_file import FactorsFile, LoadedUser
from tests.conftest import Start
from tests.documentation.reading import REPOSITORY, blocks
from tests.driving.authenticator import Authenticator
from tests.driving.browser import Browser
from tests.driving.service import claims_in
from tests.factors.phone import Phone
from tests.factors.test_enrolment import phone_of

PAGE = REPOSITORY / "docs" / "second-factors.md"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.mark.usefixtures("one_store")
async def test_the_example_asks_for_more_where_more_is_needed(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example, reading, paying, security_keys, notifier, notified, *_ = (
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


def test_the_factors_of_another_server_have_the_form_that_is_read(tmp_path: Path) -> None:
    text = next(block.text for block in blocks(PAGE) if block.language == "json")
    mine = Authenticator(origin="https://id.example.com")
    example: dict[str, Any] = json.loads(text)
    example["users"][0]["passkeys"][0]["public_key"] = websafe_encode(cbor.encode(mine.key))
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "7").write_text(f"{Phone().secret}\n")
    file = tmp_path / "factors.json"
    file.write_text(json.dumps(example))
    (user,) = FactorsFile(path=file, rp_id="id.example.com", with_passkeys=True).read()
    assert isinstance(user, LoadedUser)
    assert (user.sub, user.totp is not None, len(user.passkeys)) == ("818727", True, 1)
