"""Drafts a client or an API: its entry for config.yaml, and requests that try it."""

from __future__ import annotations

import re
import secrets
import shlex
from dataclasses import dataclass
from textwrap import indent
from typing import Literal
from urllib.parse import urlencode

import yaml

from service.cli.credentials import hash_of
from service.protocol.pkce import s256
from service.protocol.scope import OFFLINE_ACCESS

Kind = Literal["web", "spa", "native", "machine", "api"]
KINDS: dict[Kind, str] = {
    "web": "a web application with a server of its own",
    "spa": "an application that runs in the browser",
    "native": "an application on a phone or a desktop",
    "machine": "a program that acts for itself",
    "api": "an API that is called with tokens",
}
SIGNS_IN = frozenset({"web", "spa", "native"})
_HAS_SECRET = frozenset({"web", "machine", "api"})


def identifier_of(name: str) -> str:
    """Return the name in the lower-case letters, digits and hyphens of an identifier."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A client or an API that an operator wants."""

    kind: Kind
    name: str
    scopes: tuple[str, ...]
    redirect_uri: str
    """Empty if no user signs in."""
    issuer: str
    """Without a slash at its end."""
    secret: str

    @property
    def identifier(self) -> str:
        """The client_id, or the name of the API."""
        return identifier_of(self.name)

    @property
    def section(self) -> str:
        """The list of config.yaml that the entry belongs to."""
        return "api_resources" if self.kind == "api" else "clients"

    def entry(self) -> dict[str, object]:
        """Return the entry of config.yaml."""
        hashed = [{"sha256": hash_of(self.secret)}]
        if self.kind == "api":
            shown = {"name": self.identifier, "display_name": self.name}
            return {**shown, "secrets": hashed, "scopes": list(self.scopes)}
        entry: dict[str, object] = {"client_id": self.identifier, "client_name": self.name}
        if self.kind == "native":
            entry["application_type"] = "native"
        if self.kind in _HAS_SECRET:
            entry["client_secrets"] = hashed
        else:
            entry["require_client_secret"] = False
        return entry | self._grants()

    def _grants(self) -> dict[str, object]:
        scopes = [scope for scope in self.scopes if scope != OFFLINE_ACCESS]
        if self.kind == "machine":
            return {"allowed_grant_types": ["client_credentials"], "allowed_scopes": scopes}
        grants: dict[str, object] = {"allowed_grant_types": ["authorization_code"]}
        if OFFLINE_ACCESS in self.scopes:
            types = ["authorization_code", "refresh_token"]
            grants = {"allowed_grant_types": types, "allow_offline_access": True}
        return grants | {"allowed_scopes": scopes, "redirect_uris": [self.redirect_uri]}

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
