"""A client with a server of its own that publishes its keys, and the service's view of both."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import time_machine
from msgspec import structs

from service.clients.keys import ClientKeys
from service.clients.published_keys import PublishedKeys
from service.config.convert import convert
from service.config.registry import build_registry
from service.config.schema.file import ConfigurationFile
from service.keys.foreign_keys import UNNAMED
from service.keys.jose import Key, VerifiedClaims
from service.keys.keyring import KeyRing
from service.model.client import Client
from service.model.outgoing import ClientHttp
from service.outgoing.guard import AddressPolicy
from service.outgoing.http_client import OutgoingHttp
from tests.driving.key_server import KeyServer, publishing

JWT = {UNNAMED, "jwt"}
RS256 = {"RS256"}


@pytest.fixture
async def server() -> AsyncIterator[KeyServer]:
    """A server on loopback."""
    async with publishing() as server:
        yield server


@dataclass
class Party:
    """One client as the service knows it, and what it signs."""

    keys: ClientKeys
    client: Client
    traveller: time_machine.Traveller

    async def verify(self, token: str, algorithms: set[str] = RS256) -> VerifiedClaims:
        """Verify a JWT of this client."""
        return await self.keys.verify(token, self.client, algorithms=algorithms, typ=JWT)

    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self.traveller.shift(seconds)

    def but(self, **changes: Any) -> Party:
        """The same client, registered a little differently."""
        return replace(self, client=structs.replace(self.client, **changes))


@pytest.fixture
async def party() -> AsyncIterator[Party]:
    """A client that registers no key yet."""
    free = OutgoingHttp(timeout=30, ca_file=None, policy=None)
    guarded = OutgoingHttp(timeout=30, ca_file=None, policy=AddressPolicy(()))

    keys = ClientKeys(
        ring=KeyRing(["RS256"]),
        published=PublishedKeys(ClientHttp(free=free, guarded=guarded)),
    )
    entry = {
        "client_id": "web",
        "client_secrets": [{"value": "a-secret-of-more-than-32-characters"}],
    }
    file = convert({"issuer": "http://localhost", "clients": [entry]}, ConfigurationFile)
    client = build_registry(file, {}, generation="1").clients["web"]
    with time_machine.travel(time.time(), tick=False) as traveller:
        yield Party(keys, client, traveller)
    await free.close()
    await guarded.close()


@pytest.fixture
def published(party: Party, server: KeyServer) -> Party:
    """The client with its keys behind `jwks_uri`."""
    return party.but(jwks_uri=server.url)


@pytest.fixture(scope="session")
def rsa() -> Callable[[int], Key]:
    """The client's first, second … RSA key."""
    made: list[Key] = []

    def key(number: int) -> Key:
        while len(made) <= number:
            made.append(Key.generate("RS256"))
        return made[number]

    return key
