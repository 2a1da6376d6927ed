"""Measures whether many clients and live tokens slow down introspection, and the memory of a token in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from redis import Redis

from benchmarks.clients import with_clients
from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests
from benchmarks.servers import Server, Servers, features_of
from benchmarks.turns import in_turns, ratio
from benchmarks.work import HOUR, authorization_of, basic
from service.model.authorization import Authorization
from service.tokens.liveness import begin
from service.wiring.features import Features

FEW_CLIENTS, FEW_TOKENS = 10, 1000
MANY_CLIENTS = 10_000
ASKED_ABOUT = 50_000
"""Questions that are asked in turns, about as many different tokens at the most."""
BATCH = 500
PROCESSES = 3
"""Of each kind: where a process happens to have its objects in memory is worth some percent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """The handles of the tokens in a Redis, and the memory of each."""

    requests: Requests
    token_bytes: float
    authorization_bytes: float


def measure(effort: Effort) -> list[Finding]:
    """The same introspections with few and with many clients and live tokens."""
    with ExitStack() as stack:
        folder, servers = Path(stack.enter_context(TemporaryDirectory())), Servers(stack)
        filled: dict[str, Filled] = {}
        asked: dict[str, tuple[Server, Requests]] = {}
        sizes = {"few": (FEW_CLIENTS, FEW_TOKENS), "many": (MANY_CLIENTS, effort.tokens)}
        for name, (clients, tokens) in sizes.items():
            redis_url = servers.redis()
            file = with_clients(clients, folder)
            filled[name] = asyncio.run(_fill(redis_url, file, clients, tokens))
            for process in range(PROCESSES):
                server = servers.service(redis_url, configuration=file)
                asked[f"{name} {process}"] = (server, filled[name].requests)
        measured = in_turns(
            asked, rounds=effort.rounds, connections=effort.connections, seconds=effort.seconds
        )
        many, few = (
            [each for process in range(PROCESSES) for each in measured[f"{name} {process}"]]
            for name in ("many", "few")
        )
    return [
        Finding(
            what=f"introspection with {MANY_CLIENTS:,} clients and {effort.tokens:,} tokens, "
            "compared with ten and 1,000",
            figure=ratio(many, few, lambda each: each.per_cpu_second),
            at_least=0.95,
        ),
        Finding(
            what="Redis for each live reference token",
            figure=filled["many"].token_bytes,
            unit="bytes",
            at_most=600,
        ),
        Finding(
            what="Redis for each authorization of a user, found by the subject",
            figure=filled["many"].authorization_bytes,
            unit="bytes",
        ),
    ]


async def _fill(redis_url: str, file: Path, clients: int, tokens: int) -> Filled:
    """As many users' tokens as wanted: first their authorizations, then the tokens themselves."""
    with Redis.from_url(redis_url) as redis:
        async with features_of(redis_url, file) as features:
            made = [authorization_of(f"client{n % clients}") for n in range(tokens)]
            empty = _used(redis)
            for batch in _batches(made):
                await _begin(features, batch)
            with_authorizations = _used(redis)
            written = [token for batch in _batches(made) for token in await _issue(features, batch)]
            full = _used(redis)
    bodies = file.with_suffix(".bodies")
    # As many questions with few tokens as with many: otherwise the generator were slower with many.
    some = written[:: max(tokens // ASKED_ABOUT, 1)] * max(ASKED_ABOUT // tokens, 1)
    bodies.write_text("".join(f"token={token}\n" for token in some))
    return Filled(
        requests=Requests(
            path="/connect/introspect", authorization=basic("api1"), bodies=bodies, in_turns=True
        ),
        token_bytes=(full - with_authorizations) / tokens,
        authorization_bytes=(with_authorizations - empty) / tokens,
    )


async def _begin(features: Features, made: list[Authorization]) -> None:
    writes = [write for each in made for write in begin(features.shared.stores, each, ttl=HOUR)]
    await features.shared.kv.write(*writes)


async def _issue(features: Features, made: list[Authorization]) -> list[str]:
    known = features.shared.registry.current.clients
    tokens, scope = features.access_tokens, frozenset({"openid", "api1"})
    minted = [
        await tokens.mint(
            each,
            known[each.client_id],
            target=tokens.targets.find(each, scope),
            user_claims={},
        )
        for each in made
    ]
    await features.shared.kv.write(*(write for each in minted for write in each.writes))
    return [each.token for each in minted]


def _batches(made: list[Authorization]) -> Iterator[list[Authorization]]:
    for first in range(0, len(made), BATCH):
        yield made[first : first + BATCH]


def _used(redis: Redis) -> int:
    used: int = redis.info("memory")["used_memory"]
    return used
