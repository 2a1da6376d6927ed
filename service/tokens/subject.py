"""Gives each client its identifier of a user: the local subject, or one for its sector (OIDC Core §8)."""

from __future__ import annotations

import hmac
from typing import Annotated

import msgspec

from service.model.client import Client
from service.model.marks import SECRET, Confidential
from service.protocol.errors import ServerError
from service.protocol.octets import base64url
from service.protocol.redirect_uri import sector_identifier


class SubjectIdentifiers(Confidential, frozen=True, kw_only=True):
    pairwise_salt: Annotated[str | None, SECRET]

    @property
    def types(self) -> tuple[str, ...]:
        """The `subject_types_supported` (OpenID Connect Discovery §3)."""
        return ("public",) if self.pairwise_salt is None else ("public", "pairwise")

    def find_sub(self, client: Client, subject: str) -> str:
        """Return the `sub` by which this client knows the user with this local subject.

        A pairwise one cannot be computed or reversed without the salt (OIDC Core §8.1). A client
        without any host, such as a native one, is a sector of its own, and so is one whose host is only a claim.
        """
        if client.subject_type == "public":
            return subject
        sector = None
        if client.is_known_by_redirect_uri:
            sector = sector_identifier(client.sector_identifier_uri, client.redirect_uris)
        name = f"host:{sector}" if sector is not None else f"client:{client.client_id}"
        return self.find_pairwise_sub(name, subject)

    def find_pairwise_sub(self, sector: str, subject: str) -> str:
        """Return the identifier of the user for a sector, such as `host:app.example`."""
        if self.pairwise_salt is None:
            raise ServerError("pairwise subjects need pairwise_salt")
        message = f"{sector}\0{subject}".encode()
        digest = hmac.digest(self.pairwise_salt.encode(), message, "sha256")
        return base64url(digest)


class RequestedUser(msgspec.Struct, frozen=True, kw_only=True):
    """The user that a client asks for by its identifiers of the user (OIDC Core §3.1.2.2)."""

    client: Client
    subs: frozenset[str]
    """The user has one of these."""
    identifiers: SubjectIdentifiers

    def has_subject(self, subject: str) -> bool:
        return self.identifiers.find_sub(self.client, subject) in self.subs
