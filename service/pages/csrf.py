"""Anti-forgery: a form is ours if it holds what only this browser's own pages were told (ASVS 3.5)."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode

from service.protocol.errors import OAuthError


class ForgedRequest(OAuthError):
    """A form came without the value that our pages carry, or from another browser."""

    code = "invalid_request"
    status = 403


def csrf_token(browser: str) -> str:
    """The value for this browser's forms: derived, so that no replica has to remember it."""
    return urlsafe_b64encode(hmac.digest(browser.encode(), b"csrf", "sha256")).decode()


def check_csrf(browser: str | None, given: str | None) -> None:
    """Refuse a form that this browser was not given."""
    if browser is None or given is None:
        raise ForgedRequest("the form is not from a page that this browser was shown")
    if not hmac.compare_digest(csrf_token(browser).encode(), given.encode()):
        raise ForgedRequest("the form is not from a page that this browser was shown")
