"""Builds the ways to sign users in: by password, at identity providers, and by JWTs of trusted issuers."""

from __future__ import annotations

from service.clients.issuer_keys import IssuerKeys
from service.clients.published_keys import PublishedKeys
from service.identity.assertions import ForeignAssertions
from service.identity.password_sign_in import PasswordSignIn, Throttle
from service.identity.passwords import FairTurns, Passwords
from service.identity.providers.accounts import ProviderAccounts
from service.identity.providers.credentials import OwnCredentials
from service.identity.providers.provider import ProviderDirectory
from service.identity.providers.sign_in import ProviderSignIn
from service.identity.refusal_costs import RefusalCosts
from service.identity.users import Directory
from service.parts.keys import KeyParts
from service.parts.shared import Shared


def build_local_sign_in(shared: Shared, users: Directory) -> PasswordSignIn:
    """Build what signs users in by password."""
    limits, passwords = shared.configuration.limits, Passwords(shared.registry)
    return PasswordSignIn(
        users=users,
        passwords=passwords,
        costs=RefusalCosts(users=users, passwords=passwords, stores=shared.stores),
        turns=FairTurns(),
        throttle=Throttle(kv=shared.kv, prefix=shared.prefix, limits=limits),
        emit=shared.emit,
    )


def build_provider_sign_in(shared: Shared, keys: KeyParts, users: Directory) -> ProviderSignIn:
    """Build what signs users in at identity providers."""
    return ProviderSignIn(
        issuer=shared.issuer.rstrip("/"),
        registry=shared.registry,
        credentials=OwnCredentials(ring=keys.ring),
        accounts=ProviderAccounts(users=users, registry=shared.registry),
        directory=ProviderDirectory(http=shared.http_for("identity_provider", shared.outgoing)),
        stores=shared.stores,
        room=shared.room,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
    )


def build_foreign_assertions(shared: Shared, users: Directory) -> ForeignAssertions:
    """Build what verifies JWTs of trusted issuers."""
    client_http = shared.client_http("trusted_issuer")
    published = PublishedKeys(client_http)
    return ForeignAssertions(
        issuer=shared.issuer,
        registry=shared.registry,
        keys=IssuerKeys(published=published, http=client_http.free),
        users=users,
        stores=shared.stores,
        clock_skew=shared.configuration.server.clock_skew,
        emit=shared.emit,
    )
