"""Writes the request with which a client of the demonstration begins that needs no browser for it."""

from __future__ import annotations

import shlex

import msgspec

from service.authorize.device import PATH as VERIFICATION
from service.model.authorization import DELEGATION
from service.model.client import Client
from service.model.polling import CIBA, DEVICE_CODE
from service.pages.own_pages import REQUESTS
from service.protocol.paths import BACKCHANNEL_AUTHENTICATION, DEVICE_AUTHORIZATION, TOKEN
from service.protocol.scope import OFFLINE_ACCESS


class FirstRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to paste into a shell, and the page at which the user goes on."""

    curl: str
    page: str | None


def find_first_request(
    client: Client, *, secret: str | None, username: str, issuer: str
) -> FirstRequest | None:
    """Return the request of the first grant type that begins with one; the user's password is the user name."""
    password = {"grant_type": "password", "username": username, "password": username}
    begins: dict[str, tuple[str, dict[str, str], str | None]] = {
        DEVICE_CODE: (DEVICE_AUTHORIZATION, {}, VERIFICATION),
        CIBA: (BACKCHANNEL_AUTHENTICATION, {"login_hint": username}, REQUESTS),
        "password": (TOKEN, password, None),
        DELEGATION: (TOKEN, {"grant_type": DELEGATION, "token": "TOKEN"}, None),
    }
    for grant_type, (path, form, page) in begins.items():
        if grant_type in client.allowed_grant_types:
            scope = " ".join(sorted(client.allowed_scopes - {OFFLINE_ACCESS}))
            known = {} if secret else {"client_id": client.client_id}
            words = ["-u", f"{client.client_id}:{secret}"] if secret else []
            for item in (known | form | {"scope": scope}).items():
                words += ["-d", "=".join(item)]
            url = issuer.rstrip("/") + path
            return FirstRequest(curl=f"{shlex.join(['curl', '-s', *words, url])}; echo", page=page)
    return None
