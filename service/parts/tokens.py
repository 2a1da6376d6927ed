"""Builds the parts that know tokens."""

from __future__ import annotations

from service.model.user import TokenUsers
from service.parts.clients import ClientParts
from service.parts.keys import KeyParts
from service.parts.shared import Shared
from service.tokens.access_token import AccessTokens
from service.tokens.active import ActiveTokens
from service.tokens.exchanged import ExchangedTokens
from service.tokens.id_token import IdTokens
from service.tokens.issuer import TokenIssuer
from service.tokens.liveness import Revocation
from service.tokens.polling import Polling
from service.tokens.scope import Targets
from service.tokens.subject import SubjectIdentifiers


class TokenParts:
    """The parts that issue tokens, find them and revoke them."""

    def __init__(
        self, shared: Shared, keys: KeyParts, clients: ClientParts, users: TokenUsers
    ) -> None:
        issuer, stores = shared.issuer, shared.stores
        directory, client_keys = clients.directory, keys.of_clients
        self.identifiers = SubjectIdentifiers(pairwise_salt=shared.configuration.pairwise_salt)
        self.access_tokens = AccessTokens(
            issuer=issuer, keys=keys.ring, stores=stores, targets=Targets(shared.registry)
        )
        self.id_tokens = IdTokens(
            issuer=issuer, keys=client_keys, clients=directory, identifiers=self.identifiers
        )
        self.revocation = Revocation(stores=stores, emit=shared.emit)
        self.polling = Polling(
            registry=shared.registry, revocation=self.revocation, emit=shared.emit
        )
        self.active_tokens = ActiveTokens(
            issuer=issuer, keys=keys.ring, stores=stores, clients=directory, users=users
        )
        self.issuer = TokenIssuer(
            access_tokens=self.access_tokens,
            id_tokens=self.id_tokens,
            exchanged=ExchangedTokens(
                id_tokens=self.id_tokens,
                revocation=self.revocation,
                targets=self.access_tokens.targets,
                emit=shared.emit,
            ),
            revocation=self.revocation,
            expiration_members=shared.configuration.token_expiration_members,
            emit=shared.emit,
        )
