"""The frame that clients ask (OpenID Connect Session Management §3.2, §3.3)."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from urllib.parse import urlsplit

import pytest

from tests.driving.service import RunningService

PATH = "/connect/checksession"

pytestmark = pytest.mark.rfc("openid-session#3.2")


@pytest.mark.rfc("openid-session#3.3")
async def test_discovery_names_the_check_session_iframe(service: RunningService) -> None:
    metadata = await service.get("/.well-known/openid-configuration")
    assert metadata["check_session_iframe"] == service.issuer + PATH


async def test_the_check_session_frame_runs_only_its_own_script(service: RunningService) -> None:
    answer = await service.get(PATH)
    (script,) = re.findall(r"<script>(.*?)</script>", answer.body.decode(), re.DOTALL)
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy == f"default-src 'none'; script-src 'sha256-{digest}'"


async def test_any_page_may_frame_the_check_session_iframe(service: RunningService) -> None:
    answer = await service.get(PATH)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "X-Frame-Options" not in answer.headers
    assert "frame-ancestors" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_the_check_session_frame_may_be_cached(service: RunningService) -> None:
    first = await service.get(PATH)
    second = await service.get(PATH, headers={"Cookie": "browser_state=x", "Accept-Language": "de"})
    assert first.headers["Cache-Control"] == "public, max-age=3600"
    assert (first.body, "Set-Cookie" in second.headers) == (second.body, False)


async def test_the_script_reads_the_cookie_of_the_issuers_scheme(service: RunningService) -> None:
    port = urlsplit(service.issuer).port
    assert f'"browser_state_{port}="'.encode() in (await service.get(PATH)).body
