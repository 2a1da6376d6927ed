"""Finds the user whose access another party asks to end, of those that it may ask for (draft-parecki-oauth-global-token-revocation-06 §6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from service.identity import provider_accounts
from service.identity.providers.accounts import has_verified
from service.identity.providers.claims import find_linked_subject
from service.identity.users import Directory
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.handle import digest
from service.model.identity_provider import IdentityProvider
from service.model.registry import LiveRegistry
from service.model.session import Session
from service.model.user import LOCAL, User
from service.protocol.errors import InvalidRequest, UnknownSubject, UnusableSubject
from service.protocol.subject_identifiers import (
    EmailAddress,
    IssuerAndSubject,
    OpaqueId,
    SubjectIdentifier,
)
from service.store.stores import Stores
from service.store.verbs import STEP

Caller = Client | IdentityProvider
"""An authenticated client, or a provider whose JWT holds."""


def name_of(caller: Caller) -> str:
    """Return a name that no caller of the other kind has, and no client_id."""
    if isinstance(caller, Client):
        return f"client\n{caller.client_id}"
    return f"provider\n{caller.name}"


class RevocableUsers(msgspec.Struct, frozen=True, kw_only=True):
    """To a caller, a user that it may not ask for is as unknown as one that nobody knows."""

    issuer: str
    registry: LiveRegistry
    users: Directory
    stores: Stores

    async def find(self, caller: Caller, identifier: SubjectIdentifier) -> Sequence[str]:
        """Return the subject of the user, or all that a provider's user has had here; raise UnknownSubject for a user that the caller may not ask for.

        An address has to be that of exactly one.
        """
        if isinstance(identifier, EmailAddress):
            found = await self._find_by_email(caller, identifier.email)
        elif isinstance(identifier, IssuerAndSubject) and identifier.iss != self.issuer:
            found = await self._find_at_providers(caller, identifier)
        else:
            found = await self._find_here(caller, identifier)
        if not found or (isinstance(identifier, EmailAddress) and len(found) > 1):
            raise UnknownSubject("sub_id is not that of one user whom the caller may ask for")
        return found

    async def _find_here(
        self, caller: Caller, identifier: IssuerAndSubject | OpaqueId
    ) -> Sequence[str]:
        """Return the user with this `sub` in tokens of this service."""
        if isinstance(caller, Client) and caller.subject_type == "pairwise":
            raise InvalidRequest(
                "the client knows pairwise subjects, which lead to nobody: use email"
            )
        subject = identifier.id if isinstance(identifier, OpaqueId) else identifier.sub
        return [subject] if await self._may_ask_for(caller, subject) else []

    async def _find_at_providers(
        self, caller: Caller, identifier: IssuerAndSubject
    ) -> Sequence[str]:
        """Return the accounts that a provider's user has, or has had, here: its own one, and those that it was linked with."""
        found: set[str] = set()
        for provider in self._providers_of(caller):
            if not provider.is_openid or provider.issuer != identifier.iss:
                continue
            sub = identifier.sub
            user = await self.users.by_identity(provider.name, sub)
            found |= {find_linked_subject(provider, sub), *([user.sub] if user else [])}
            found.update(await provider_accounts.find_by_sub(self.stores, provider.name, sub))
        return [one for one in found if await self._may_ask_for(caller, one, is_its_own=True)]

    async def _find_by_email(self, caller: Caller, email: str) -> Sequence[str]:
        """Return the users with this verified address; of ASCII, where no two letters are the same without regard to case.

        A provider's word about an address counts for its own users; for a client it counts as in tokens.
        """
        if not email.isascii():
            return []
        every = self.registry.current.identity_providers.values()
        believed = [
            provider.name
            for provider in self._providers_of(caller)
            if provider is caller or (provider.trust_email and provider.vouches_for(email, every))
        ]
        listed = {*await provider_accounts.find_by_email(self.stores, believed, email)}
        found = [one for one in listed if await self._may_ask_for(caller, one, is_its_own=True)]
        user = await self.users.by_email(email)
        if user == "several":
            return []
        if user is not None and user.sub not in found and has_verified(user, email):
            found += [user.sub] if await self._may_ask_for(caller, user.sub) else []
        if not found and self.users.email_gap is not None:
            raise UnusableSubject("users.source cannot find users by e-mail address")
        return found

    def _providers_of(self, caller: Caller) -> Iterable[IdentityProvider]:
        """Return the providers whose users the caller may name as such."""
        if isinstance(caller, IdentityProvider):
            return (caller,)
        return self.registry.current.identity_providers.values()

    async def _may_ask_for(self, caller: Caller, subject: str, *, is_its_own: bool = False) -> bool:
        """Return whether the user is known, or was to the caller, and is one of its tenants, or of the provider.

        A provider that named the user as its own need not be asked whose that is.
        """
        user, people = await self.users.by_subject(subject), await self._find_people(subject)
        if user is not None and user.sub != subject:  # databases compare as they like
            user = None
        if user is None and not people:
            return await self._has_ended(caller, subject)
        if isinstance(caller, IdentityProvider):
            return is_its_own or _is_of_provider(caller, user, people)
        if not caller.tenants:
            return True
        find = self.registry.current.tenancy.find_name
        if user is not None:
            return find(LOCAL, user.claims) in caller.tenants
        return {find(one.idp, one.user_claims) for one in people} <= caller.tenants

    async def _find_people(self, subject: str) -> Sequence[Session | Authorization]:
        """Return what says who the user is, for one that is in no source: some sessions and grants that live."""
        stores, owner = self.stores, digest(subject)
        sessions, grants = await stores.kv.read_members(
            stores.subject_sessions.last(owner, count=STEP),
            stores.subject_authorizations.last(owner, count=STEP),
        )
        found: list[Session | Authorization | None] = []
        found += await stores.kv.read(*map(stores.sessions.read, sessions))
        found += await stores.kv.read(*map(stores.authorizations.read, grants))
        return [one for one in found if one is not None]

    async def _has_ended(self, caller: Caller, subject: str) -> bool:
        """Return whether the caller has had all access of the user ended, so that it may ask again."""
        ends = self.stores.access_ends
        (at,) = await self.stores.kv.read(ends.read(digest(subject), digest(name_of(caller))))
        return at is not None


def _is_of_provider(
    provider: IdentityProvider, user: User | None, people: Iterable[Session | Authorization]
) -> bool:
    """Return whether the user's account is the provider's own, or linked with it, or the user is signed in by it."""
    if user is not None and any(each.provider == provider.name for each in user.identities):
        return True
    return any(one.idp == provider.name for one in people)
