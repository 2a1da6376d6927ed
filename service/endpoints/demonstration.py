"""GET / in development: a page to sign in, to get tokens and to read them.

It shows only secrets that it guesses, because the configuration holds hashes: `web-secret` of the client `web`, and the
password `alice` of alice.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import orjson
from aiohttp import encode_basic_auth
from multidict import CIMultiDict, CIMultiDictProxy

from service.authorize.device import PATH as VERIFICATION
from service.clock import clock
from service.identity.passwords import Passwords
from service.keys.jose import looks_like_jwt, unverified_claims, unverified_header
from service.model.authorization import DELEGATION
from service.model.client import Client
from service.model.polling import CIBA, DEVICE_CODE
from service.model.registry import Registry
from service.model.request_context import request_id
from service.model.secret import verifies_any
from service.protocol.errors import InvalidRequest
from service.protocol.paths import (
    BACKCHANNEL_AUTHENTICATION,
    DEVICE_AUTHORIZATION,
    INTROSPECTION,
    REQUESTS,
    REVOCATION,
    TOKEN,
)
from service.protocol.pkce import s256
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.uris import is_loopback
from service.web.endpoint import Answer, Direct, Message, WholeRequest, see_other
from service.web.gate import REQUEST_ID, Gate
from service.web.parameters import FORM
from service.web.visits import Visits, csrf_token

PATH = "/"
TEMPLATE = "demonstration.html"
MOST = 12
"""Users and clients on the page; guessing a password takes as long as a sign-in."""
LONGEST = 60
"""Characters of a value that are shown of an answer."""


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


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """Sends requests as programs would, one after the other, and keeps their answers."""

    issuer: str
    registry: Registry
    secrets: Mapping[str, str]
    """Those that may be shown, by the name of their client or API."""
    send: Callable[[WholeRequest], Awaitable[Answer]]
    steps: list[Mapping[str, Any]] = msgspec.field(default_factory=list[Mapping[str, Any]])
    """Each request and its answer, with header and claims of the JWTs in it, by their member."""

    async def ask(self, name: str, caller: str, path: str, **form: str) -> dict[str, object]:
        """Post a form as this client or API, and return the answer."""
        secret, curl = self.secrets.get(caller), ["curl", "-s"]
        headers = {"Content-Type": FORM, REQUEST_ID: request_id() or ""}
        if secret is None:
            form = {"client_id": caller} | form
        else:
            headers["Authorization"] = encode_basic_auth(caller, secret)
            curl += ["-u", f"{caller}:{secret}"]
        for item in form.items():
            curl += ["-d", "=".join(item)]
        request = WholeRequest(
            method="POST",
            path=path,
            headers=CIMultiDictProxy(CIMultiDict(headers)),
            body=urlencode(form).encode(),
            remote=None,
        )
        answer = await self.send(request)
        content: dict[str, object] = orjson.loads(answer.body) if answer.body else {}
        step = {
            "name": name,
            "caller": caller,
            "form": form,
            "curl": shlex.join([*curl, self.issuer.rstrip("/") + path]) + "; echo",
            "status": answer.status,
            "answer": _pretty({n: _shorten(v) for n, v in content.items()}) if answer.body else "",
            "tokens": dict(_decode_tokens(content)),
        }
        self.steps.append(step)
        return content

    async def follow(self, answer: Mapping[str, object], *, has_user: bool) -> None:
        """Introspect an access token at its API; a token of a user is delegated to the next API, too."""
        token, api = answer.get("access_token"), self._api_of(answer)
        if not isinstance(token, str) or api is None:
            return
        await self.ask("introspection", api, INTROSPECTION, token=token)
        for client in self.registry.clients.values() if has_user else ():
            if client.api_resource == api and "delegation" in client.allowed_grant_types:
                scope = " ".join(sorted(client.allowed_scopes))
                form = {"grant_type": "delegation", "token": token, "scope": scope}
                answer = await self.ask("delegation", client.client_id, TOKEN, **form)
                delegated, next_api = answer.get("access_token"), self._api_of(answer)
                if isinstance(delegated, str) and next_api is not None:
                    await self.ask("not-addressed", next_api, INTROSPECTION, token=token)
                    await self.ask("delegated", next_api, INTROSPECTION, token=delegated)

    def _api_of(self, answer: Mapping[str, object]) -> str | None:
        """Return an API that the token of this answer is for, and whose secret may be shown."""
        scope, by_scope = str(answer.get("scope", "")).split(), self.registry.resources_by_scope
        apis = [api.name for each in scope for api in by_scope.get(each, ())]
        return next((name for name in apis if name in self.secrets), None)


class DemonstrationEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Sends requests as users and clients whose secrets it guesses."""

    visits: Visits
    passwords: Passwords
    find_gate: Callable[[], Gate]
    """Finds the gate through which it sends them."""
    _guessed: dict[tuple[str, str | None], bool] = msgspec.field(
        default_factory=dict[tuple[str, str | None], bool]
    )
    """Whether a name is the password of a hash; tried once, because anybody can open the page."""

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        """Show users and clients, or after a sign-in what its code is for."""
        if _is_other_loopback_name(request.headers.get("Host", ""), self._home):
            return see_other(self._home)
        visit = await self.visits.open_page(request)
        browser, params = visit.visitor.browser, visit.params
        story, code, state = self._story(), params.get("code"), params.get("state") or ""
        client_id = state.partition(".")[2]
        is_ours = state == _state(browser, client_id)
        context: dict[str, object] = {"error": params.get("error") if is_ours else None}
        if code and is_ours:
            form = {"grant_type": "authorization_code", "code": code}
            form |= {"redirect_uri": self._home, "code_verifier": _verifier(browser)}
            await story.follow(await story.ask("code", client_id, TOKEN, **form), has_user=True)
            context |= _shown(story)
        else:
            clients = [*self._clients(story.secrets, browser)]
            start = next((each["sign_in"] for each in clients if each["sign_in"]), None)
            people = await self._people(start)
            self._add_requests(clients, people[0]["user"].username if people else None)
            context |= {"clients": clients, "people": people}
        return self.visits.show(visit, TEMPLATE, context=context)

    async def submit(self, request: Message) -> Answer:
        """Get a client's own token, or revoke a token and introspect the one that was derived from it."""
        visit = await self.visits.open_form(request)
        params = visit.params
        story, client_id = self._story(), params.require("client_id")
        match params.get("action"):
            case "token":
                own = await story.ask("own", client_id, TOKEN, grant_type="client_credentials")
                await story.follow(own, has_user=False)
            case "revoke":
                api, delegated = params.require("api"), params.require("delegated")
                await story.ask("revocation", client_id, REVOCATION, token=params.require("token"))
                await story.ask("ended", api, INTROSPECTION, token=delegated)
            case _:
                raise InvalidRequest("action is neither token nor revoke")
        return self.visits.show(visit, TEMPLATE, context=_shown(story))

    @property
    def _home(self) -> str:
        return self.visits.flow.reader.issuer.rstrip("/") + PATH

    def _story(self) -> Story:
        flow = self.visits.flow
        registry = flow.registry.current
        known = {name: each.client_secrets for name, each in registry.clients.items()}
        known |= {name: api.secrets for name, api in registry.api_resources.items() if api.secrets}
        secrets = {
            name: f"{name}-secret"
            for name, hashes in known.items()
            if verifies_any(hashes, f"{name}-secret", now=clock())
        }
        gate = self.find_gate()

        async def send(sent: WholeRequest) -> Answer:
            route = gate.direct.find(sent.method, sent.path)
            assert route is not None, "the story asks only what programs ask"  # noqa: S101
            answer = gate.answer_whole(sent, route)
            return answer if isinstance(answer, Answer) else await answer

        return Story(issuer=flow.reader.issuer, registry=registry, secrets=secrets, send=send)

    def _clients(self, secrets: Mapping[str, str], browser: str) -> Iterator[dict[str, Any]]:
        """Yield the clients that can be used without a secret or with a guessed one."""
        clients = [each for each in self.visits.registry.clients.values() if each.enabled]
        usable = (each for each in clients if each.is_public or each.client_id in secrets)
        for client in islice(usable, MOST):
            yield {
                "client": client,
                "secret": secrets.get(client.client_id),
                "sign_in": self._sign_in_uri(client, browser),
                "acts_for_itself": "client_credentials" in client.allowed_grant_types,
            }

    def _add_requests(self, clients: Iterable[dict[str, Any]], username: str | None) -> None:
        """Add to each client without a button the request that it begins with."""
        for each in clients:
            if username and not each["sign_in"] and not each["acts_for_itself"]:
                each["request"] = find_first_request(
                    each["client"],
                    secret=each["secret"],
                    username=username,
                    issuer=self.visits.flow.reader.issuer,
                )

    async def _people(self, sign_in: object) -> list[dict[str, Any]]:
        """Return the users whose password is their name, with a link to sign in."""
        people: list[dict[str, Any]] = []
        for user in self.visits.registry.users[:MOST]:
            guess = (user.username, user.password)
            if user.enabled and guess not in self._guessed:
                self._guessed[guess] = await self.passwords.verifies(*guess)
            if user.enabled and self._guessed[guess]:
                hint = urlencode({"login_hint": user.username, "prompt": "login"})
                people.append({"user": user, "sign_in": sign_in and f"{sign_in}&{hint}"})
        return people

    def _sign_in_uri(self, client: Client, browser: str) -> str | None:
        """Return an authorization request of the client; None unless this page is a redirect URI of it."""
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
        return f"{self.visits.pages.url('/connect/authorize')}?{urlencode(request)}"


def _is_other_loopback_name(host: str, home: str) -> bool:
    """Return whether the host is another name of this machine, such as 127.0.0.1, which has its own cookies.

    Another host comes from a proxy; redirecting from it would never end.
    """
    own, (name, _, port) = urlsplit(home), host.lower().rpartition(":")
    name = name.strip("[]")
    return is_loopback(name) and name != own.hostname and port == str(own.port)


def _state(browser: str, client_id: str) -> str:
    """Return a proof that this browser began the sign-in to this client."""
    return f"{csrf_token(f'{browser} {client_id}')}.{client_id}"


def _verifier(browser: str) -> str:
    """Derive a PKCE verifier from the browser, so that nothing has to be stored."""
    return sha256(f"code_verifier {browser}".encode()).hexdigest()


def _shown(story: Story) -> dict[str, object]:
    """Return the steps for the page, and the tokens for the next ones."""
    tokens = {step["name"]: step["form"].get("token") for step in story.steps}
    return {
        "steps": story.steps,
        "client_id": story.steps[0]["caller"],
        "api": story.steps[-1]["caller"],
        "token": tokens.get("introspection"),
        "delegated": tokens.get("delegated"),
    }


def _pretty(content: object) -> str:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()


def _shorten(value: object) -> object:
    return f"{value[:LONGEST]}…" if isinstance(value, str) and len(value) > LONGEST else value


def _decode_tokens(content: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for member in ("access_token", "id_token"):
        token = content.get(member)
        if isinstance(token, str) and looks_like_jwt(token):
            header = orjson.dumps(unverified_header(token)).decode()
            yield member, f"{header}.{_pretty(unverified_claims(token))}"
