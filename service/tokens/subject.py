"""By which identifier does a client know a person? (OIDC Core §8)"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field

from service.model.client import Client
from service.protocol.base64url import base64url
from service.protocol.errors import ServerError
from service.protocol.sector_identifier import sector_identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectIdentifiers:
    """The local subject for most clients, another one in each sector for pairwise clients."""

    pairwise_salt: str | None = field(repr=False)

    @property
    def types(self) -> tuple[str, ...]:
        """What clients may register for (OpenID Connect Discovery §3)."""
        return ("public",) if self.pairwise_salt is None else ("public", "pairwise")

    def of(self, client: Client, subject: str) -> str:
        """What this client calls the person whose local subject this is.

        Only who has the salt can compute it, and nobody can turn it back (OIDC Core §8.1). A
        client without any host, such as a native one, is a sector of its own.
        """
        if client.subject_type == "public":
            return subject
        if self.pairwise_salt is None:
            raise ServerError("pairwise subjects need pairwise_salt")
        sector = sector_identifier(client.sector_identifier_uri, client.redirect_uris)
        named = f"host:{sector}" if sector is not None else f"client:{client.client_id}"
        message = f"{named}\0{subject}".encode()
        digest = hmac.digest(self.pairwise_salt.encode(), message, "sha256")
        return base64url(digest)

    def named(self, client: Client, *known_as: str) -> NamedPerson:
        """Whom this client means by any of these identifiers."""
        return NamedPerson(client=client, known_as=frozenset(known_as), identifiers=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPerson:
    """Somebody whom a client names, by identifiers that it was told (OIDC Core §3.1.2.2)."""

    client: Client
    known_as: frozenset[str]
    """Any of these."""
    identifiers: SubjectIdentifiers

    def is_subject(self, subject: str) -> bool:
        """Whether the person with this local subject is meant."""
        return self.identifiers.of(self.client, subject) in self.known_as
