"""The front end: signs Alice in by authorization code with PKCE, and tells what the APIs answer.

python front_end.py ISSUER API1 API2
"""

from __future__ import annotations

import asyncio
import html
import json
import re
import secrets
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from aiohttp import ClientSession, CookieJar, encode_basic_auth

CREDENTIALS = {"Authorization": encode_basic_auth("frontend", "frontend-secret")}
Claims = dict[str, Any]
REDIRECT_URI = "http://localhost:3000/callback"


async def tell(issuer: str, api1: str, api2: str) -> None:
    """The story, line by line."""
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as http:
        token = await sign_in(http, issuer)
        say("front end", "Alice has signed in; the front end holds a token for API 1")
        said = await call(http, f"{api2}/numbers", token)
        say("front end → API 2", f"with the token for API 1: {said}")
        status, report = await ask(http, f"{api1}/report", token)
        tokens = report["api2_says"].pop("tokens")
        say("front end → API 1", f"with the same token: {status} {json.dumps(report)}")
        show({"the user's token": claims_of(token), **tokens})
        await http.post(f"{issuer}/connect/revocation", data={"token": token}, headers=CREDENTIALS)
        say(
            "front end",
            "the token is revoked; to API 1, which checks JWTs itself, it still looks good",
        )
        said = await call(http, f"{api1}/report", token)
        say("front end → API 1", f"with the revoked token: {said}")


async def sign_in(http: ClientSession, issuer: str) -> str:
    """An access token of Alice's (RFC 6749 §4.1, RFC 7636)."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(16)
    request = {
        "client_id": "frontend",
        "response_type": "code",
        "scope": "openid api1",
        "redirect_uri": REDIRECT_URI,
        "state": state,
        "code_challenge": s256(verifier),
        "code_challenge_method": "S256",
    }
    answer = await as_alice(http, f"{issuer}/connect/authorize?{urlencode(request)}")
    if answer["state"] != state or answer["iss"] != issuer:
        raise SystemExit("the answer is not to our request")
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": REDIRECT_URI,
        "code_verifier": verifier,
    }
    async with http.post(f"{issuer}/connect/token", data=form, headers=CREDENTIALS) as response:
        tokens = await response.json()
    return tokens["access_token"]


async def as_alice(http: ClientSession, url: str) -> dict[str, str]:
    """Act as Alice's browser: show the login page, send it, come back to the front end."""
    async with http.get(url) as response:
        page, shown_at = await response.text(), str(response.url)
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    form |= {"username": "alice", "password": "alice", "action": "login"}
    action = html.unescape(re.findall(r'<form[^>]* action="([^"]*)"', page)[0])
    async with http.post(urljoin(shown_at, action), data=form, allow_redirects=False) as response:
        query = urlsplit(response.headers["Location"]).query
    return {name: values[0] for name, values in parse_qs(query).items()}


async def call(http: ClientSession, url: str, token: str) -> str:
    """Status and body of an API's answer."""
    status, body = await ask(http, url, token)
    return f"{status} {json.dumps(body)}"


async def ask(http: ClientSession, url: str, token: str) -> tuple[int, Claims]:
    """Status and JSON of an API's answer."""
    async with http.get(url, headers={"Authorization": f"Bearer {token}"}) as response:
        return response.status, await response.json()


def claims_of(token: str) -> Claims:
    """Return the claims of a JWT, for the table only: a client does not look into access tokens."""
    payload = token.split(".")[1]
    claims: Claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def show(tokens: dict[str, Claims]) -> None:
    """Print the tokens of one call side by side."""
    print()
    line("", *tokens)
    for name in ("aud", "sub", "scope", "client_id", "act", "req_wl", "tctx"):
        line(name, *(text_of(claims.get(name)) for claims in tokens.values()))
    print(flush=True)


def text_of(value: Any) -> str:
    """A claim in a few characters; `act` as the chain of actors, the last one first."""
    if isinstance(value, dict) and "sub" in value:
        before = text_of(value.get("act"))
        return f"{value['sub']} after {before}" if before else str(value["sub"])
    return value or "" if isinstance(value, str | None) else json.dumps(value)


def line(first: str, *cells: str) -> None:
    """One line of the table."""
    print(f"{first:>10}  {''.join(f'{cell:22}' for cell in cells)}".rstrip())


def s256(verifier: str) -> str:
    """The challenge of a verifier (RFC 7636 §4.2)."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def say(who: str, what: str) -> None:
    """One line of the story."""
    print(f"{who:>18}: {what}", flush=True)


if __name__ == "__main__":
    asyncio.run(tell(*sys.argv[1:4]))
