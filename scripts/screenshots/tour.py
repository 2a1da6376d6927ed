"""A service with much to show, and a person's browser in front of it that takes pictures."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

import yaml
from playwright.sync_api import Browser, Page, StorageState, ViewportSize

from service.web.pages.locales import known_languages
from service.web.pages.looks import BUILT_IN

REPOSITORY = Path(__file__).parents[2]
SCREENSHOTS = REPOSITORY / "build/screenshots"
DOCS = REPOSITORY / "docs/pages"
CONFIGURATION = Path(tempfile.gettempdir()) / "token-service"
"""The folder of the service, which the admin console shows."""
DESKTOP: ViewportSize = {"width": 1024, "height": 768}
PHONE: ViewportSize = {"width": 360, "height": 740}
VARIANTS: tuple[tuple[str, Literal["light", "dark"], ViewportSize], ...] = (
    ("light", "light", DESKTOP),
    ("dark", "dark", DESKTOP),
    ("phone", "light", PHONE),
)
SHOWN = {
    "en": {
        "login-light",
        "login-dark",
        "login-phone",
        "login-tenant-light",
        "consent-light",
        "device-confirm-light",
        "request-light",
        "account-light",
        "account-phone",
        "error-light",
        "second-factor-otp-light",
        "second-factor-passkey-light",
        "second-factor-recovery-code-dark",
        "add-factor-otp-light",
        "add-factor-passkey-light",
        "recovery-codes-light",
        "security-light",
        "security-phone",
        "console-overview-light",
        "console-clients-light",
        "console-clients-dark",
        "console-user-light",
        "console-user-phone",
    },
    "ar": {"login-light", "account-light", "second-factor-otp-light"},
}
"""What docs/ shows, by language."""
QUALITY = 80
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # of RFC 7636 Appendix B
ON_A_PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)


@contextmanager
def running_service(**ui: object) -> Iterator[tuple[str, str]]:
    """Serve the demonstration, with more to show, for as long as the block lasts; yield its URL and that of its console."""
    with (
        socket.create_server(("127.0.0.1", 0)) as free,
        socket.create_server(("127.0.0.1", 0)) as another,
    ):
        issuer = f"http://localhost:{free.getsockname()[1]}"
        console = f"http://127.0.0.1:{another.getsockname()[1]}"
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    CONFIGURATION.mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / "examples/theme/logo.svg", CONFIGURATION)
    file = CONFIGURATION / "config.yaml"
    file.write_text(yaml.safe_dump(configuration(issuer, console, ui), allow_unicode=True))
    command = [sys.executable, "-m", "service", "serve", "--config", str(file)]
    service = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
    try:
        log = iter(service.stderr or ())
        if not any("listening on" in line for line in log):
            sys.exit(f"`token-service check {file}` says why the service does not start")
        yield issuer, console
    finally:
        service.terminate()
        service.wait()


def configuration(issuer: str, console: str, ui: dict[str, object]) -> dict[str, Any]:
    """Return config.yaml with what makes the pages show more."""
    file = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
    written = yaml.safe_dump(file).replace("http://localhost:${SERVICE_PORT:-8080}", issuer)
    settings: dict[str, Any] = yaml.safe_load(written)
    links = ("help", "privacy", "imprint", "forgot_password", "change_password", "register")
    settings |= {
        "server": {"port": int(issuer.rpartition(":")[2])},
        "ui": {
            "locales": known_languages([BUILT_IN]),
            "links": {name: f"https://example.com/{name}" for name in links},
            **ui,
        },
        "identity_providers": [
            {
                "name": "example",
                "display_name": "Example ID",
                "issuer": "https://id.example.com",
                "client_id": "us",
            },
            {
                "name": "acme",
                "issuer": "https://id.acme.example",
                "client_id": "us",
                "domains": ["acme.example"],
            },
        ],
        "tenants": [
            {
                "name": "acme",
                "display_name": "Acme Flowers",
                "logo": str(CONFIGURATION / "logo.svg"),
                "accent": "#8a3ffc",
                "providers": ["acme"],
            }
        ],
        "authorization_details_types": [
            {"type": "payment", "api_resource": "api1", "summary": "Pay {amount} to {creditor}"}
        ],
        "admin": {
            "port": int(console.rpartition(":")[2]),
            "url": console,
            "writers": [{"sub": ["818727"]}],
        },
        "registration": {"enabled": True, "allowed_scopes": ["openid", "email"]},
    }
    for client in settings["clients"]:
        if client["client_id"] == "web":
            client |= {
                "authorization_details_types": ["payment"],
                "frontchannel_logout_uri": "http://localhost:3000/logout",
                "post_logout_redirect_uris": [f"{issuer}/account"],
                "identity_provider_restrictions": ["example"],
            }
        if client["client_id"] == "spa":
            client["redirect_uris"].append(f"{issuer}/account")
        if client["client_id"] == "tv":
            settings["clients"].append(
                client
                | {
                    "client_id": "staff",
                    "client_name": "Staff only",
                    "allowed_grant_types": ["authorization_code"],
                    "redirect_uris": [f"{issuer}/account"],
                    "allowed_users": [{"groups": ["staff"]}],
                }
            )
            settings["clients"].append(
                client
                | {
                    "client_id": "strict",
                    "client_name": "Payroll",
                    "allowed_grant_types": ["authorization_code"],
                    "redirect_uris": [f"{issuer}/account"],
                    "mfa_required": "always",
                }
            )
    return settings


@dataclass(frozen=True)
class Tour:
    """A person with a browser in one language."""

    chromium: Browser
    issuer: str
    language: str
    user_agent: str | None = None
    has_script: bool = True
    state: StorageState | None = None
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        """Open the browser."""
        page = self.chromium.new_page(
            locale=self.language,
            reduced_motion="reduce",
            user_agent=self.user_agent,
            java_script_enabled=self.has_script,
            storage_state=self.state,
        )
        object.__setattr__(self, "page", page)

    def with_new_browser(self, user_agent: str | None = None) -> Tour:
        """Return the same tour with a browser that has no cookies."""
        return replace(self, user_agent=user_agent)

    def without_script(self) -> Tour:
        """Return the same tour, signed in, with a browser that runs no JavaScript."""
        return replace(self, has_script=False, state=self.page.context.storage_state())

    def open(self, path: str, **parameters: str) -> None:
        """Go to a page of the service."""
        self.page.goto(f"{self.issuer}{path}?{urlencode(parameters)}")

    def ask(self, client_id: str = "web", **parameters: str) -> None:
        """Begin an authorization request, whose answer the account page receives."""
        request = {
            "client_id": client_id,
            "redirect_uri": f"{self.issuer}/account",
            "response_type": "code",
            "scope": "openid profile email api1 offline_access",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
        }
        self.open("/connect/authorize", **request | parameters)

    def post(self, path: str, user: str = "", **options: Any) -> dict[str, Any]:
        """Send what a client sends by itself, and return the answer."""
        credentials = base64.b64encode(f"{user}:{user}-secret".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}"} if user else {}
        answer: dict[str, Any] = self.page.request.post(
            self.issuer + path, headers=headers, **options
        ).json()
        return answer

    def sign_in(self, *, password: str, username: str = "alice") -> None:
        """Fill in the login page, which may ask for the name first."""
        self.page.fill("#username", username)
        if not self.page.is_visible("#password"):
            self.page.click("#login")
        self.page.fill("#password", password)
        self.page.click("#login")

    def keep(self, name: str) -> None:
        """Take pictures of the page as it is now: light, dark, and on a phone."""
        for variant, colours, size in VARIANTS:
            self.page.emulate_media(color_scheme=colours)
            self.page.set_viewport_size(size)
            folder, file = SCREENSHOTS / self.language, f"{name}-{variant}"
            folder.mkdir(exist_ok=True)
            self.page.screenshot(path=folder / f"{file}.png", full_page=True)
            if file in SHOWN.get(self.language, ()):
                self.publish(file if self.language == "en" else f"{file}-{self.language}")

    def publish(self, name: str, first: str = "html", last: str = "html") -> None:
        """Write a picture for docs/, of everything from one element to another."""
        above, below = (
            self.page.locator(each).evaluate("it => it.getBoundingClientRect().toJSON()")
            for each in (first, last)
        )
        clip = {"x": above["x"], "y": above["y"], "width": above["width"]}
        clip |= {"height": below["bottom"] - above["y"], "scale": 1}
        command = {
            "format": "webp",
            "quality": QUALITY,
            "clip": clip,
            "captureBeyondViewport": True,
        }
        session = self.page.context.new_cdp_session(self.page)
        picture = session.send("Page.captureScreenshot", command)["data"]
        DOCS.mkdir(exist_ok=True)
        (DOCS / f"{name}.webp").write_bytes(base64.b64decode(picture))
