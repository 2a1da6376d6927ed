"""GitHub's OAuth web application flow as its documentation describes it: no ID token, forms for answers, errors with status 200.

https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from aiohttp import web

from service.protocol.pkce import s256
from tests.driving.browser import Page

OCTOCAT = {
    "login": "octocat",
    "id": 583231,
    "node_id": "MDQ6VXNlcjU4MzIzMQ==",
    "avatar_url": "https://avatars.example/u/583231",
    "html_url": "https://github.example/octocat",
    "type": "User",
    "site_admin": False,
    "name": "The Octocat",
    "email": "octocat@github.example",
}
"""What `GET /user` says, in part."""


@dataclass
class GitHub:
    """One user, one OAuth app, and what a test changes of both."""

    url: str = ""
    user: dict[str, Any] = field(default_factory=lambda: dict(OCTOCAT))
    token: dict[str, str] = field(default_factory=dict)
    instead: Callable[[web.Request], Awaitable[web.Response]] | None = None
    asked: dict[str, str] = field(default_factory=dict)
    forms: list[dict[str, Any]] = field(default_factory=list)

    def entry(self, **changes: Any) -> dict[str, Any]:
        """The entry of config.yaml, as docs/identity-providers.md has it, at this address."""
        return {
            "name": "github",
            "display_name": "GitHub",
            "kind": "oauth2",
            "authorization_endpoint": f"{self.url}/login/oauth/authorize",
            "token_endpoint": f"{self.url}/login/oauth/access_token",
            "userinfo_endpoint": f"{self.url}/user",
            "subject_claim": "id",
            "client_id": "Iv1.app",
            "client_secret": "app-secret",
            "token_endpoint_auth_method": "client_secret_post",
            "scopes": ["read:user", "user:email"],
            "claims": {"login": "preferred_username", "avatar_url": "picture"},
        } | changes

    def answer(self, sent: Page, **changes: str) -> str:
        """Redirect the browser after the user has authorized the app."""
        self.asked = sent.parameters
        query = {"code": "a-code", "state": self.asked["state"]} | changes
        return f"{self.asked['redirect_uri']}?{urlencode(query)}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        if self.instead is not None:
            return await self.instead(request)
        match request.path:
            case "/login/oauth/access_token":
                return await self._exchange(request)
            case "/user":
                return self._user(request)
            case _:
                return web.json_response({"message": "Not Found"}, status=404)

    async def _exchange(self, request: web.Request) -> web.Response:
        form = {**(await request.post())}
        self.forms.append(form)
        verifier = s256(str(form.get("code_verifier", "")))
        if (form.get("client_id"), form.get("client_secret")) != ("Iv1.app", "app-secret"):
            answer = {"error": "incorrect_client_credentials"}
        elif form.get("redirect_uri") != self.asked["redirect_uri"]:
            answer = {"error": "redirect_uri_mismatch"}
        elif form.get("code") != "a-code" or verifier != self.asked["code_challenge"]:
            answer = {"error": "bad_verification_code", "error_description": "The code is wrong."}
        else:
            token = {"access_token": "gho_token", "scope": "read:user,user:email"}
            answer = token | {"token_type": "bearer"} | self.token
        if request.headers.get("Accept") == "application/json":
            return web.json_response(answer)
        form_type = "application/x-www-form-urlencoded"
        return web.Response(text=urlencode(answer), content_type=form_type)

    def _user(self, request: web.Request) -> web.Response:
        if "User-Agent" not in request.headers:
            return web.Response(status=403)
        if request.headers.get("Authorization") != "Bearer gho_token":
            return web.json_response({"message": "Bad credentials"}, status=401)
        return web.json_response(self.user)
