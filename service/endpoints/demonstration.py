"""GET / of a service in development: a page to sign in, to get tokens and to look into them.

The configuration holds hashes of secrets only. The page shows a secret that anybody could guess: the one of the client
`web` is `web-secret`, and the password of alice is `alice`. No other secret can get onto the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlencode, urlsplit

from aiohttp import web

from service.config.rules.uris import is_loopback
from service.http.answer import see_other
from service.http.gate import GATE
from service.identity.passwords import Passwords
from service.model.client import Client, verifies_any
from service.model.registry import LiveRegistry
from service.model.user import User
from service.pages.csrf import csrf_token
from service.pages.error_page import ErrorPages
from service.pages.sign_in_pages import SignInPages
from service.pages.story import INTROSPECTION, REVOCATION, TOKEN, Story
from service.protocol.errors import InvalidRequest
from service.protocol.pkce import s256
from service.protocol.scope import OFFLINE_ACCESS

PATH = "/"
TEMPLATE = "demonstration.html"
MOST = 12
"""How many people and clients are shown; to guess a password takes as long as to sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemonstrationEndpoint:
    """Sends requests in the names of people and clients whose secrets can be guessed."""

    issuer: str
    registry: LiveRegistry
    sign_in: SignInPages
    passwords: Passwords
    errors: ErrorPages
    now: Callable[[], int]
    _guessed: dict[tuple[str, str | None], bool] = field(
        default_factory=dict[tuple[str, str | None], bool], init=False
    )
    """Whether a name is the password behind a hash; it is tried once, because anybody can ask for the page."""

    def routes(self) -> Iterable[web.RouteDef]:
        return self.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: web.Request) -> web.Response:
        """Show people and clients, or after a sign-in what its code is good for."""
        if _has_another_name(request.headers.get("Host", ""), self.issuer):
            return see_other(self._home)
        visit = await self.sign_in.open_page(request)
        visitor, params = visit.visitor, visit.params
        story, code, state = self._story(request), params.get("code"), params.get("state") or ""
        client_id = state.partition(".")[2]
        is_ours = state == _state(visitor.browser, client_id)
        context: dict[str, object] = {"error": params.get("error") if is_ours else None}
        if code and is_ours:
            form = {"grant_type": "authorization_code", "code": code}
            form |= {"redirect_uri": self._home, "code_verifier": _verifier(visitor.browser)}
            await story.follow(await story.ask("code", client_id, TOKEN, **form), has_user=True)
            context |= _shown(story)
        else:
            clients = [*self._clients(story.secrets, visitor.browser)]
            start = next((each["sign_in"] for each in clients if each["sign_in"]), None)
            context |= {"clients": clients, "people": [*await self._people(start)]}
        return self.sign_in.show(visit, TEMPLATE, context=context)

    async def submit(self, request: web.Request) -> web.Response:
        """Get a client's own token, or revoke a token and ask about the one that was made from it."""
        visit = await self.sign_in.open_form(request)
        params = visit.params
        story, client_id = self._story(request), params.require("client_id")
        match params.get("action"):
            case "token":
                form = {"grant_type": "client_credentials"}
                own = await story.ask("own", client_id, TOKEN, **form)
                await story.follow(own, has_user=False)
            case "revoke":
                api, delegated = params.require("api"), params.require("delegated")
                await story.ask("revocation", client_id, REVOCATION, token=params.require("token"))
                await story.ask("ended", api, INTROSPECTION, token=delegated)
            case _:
                raise InvalidRequest("action is neither token nor revoke")
        return self.sign_in.show(visit, TEMPLATE, context=_shown(story))

    @property
    def _home(self) -> str:
        """The redirect URI of a client that people may sign in to on this page."""
        return self.issuer.rstrip("/") + PATH

    def _story(self, request: web.Request) -> Story:
        registry, now = self.registry.current, self.now()
        guesses = {name: f"{name}-secret" for name in (*registry.clients, *registry.api_resources)}
        known = {name: each.client_secrets for name, each in registry.clients.items()}
        known |= {
            name: each.secrets for name, each in registry.api_resources.items() if each.secrets
        }
        return Story(
            issuer=self.issuer,
            registry=registry,
            secrets={
                name: guess
                for name, guess in guesses.items()
                if verifies_any(known.get(name, ()), guess, now=now)
            },
            send=request.app[GATE].answer_whole,
        )

    def _clients(self, secrets: Mapping[str, str], browser: str) -> Iterator[dict[str, object]]:
        """Give the clients that can be used with what the page shows, and how to begin."""
        shown = [
            each
            for each in self.registry.current.clients.values()
            if each.enabled and (each.is_public or each.client_id in secrets)
        ]
        for client in shown[:MOST]:
            yield {
                "client": client,
                "secret": secrets.get(client.client_id),
                "sign_in": self._sign_in_uri(client, browser),
                "acts_for_itself": "client_credentials" in client.allowed_grant_types,
            }

    async def _people(self, sign_in: object) -> list[dict[str, object]]:
        """Return the people whose password is their name, and where they sign in."""
        people: list[dict[str, object]] = []
        for user in self.registry.current.users[:MOST]:
            if user.enabled and await self._is_guessed(user):
                hint = urlencode({"login_hint": user.username, "prompt": "login"})
                people.append({"user": user, "sign_in": sign_in and f"{sign_in}&{hint}"})
        return people

    async def _is_guessed(self, user: User) -> bool:
        guess = (user.username, user.password)
        if guess not in self._guessed:
            self._guessed[guess] = await self.passwords.verifies(*guess)
        return self._guessed[guess]

    def _sign_in_uri(self, client: Client, browser: str) -> str | None:
        """Return the authorization request of a client whose redirect URI this page is."""
        if self._home not in client.redirect_uris or "code" not in client.allowed_response_types:
            return None
        request = {
            "client_id": client.client_id,
            "response_type": "code",
            "scope": " ".join(sorted(client.allowed_scopes - {OFFLINE_ACCESS})),
            "redirect_uri": self._home,
            "state": _state(browser, client.client_id),
            "code_challenge": s256(_verifier(browser)),
            "code_challenge_method": "S256",
        }
        return f"{self.sign_in.pages.url('/connect/authorize')}?{urlencode(request)}"


def _has_another_name(host: str, issuer: str) -> bool:
    """Whether a host is this machine by another name, such as 127.0.0.1, for which the browser keeps other cookies.

    Any other host is one that a proxy puts into the header; to follow it would go round in circles.
    """
    own = urlsplit(issuer)
    name, _, port = host.lower().rpartition(":")
    name = name.strip("[]")
    return is_loopback(name) and name != own.hostname and port == str(own.port)


def _state(browser: str, client_id: str) -> str:
    """Return what shows that this browser has begun to sign in to this client."""
    return f"{csrf_token(f'{browser} {client_id}')}.{client_id}"


def _verifier(browser: str) -> str:
    """Return a PKCE verifier that only this browser causes, so that nothing has to be stored."""
    return sha256(f"code_verifier {browser}".encode()).hexdigest()


def _shown(story: Story) -> dict[str, object]:
    """Return the steps for the page, and the tokens with which the story goes on."""
    tokens = {step.name: step.form.get("token") for step in story.steps}
    return {
        "steps": story.steps,
        "client_id": story.steps[0].caller,
        "api": story.steps[-1].caller,
        "token": tokens.get("introspection"),
        "delegated": tokens.get("delegated"),
    }
