"""Protects forms against forgery: each holds a value that only this browser's own pages contain (ASVS 3.5)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode

from service.protocol.errors import OAuthError


class ForgedRequest(OAuthError):
    """A form came without the value that our pages carry, or from another browser."""

    code = "invalid_request"
    status = 403


def csrf_token(browser: str) -> str:
    """Return the value for this browser's forms: derived, so that no replica has to remember it."""
    return urlsafe_b64encode(hmac.digest(browser.encode(), b"csrf", "sha256")).decode()


def check_csrf(browser: str, given: str | None) -> None:
    """Raise ForgedRequest unless this browser, which has a mark, was given the form."""
    expected = csrf_token(browser)
    if not browser or not hmac.compare_digest(expected.encode(), (given or "").encode()):
        raise ForgedRequest("the form is not from a page that this browser was shown")
