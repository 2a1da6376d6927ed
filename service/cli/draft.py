"""Drafts a client or an API: its entry for config.yaml, requests that try it, and code that uses it."""

from __future__ import annotations

import re
import secrets
import shlex
from textwrap import indent
from urllib.parse import urlencode, urljoin, urlsplit

import jinja2
import msgspec
import yaml
from msgspec.structs import asdict

from service.model.secret import hash_by_sha256
from service.protocol.pkce import s256
from service.protocol.scope import OFFLINE_ACCESS

KINDS = {
    "web": "a web application with a server of its own",
    "spa": "an application that runs in the browser",
    "native": "an application on a phone or a desktop",
    "machine": "a program that acts for itself",
    "api": "an API that is called with tokens",
}
SIGNS_IN = frozenset({"web", "spa", "native"})
_HAS_SECRET = frozenset({"web", "machine", "api"})

FRAMEWORKS = ("fastapi", "spring", "express", "go", "nginx")
REDIRECT_URIS = {
    "fastapi": "http://localhost:8000/callback",
    "spring": "http://localhost:8080/login/oauth2/code/auth",
    "express": "http://localhost:3000/callback",
    "go": "http://localhost:8000/callback",
    "nginx": "http://localhost/oauth2/callback",
    "browser": "http://localhost:5173/callback",
    "loopback": "http://127.0.0.1/callback",
}
"""The redirect URI that each framework uses by default."""
_LOGIN_PATHS = {
    "fastapi": "/login",
    "spring": "/oauth2/authorization/auth",
    "express": "/login",
    "go": "/login",
    "nginx": "/oauth2/start",
    "browser": "/",
}
"""Where a sign-in begins in the code for each framework."""
_SNIPPETS = jinja2.Environment(
    loader=jinja2.PackageLoader("service.cli", "snippets"),
    autoescape=jinja2.select_autoescape(),
    keep_trailing_newline=True,
    undefined=jinja2.StrictUndefined,
)


def identifier_of(name: str) -> str:
    """Return the name in the lower-case letters, digits and hyphens of an identifier."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def has_snippet(kind: str, framework: str) -> bool:
    return f"{kind}-{framework}.txt" in _SNIPPETS.list_templates()


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A client or an API that an operator wants."""

    kind: str
    """One of KINDS."""
    name: str
    framework: str
    """That of the code, or `none`."""
    scopes: tuple[str, ...]
    redirect_uri: str
    """Empty if no user signs in."""
    issuer: str
    """Without a slash at its end."""
    secret: str
    algorithm: str | None
    """The algorithm of its ID tokens; None: the service's default."""

    @property
    def identifier(self) -> str:
        """The client_id, or the name of the API."""
        return identifier_of(self.name)

    @property
    def section(self) -> str:
        """The list of config.yaml that the entry belongs to."""
        return "api_resources" if self.kind == "api" else "clients"

    @property
    def home(self) -> str | None:
        """The page of the application that a browser comes to after a logout; None where it has none."""
        parts = urlsplit(self.redirect_uri)
        is_site = self.kind in {"web", "spa"} and parts.scheme in {"http", "https"}
        return f"{parts.scheme}://{parts.netloc}{self._home_path}" if is_site else None

    @property
    def _home_path(self) -> str:
        is_callback = urlsplit(self.redirect_uri).path in {"", "/"}
        return "/home" if is_callback and self.kind == "web" else "/"

    @property
    def _login(self) -> str | None:
        """The page of the application at which a sign-in begins."""
        path = _LOGIN_PATHS.get(self.framework)
        return None if self.home is None or path is None else urljoin(self.home, path)

    def entry(self) -> dict[str, object]:
        """Return the entry of config.yaml."""
        hashed = [{"sha256": hash_by_sha256(self.secret)}]
        if self.kind == "api":
            shown = {"name": self.identifier, "display_name": self.name}
            return {**shown, "secrets": hashed, "scopes": list(self.scopes)}
        has_secret, is_machine = self.kind in _HAS_SECRET, self.kind == "machine"
        types = ["client_credentials" if is_machine else "authorization_code"]
        is_offline = OFFLINE_ACCESS in self.scopes and not is_machine
        entry: dict[str, object] = {
            "client_id": self.identifier,
            "client_name": self.name,
            "client_uri": self.home,
            "initiate_login_uri": self._login,
            "application_type": "native" if self.kind == "native" else None,
            "client_secrets": hashed if has_secret else None,
            "require_client_secret": None if has_secret else False,
            "allowed_grant_types": [*types, "refresh_token"] if is_offline else types,
            "allow_offline_access": True if is_offline else None,
            "allowed_scopes": [scope for scope in self.scopes if scope != OFFLINE_ACCESS],
            "redirect_uris": [self.redirect_uri] if self.redirect_uri else None,
            "post_logout_redirect_uris": [self.home] if self.home else None,
            "id_token_signed_response_alg": self.algorithm if self.kind in SIGNS_IN else None,
        }
        return {name: value for name, value in entry.items() if value is not None}

    def yaml(self) -> str:
        """Return the entry below its section, as a file of its own or for pasting."""
        dumped: str = yaml.safe_dump(
            [self.entry()], sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None
        )
        return f"{self.section}:\n{indent(dumped, '  ')}".replace("${", "$${")

    def requests(self) -> str:
        """Return shell lines that hold the secret, once, and try the entry."""
        shown = f"# The secret is shown only now:\nexport CLIENT_SECRET={self.secret}\n\n"
        known = shown if self.kind in _HAS_SECRET else ""
        if self.kind == "api":
            about = "# Ask what an access token for this API is worth:"
            return f"{known}{about}\n{self._curl('introspect', token='TOKEN')}"
        scope = " ".join(self.scopes)
        if self.kind == "machine":
            get = self._curl("token", grant_type="client_credentials", scope=scope)
            return f"{known}# Get a token:\n{get}"
        return known + self._sign_in(scope)

    def _sign_in(self, scope: str) -> str:
        verifier = secrets.token_urlsafe(32)
        asked = {
            "client_id": self.identifier,
            "response_type": "code",
            "scope": scope,
            "redirect_uri": self.redirect_uri,
            "code_challenge": s256(verifier),
            "code_challenge_method": "S256",
        }
        redeem = self._curl(
            "token",
            grant_type="authorization_code",
            code="CODE",
            redirect_uri=self.redirect_uri,
            code_verifier=verifier,
        )
        return (
            f"# Open this in a browser and sign in:\n{self.issuer}/connect/authorize?{urlencode(asked)}\n\n"
            f"# Put the code from the address bar in the place of CODE, within a minute:\n{redeem}"
        )

    def _curl(self, endpoint: str, **form: str) -> str:
        if self.kind in _HAS_SECRET:
            words = ["-u", f'"{self.identifier}:$CLIENT_SECRET"']
        else:
            words = ["-d", f"client_id={self.identifier}"]
        for name, value in form.items():
            words += ["--data-urlencode", shlex.quote(f"{name}={value}")]
        return f"curl -s {' '.join(words)} {self.issuer}/connect/{endpoint}; echo"

    def snippet(self, *, algorithm: str) -> str:
        """Return the code for the framework, complete but for the secret."""
        asked = {"client_id": self.identifier, "post_logout_redirect_uri": self.home or ""}
        return _SNIPPETS.get_template(f"{self.kind}-{self.framework}.txt").render(
            asdict(self) | {"algorithm": algorithm},
            client_id=self.identifier,
            redirect=urlsplit(self.redirect_uri),
            home=self.home,
            home_path=self._home_path,
            sign_out=f"{self.issuer}/connect/endsession?{urlencode(asked)}",
        )
