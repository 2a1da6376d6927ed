"""Load without people: tokens of clients for themselves, token exchange, introspection, checks of a gateway, discovery and JWKS."""

from __future__ import annotations

import random
from itertools import cycle
from time import monotonic

from service.protocol.token_types import GRANT_TYPE, uri_of
from tests.chaos.answers import Answer
from tests.chaos.ledger import Life, Signed, Token
from tests.chaos.site import Site
from tests.driving.registry import secret_of
from tests.driving.service import basic, header_of

API, NEXT_API = "api1", "api2"
USERS = "frontend"
"""The client that gets tokens of users."""
REFERENCE, JWT = "robot", "machine"
"""Clients that get tokens of that type; see tests/registry.yaml."""
DOCUMENTS = ("openid-configuration", "oauth-authorization-server", "jwks.json")
REVOKED = 0.1
"""The share of a machine's tokens that it gives back."""


async def machine(site: Site) -> None:
    """Gets tokens for itself, reference and JWT in turns, and revokes some."""
    for client in cycle((REFERENCE, JWT)):
        if not site.under_load:
            return
        form = {"grant_type": "client_credentials", "scope": API}
        answer = await site.caller.post(
            "client_credentials", f"{site.url}/connect/token", auth=client, **form
        )
        if answer.good:
            token = acknowledge(site, answer, Life())
            if random.random() < REVOKED:  # noqa: S311 - to mix the load
                await revoke(site, token, client)
        await site.pause()


async def exchanger(site: Site) -> None:
    """Gets a user's token and exchanges it (RFC 8693); with the one that it gives back, the other has to end."""
    while site.under_load:
        password = {"grant_type": "password", "username": "alice", "password": "alice-password"}
        url = f"{site.url}/connect/token"
        given = await site.caller.post("password", url, auth=USERS, **password, scope=API)
        if given.good:
            source = acknowledge(site, given, Life())
            form = {"grant_type": GRANT_TYPE, "subject_token": source.value, "scope": NEXT_API}
            form["subject_token_type"] = uri_of("access_token")
            answer = await site.caller.post("exchange", url, auth=API, **form)
            if answer.good:
                value = answer.content["access_token"]
                site.ledger.tokens.append(Token(value, source.own, answer.ended, NEXT_API))
            if random.random() < REVOKED:  # noqa: S311 - to mix the load
                await revoke(site, source, USERS)
        await site.pause()


async def api(site: Site) -> None:
    """Asks about tokens that somebody has been given, old ones and new ones."""
    while site.under_load:
        tokens = [token for token in site.ledger.tokens if token.asker in {API, NEXT_API}]
        if tokens:
            recent = random.choice((tokens, tokens[-50:]))  # noqa: S311 - to mix the load
            await introspect(site, random.choice(recent))  # noqa: S311
        await site.pause()


async def gateway(site: Site) -> None:
    """Asks as a proxy does whether requests with these tokens may pass, which is as introspection would say."""
    while site.under_load:
        tokens = [token for token in site.ledger.tokens if token.asker == API]
        if tokens:
            recent = random.choice((tokens, tokens[-50:]))  # noqa: S311 - to mix the load
            await check(site, random.choice(recent))  # noqa: S311
        await site.pause()


async def reader(site: Site) -> None:
    """Reads the documents that have to be there whatever happens to the store."""
    for path in cycle(DOCUMENTS):
        if not site.under_load:
            return
        await site.caller.get("discovery", f"{site.url}/.well-known/{path}")
        await site.pause()


async def introspect(site: Site, token: Token) -> None:
    """Ask about one token, and write down what was said."""
    url = f"{site.url}/connect/introspect"
    token.asked(await site.caller.post("introspect", url, auth=token.asker, token=token.value))


async def check(site: Site, token: Token) -> None:
    """Ask about a request with one token, and write down whether it may pass."""
    shown = basic(API, secret_of(API))
    headers = {"Authorization": f"Bearer {token.value}", "X-Check-Authorization": shown}
    url = f"{site.url}/connect/check/{API}"
    token.checked(await site.caller.send("check", "GET", url, headers=headers))


async def revoke(site: Site, token: Token, client: str, *, whole_grant: bool = False) -> None:
    """Give a token back; a refresh token takes its grant along."""
    life = token.grant if whole_grant else token.own
    life.may_end(monotonic())
    url = f"{site.url}/connect/revocation"
    answer = await site.caller.post("revoke", url, auth=client, token=token.value)
    if answer.good:
        life.end(answer.ended)


def acknowledge(site: Site, answer: Answer, grant: Life, *, waited: bool = False) -> Token:
    """Write down the access token of an answer."""
    value = answer.content["access_token"]
    token = Token(value, grant, answer.ended, API, waited=waited)
    site.ledger.tokens.append(token)
    if value.count(".") == 2:
        site.ledger.signed.append(Signed(header_of(value)["kid"], answer.began))
    return token
