"""A line of the table, and what the preparations of several lines share."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import ECKey

from benchmarks.load import Requests
from service.clock import clock
from service.model.authorization import Authorization, new_family_key
from service.model.handle import new_selector
from service.store.verbs import Command
from service.tokens.liveness import begin
from service.wiring.features import Features

SECRET, ALICE = "benchmark-secret", "818727"
VERIFIER = "a" * 43
HOUR, DAY = 3600, 86400
USERS = 1000
ACCESS = frozenset({"openid", "api1"})

Prepare = Callable[[Features, Path, int], Awaitable[Requests]]
"""Makes what the work needs, in a folder, for so many requests at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One line of the table."""

    name: str
    prepare: Prepare
    floor: str
    """The path of the bare handler that does the same."""
    at_least: float
    """The ratio to the floor that has to be reached."""
    at_least_of_peer: float | None = None
    """The ratio to node-oidc-provider; None where it does not support the work."""
    beside: tuple[str, float] | None = None
    """Another work, and the part of its requests per CPU-second that has to be reached."""
    round_trips: int
    """To Redis for each request, at the most."""
    once: bool = False
    """Each request uses something up, so that as many have to be prepared as can be served."""
    most_per_second: int = 20_000
    """More than can be served of what is used up."""


def proven(sent: Requests, url: str, file: Path, most: int) -> Requests:
    """A request so many times, each with a proof of its own by one ES256 key (RFC 9449 §4.2)."""
    key = ECKey.generate_key("P-256")
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": key.as_dict(private=False)}
    claims = {"htm": "POST", "htu": url, "iat": clock()}
    proofs = (
        jwt.encode(header, {**claims, "jti": secrets.token_urlsafe(16)}, key) for _ in range(most)
    )
    file.write_text("".join(f"{sent.body}\t{proof}\n" for proof in proofs))
    return replace(sent, body="", bodies=file)


def basic(name: str) -> str:
    """An Authorization header with the one secret of the benchmark."""
    return "Basic " + base64.b64encode(f"{name}:{SECRET}".encode()).decode()


async def user_token(
    features: Features, client_id: str, sub: str = ALICE, scope: frozenset[str] = ACCESS
) -> str:
    """An access token of the user that lives through the benchmark."""
    authorization = authorization_of(client_id, sub)
    client = features.shared.registry.current.clients[client_id]
    tokens = features.access_tokens
    target = tokens.targets.find(authorization, scope)
    minted = await tokens.mint(authorization, client, target=target, user_claims={})
    record = features.shared.stores.authorizations.put(authorization, authorization.id, ttl=HOUR)
    await features.shared.kv.write(record, *minted.writes)
    return minted.token


async def give_authorizations(features: Features, sub: str, count: int) -> None:
    """Let the user have so many authorizations, found by the subject."""
    stores, made = features.shared.stores, (authorization_of(sub=sub) for _ in range(count))
    await write_all(features, [write for one in made for write in begin(stores, one, ttl=DAY)])


def authorization_of(client_id: str = "web", sub: str = ALICE) -> Authorization:
    """A user's, for a client, as a login would have made it."""
    now, scope = clock(), frozenset({"openid", "profile", "api1", "offline_access"})
    return Authorization(
        id=new_selector(),
        client_id=client_id,
        scope=scope,
        subject=sub,
        amr=("pwd",),
        idp="local",
        auth_time=now,
        session_id=new_selector(),
        family_key=new_family_key(scope),
        created_at=now,
    )


async def write_all(features: Features, writes: list[Command]) -> None:
    """Write it to Redis in steps."""
    for first in range(0, len(writes), 1000):
        await features.shared.kv.write(*writes[first : first + 1000])


def each_once(bodies: list[str], file: Path, client: str = "web") -> Requests:
    """Token requests of a client, each of which uses something up."""
    file.write_text("\n".join(bodies) + "\n")
    return Requests(path="/connect/token", authorization=basic(client), bodies=file)


def write_forms(file: Path, forms: Iterable[dict[str, str]]) -> None:
    """Write forms or queries, one in each line."""
    file.write_text("\n".join(map(urlencode, forms)) + "\n")
