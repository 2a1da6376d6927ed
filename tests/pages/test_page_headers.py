"""Pages: what a page may load, post to and be framed by (RFC 9700 §4.16)."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from service.protocol.redirect_uri import FormPost
from tests.pages.screens import Browser, Elements, each_screen, policy_of

pytestmark = pytest.mark.rfc("9700#4.16")


def test_the_policy_allows_only_the_sources_that_the_page_names(browser: Browser) -> None:
    page = browser.sees(
        "login.html",
        img_src=["https://user:pw@LOGO.example/web.png", "data:image/png;base64,AA==", "/static/x"],
    )
    assert policy_of(page) == {
        "default-src": ["'none'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:", "https://logo.example"],
        "form-action": ["'self'"],
        "script-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }


@pytest.mark.parametrize(
    ("logo", "source"),
    [
        ("http://localhost:3000/logo", "http://localhost:3000"),
        ("http://[::1]:3000/logo", "http:"),
        ("https://a.example;b/logo", "https:"),
        ("https://web.example:8443/logo?x=;script-src *", "https://web.example:8443"),
    ],
)
def test_a_uri_becomes_a_source(browser: Browser, logo: str, source: str) -> None:
    assert source in policy_of(browser.sees("login.html", img_src=[logo]))["img-src"]


@pytest.mark.rfc("6749#3.1.2")
def test_a_page_whose_form_leads_away_lets_it_lead_anywhere(browser: Browser) -> None:
    assert "form-action" not in policy_of(browser.sees("login.html", leads_away=True))


@each_screen
def test_a_page_is_not_framed(browser: Browser, template: str) -> None:
    assert browser.sees(template).headers["X-Frame-Options"] == "DENY"


def test_form_post_runs_the_one_script_whose_hash_it_names(browser: Browser) -> None:
    page = browser.pages.form_post(
        browser.request(),
        FormPost("https://web.example/callback", {"code": "c0de", "state": '"><script>'}),
    ).for_aiohttp()
    scripts = re.findall(r"<script>(.*?)</script>", page.text or "", re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert policy_of(page)["script-src"] == [f"'sha256-{digest}'" for digest in digests]
    assert len(digests) == 1


def test_form_post_carries_the_response_to_the_client(browser: Browser) -> None:
    fields = {"code": "c0de", "state": '"><script>'}
    page = browser.pages.form_post(
        browser.request(), FormPost("https://web.example/callback", fields)
    ).for_aiohttp()
    elements = Elements(page)
    inputs = elements.every("input", type="hidden")
    assert {field["name"]: field["value"] for field in inputs} == fields
    assert elements.every("form", id="form-post")[0]["action"] == "https://web.example/callback"
    assert "form-action" not in policy_of(page)
    assert page.headers["Referrer-Policy"] == "strict-origin"
