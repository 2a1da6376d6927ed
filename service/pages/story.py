"""Sends the requests that the start page shows, as programs would, and keeps their answers."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson
from aiohttp import encode_basic_auth
from multidict import CIMultiDict, CIMultiDictProxy

from service.http.answer import Answer
from service.http.gate import REQUEST_ID
from service.http.message import WholeRequest
from service.http.parameters import FORM
from service.keys.jose import looks_like_jwt, unverified_claims, unverified_header
from service.model.events import current_request_id
from service.model.registry import Registry

LONGEST = 60
"""Characters of a value that are shown of an answer."""
TOKEN, INTROSPECTION, REVOCATION = "/connect/token", "/connect/introspect", "/connect/revocation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Sends the requests, one after the other."""

    issuer: str
    registry: Registry
    secrets: Mapping[str, str]
    """Those that may be shown, by the name of their client or API."""
    send: Callable[[WholeRequest], Awaitable[Answer]]
    steps: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """Each request and its answer, with header and claims of the JWTs in it, by their member."""

    async def ask(self, name: str, caller: str, path: str, **form: str) -> dict[str, object]:
        """Post a form as this client or API, and return the answer."""
        secret, curl = self.secrets.get(caller), ["curl", "-s"]
        headers = {"Content-Type": FORM, REQUEST_ID: current_request_id.get() or ""}
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
