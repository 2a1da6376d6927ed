"""Every screen with what it may be shown, and how a test looks at it."""

from __future__ import annotations

from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from msgspec.structs import replace

from service.config.convert import convert
from service.config.schema.file import Ui
from service.web.pages.cookies import Cookies
from service.web.pages.locales import known_languages
from service.web.pages.looks import BUILT_IN
from service.web.pages.pages import Pages
from tests.identity.people import Live

LANGUAGES = known_languages([BUILT_IN])

CLIENT = SimpleNamespace(
    client_id="web",
    client_name="<Web> & more",
    logo_uri="https://logo.example/web.png",
    client_uri="https://web.example",
    policy_uri="javascript:alert(1)",
    tos_uri=None,
)
ALICE = SimpleNamespace(name="Alice Smith", username="alice")
FORM = {"csrf": "anti-forgery", "parked_request": "parked-id"}
PROVIDER = SimpleNamespace(
    name="google", display_name="Google", logo_uri=None, href="/external/google"
)


def scope(name: str, *, required: bool = False) -> SimpleNamespace:
    return SimpleNamespace(
        name=name, display_name=None, description=None, required=required, emphasize=required
    )


SHOWN = SimpleNamespace(
    binding_message="<W4SCT> & more", created_at=1_800_000_000, expires_at=1_800_000_120
)
PASSKEY = {"challenge": "'\"><script>", "rpId": "op.example", "allowCredentials": []}
LOGIN: dict[str, object] = {
    "action": "/account/login",
    "client": CLIENT,
    "tenant": None,
    "username": "alice",
    "verifying": None,
    "local_login": True,
    "passkey": PASSKEY,
    "can_remember": True,
    "can_cancel": True,
    "providers": [PROVIDER],
    "error": "invalid_credentials",
    **FORM,
}
SCREENS: dict[str, dict[str, Any]] = {
    "login.html": LOGIN,
    "second_factor.html": {
        "action": "/account/second-factor",
        "username": "<alice>",
        "shown_to": "its mark",
        "client": CLIENT,
        "tenant": None,
        "method": "passkey",
        "form": {"options": PASSKEY},
        "others": [SimpleNamespace(name="otp", href="/account/second-factor?method=otp")],
        "can_cancel": True,
        "error": "invalid_factor",
        **FORM,
    },
    "recovery_code_used.html": {"left": 3, "continue_href": "/account", "tenant": None},
    "requests.html": {
        "action": "/account/requests",
        "user": ALICE,
        "allowed": True,
        "requests": [{"ref": "S" * 16, "client": CLIENT, "shown": SHOWN}],
    },
    "request.html": {
        "action": "/account/requests/" + "S" * 16,
        "user": ALICE,
        "may_use_client": True,
        "client": CLIENT,
        "shown": SHOWN,
        "scopes": [scope("openid"), scope("api1", required=True)],
        "details": [],
        "session_id": "S" * 16,
        "csrf": "anti-forgery",
    },
    "not_allowed.html": {
        "action": "/account/not-allowed",
        "client": CLIENT,
        "tenant": None,
        "user": ALICE,
        **FORM,
    },
    "select_account.html": {
        "action": "/account/login",
        "client": CLIENT,
        "tenant": None,
        "user": ALICE,
        **FORM,
    },
    "consent.html": {
        "stranger_at": "registered.example",
        "values": {"email": [("email", "<alice>@example.com")]},
        "claim_values": {"birthdate": "2000-01-01"},
        "answer_host": "registered.example",
        "action": "/account/consent",
        "client": CLIENT,
        "tenant": None,
        "user": ALICE,
        "identity_scopes": [scope("openid", required=True), scope("email")],
        "api_scopes": [scope("api1"), scope("offline_access")],
        "claims": ["birthdate", "shoe_size"],
        "can_remember": True,
        **FORM,
    },
    "device.html": {"action": "/device", "user_code": "BCDF-GHJK", "error": "unknown_code", **FORM},
    "device_confirm.html": {
        "action": "/device",
        "client": CLIENT,
        "user": ALICE,
        "user_code": "BCDF-GHJK",
        "scopes": [scope("openid"), scope("api1"), scope("offline_access")],
        "details": [],
        **FORM,
    },
    "device_done.html": {"action": "/device", "client": CLIENT, "allowed": True, **FORM},
    "logout.html": {"action": "/account/logout", "client": CLIENT, "user": ALICE, **FORM},
    "logged_out.html": {"client": CLIENT, "continue_uri": None, "frontchannel_uris": []},
    "error.html": {
        "error": "invalid_request",
        "error_description": "client_id is unknown",
        "request_id": "request-17",
    },
    "account.html": {
        "action": "/account",
        "csrf": "anti-forgery",
        "user": ALICE,
        "sessions": [
            SimpleNamespace(
                id="s1",
                user_agent="Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
                created_at=1_750_000_000,
                last_used_at=1_750_003_600,
                current=True,
            )
        ],
        "applications": [
            SimpleNamespace(
                client=CLIENT,
                host="web.example",
                href="https://web.example/start?iss=https%3A%2F%2Fop",
            )
        ],
        "grants": [
            SimpleNamespace(
                client=CLIENT,
                scopes=[scope("email")],
                details=["Pay 30.00 EUR"],
                claims=["birthdate"],
                more_details=3,
                granted_at=1_750_000_000,
            )
        ],
        "paging": {
            "sessions": SimpleNamespace(number=1, last=1),
            "applications": SimpleNamespace(number=1, last=1),
            "grants": SimpleNamespace(number=2, last=3),
        },
    },
    "add_factor.html": {
        "action": "/account/security/add",
        "client": CLIENT,
        "tenant": None,
        "method": "otp",
        "form": {
            "secret": "JBSW Y3DP EHPK 3PXP",
            "uri": "otpauth://totp/op.example:alice?secret=JBSWY3DPEHPK3PXP&issuer=op.example",
            "qr": '<svg viewBox="0 0 4 4"><path fill="#fff" d="M0 0h4v4h-4z"/></svg>',
            "sealed": "gAAAAA",
        },
        "name": "<My phone>",
        "others": [SimpleNamespace(name="passkey", href="/account/security/add?method=passkey")],
        "cancel_href": None,
        "error": "invalid_factor",
        **FORM,
    },
    "recovery_codes.html": {
        "codes": [f"aaaa-bbbb-cccc-ddd{n}" for n in range(10)],
        "continue_href": "/account/security",
        "tenant": None,
    },
    "security.html": {
        "action": "/account/security",
        "csrf": "anti-forgery",
        "session_id": "S" * 16,
        "has_password": True,
        "user": ALICE,
        "factors": [
            SimpleNamespace(
                method="otp",
                id="otp",
                name="<My phone>",
                created_at=1_750_000_000,
                last_used=1_750_003_600,
            ),
            SimpleNamespace(
                method="passkey", id="a-b_c", name="", created_at=1_750_000_000, last_used=None
            ),
        ],
        "addable": [SimpleNamespace(name="passkey", href="/account/security/add?method=passkey")],
        "recovery_codes_left": 7,
        "error": "last_factor",
    },
}
VARIANTS: dict[str, dict[str, Any]] = {
    "consent.html of a URL at loopback": SCREENS["consent.html"]
    | {
        "client": SimpleNamespace(**vars(CLIENT) | {"client_id": "https://agent.example/mcp.json"}),
        "stranger_is_local": True,
    },
    "second_factor.html with a code": SCREENS["second_factor.html"] | {"method": "otp"},
    "second_factor.html with a recovery code": SCREENS["second_factor.html"]
    | {"method": "recovery_code"},
    "second_factor.html without any": SCREENS["second_factor.html"]
    | {"method": None, "others": [], "error": None},
    "add_factor.html with a passkey": SCREENS["add_factor.html"]
    | {"method": "passkey", "form": {"options": PASSKEY}},
}
"""Pages that show something else, each under its template and what that is."""
each_screen = pytest.mark.parametrize("template", SCREENS)
FURTHER: dict[str, dict[str, Any]] = {
    "not_found.html": {},
    "form_post.html": {"redirect_uri": "https://web.example/callback", "fields": {"code": "c"}},
    "demonstration.html": {
        "people": [{"user": {"username": "alice", "claims": {}}, "sign_in": "/account"}],
        "clients": [],
        "error": "access_denied",
        "steps": [],
    },
}
"""The other pages."""
PAGES = SCREENS | FURTHER | VARIANTS


class Elements(HTMLParser):
    """The elements of a page, each with its attributes, and the text of those that have an id."""

    def __init__(self, page: web.Response) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page.text or "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def every(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [a for t, a in self.found if t == tag and wanted.items() <= a.items()]

    def ids(self) -> list[str]:
        return [name for _, a in self.found if (name := a.get("id"))]


class Browser:
    """A browser that requests a page."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        issuer: str = "https://op.example/auth",
        **ui: object,
    ) -> None:
        self.pages = Pages(
            issuer=issuer,
            ui=replace(convert({"locales": LANGUAGES, **ui}, Ui), templates=folder),
            cookies=Cookies(
                secure=issuer.startswith("https:"), session_name="sid", same_site="lax"
            ),
            registry=Live(),
        )
        self.app = web.Application()
        self.app.add_routes(self.pages.routes())
        self.pages.set_up(self.app)

    def request(self, **headers: str) -> web.Request:
        return make_mocked_request("GET", "/", headers=headers, app=self.app)

    def sees(
        self,
        template: str,
        *,
        accept: str = "en",
        leads_away: bool = False,
        img_src: Iterable[str] = (),
        **context: object,
    ) -> web.Response:
        page = self.pages.render(
            self.request(**{"Accept-Language": accept}),
            template,
            leads_away=leads_away,
            img_src=img_src,
            context=PAGES[template] | context,
        )
        return page.for_aiohttp()


def policy_of(page: web.Response) -> dict[str, list[str]]:
    directives = page.headers["Content-Security-Policy"].split("; ")
    return {name: sources for name, *sources in map(str.split, directives)}
