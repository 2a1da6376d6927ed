"""Checks after the load that everything handed out is still good, and everything spent still spent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator

from tests.chaos.ledger import NEVER, OneTime, Token
from tests.chaos.machines import introspect
from tests.chaos.site import Site
from tests.chaos.spending import spend

AT_ONCE = 16
REPLAYS = 40
"""How many codes, and refresh tokens, are presented once more at most."""


async def verify(site: Site) -> None:
    """Ask about every token, present again what was spent, and ask again about what has ended thereby."""
    ledger = site.ledger
    ledger.tokens += _unused(ledger.refresh_tokens.values())
    await _all(introspect(site, token) for token in ledger.tokens)
    spent = [*_spent(ledger.codes), *_spent(list(ledger.refresh_tokens.values()))]
    await _all(spend(site, each, work="replay") for each in spent)
    over = {each.grant for each in spent}
    await _all(introspect(site, token) for token in ledger.tokens if token.grant in over)


def _unused(refresh_tokens: Iterable[OneTime]) -> Iterator[Token]:
    """The newest refresh token of each family, about which its client may ask."""
    for each in refresh_tokens:
        if not each.attempts and each.grant.may_have_ended == NEVER:
            yield Token(each.value, each.grant, each.acknowledged, each.client, waited=True)


def _spent(ones: list[OneTime]) -> list[OneTime]:
    """The oldest and the newest of those that were used; a lenient one may be repeated in earnest."""
    used = [one for one in ones if one.successes and not one.lenient]
    return used if len(used) <= REPLAYS else used[: REPLAYS // 2] + used[-REPLAYS // 2 :]


async def _all(works: Iterable[Awaitable[object]]) -> None:
    """Run all of it, so many at once."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(work: Awaitable[object]) -> None:
        async with turn:
            await work

    await asyncio.gather(*(one(work) for work in works))
