"""client_secret_basic, client_secret_post and none: a secret in the header, in the body, or no secret at all (RFC 6749 §2.3.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import ClassVar

import msgspec

from service.model.client import Client
from service.model.credentials import Evidence, RequestCredentials
from service.model.secret import Secret, find_secret, verifies_any
from service.protocol.http_headers import parse_basic_auth

FindSlow = Callable[[str, Sequence[str]], Awaitable[str | None]]
"""Returns which of these slow hashes is the secret's. Where none is, its time does not tell how many there were."""


class SharedSecrets(msgspec.Struct, frozen=True):
    find_slow: FindSlow

    async def find(
        self, parties: Sequence[Collection[Secret]], given: str, *, now: int
    ) -> tuple[int, Secret] | None:
        """Return the place of the first party that has this secret, and the secret; as slow without any party."""
        checked = (find_secret(secrets, given, now=now) for secrets in parties)
        fast = next(((at, one) for at, one in enumerate(checked) if one is not None), None)
        owners = {
            secret.hash: (at, secret)
            for at, secrets in enumerate(parties[: fast[0] if fast else None])
            for secret in secrets
            if secret.hash is not None and secret.is_valid(now)
        }
        if fast is not None and not owners:
            return fast
        right = await self.find_slow(given, [*owners])
        return fast if right is None else owners[right]

    async def prove(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        """Return the secret of the client that was sent; False for a wrong or expired one, as slow without a client."""
        secrets = client.client_secrets if client else ()
        found = await self.find((secrets,), evidence.proof, now=evidence.request.now)
        return found is not None and found[1]


class ClientSecretBasic(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"Authorization"})
    secrets: SharedSecrets

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        credentials = request.authorization and parse_basic_auth(request.authorization)
        if not credentials:
            return None
        client_id, secret = credentials
        return Evidence(client_id=client_id, proof=secret, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        return await self.secrets.prove(evidence, client)


class ClientSecretPost(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset({"client_secret"})
    secrets: SharedSecrets

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        secret, client_id = request.params.get("client_secret"), request.params.get("client_id")
        if secret is None:
            return None
        return Evidence(client_id=client_id or "", proof=secret, request=request)

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        return await self.secrets.prove(evidence, client)


class NoAuthentication(msgspec.Struct, frozen=True):
    """A public client sends its client_id and proves nothing (RFC 6749 §2.1, RFC 7591 §2)."""

    algorithms: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[frozenset[str]] = frozenset()

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        client_id = request.params.get("client_id")
        return Evidence(client_id=client_id, request=request) if client_id else None

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        verifies_any((), "", now=evidence.request.now)  # as for a wrong secret that is hashed fast
        return client is not None and client.is_public
