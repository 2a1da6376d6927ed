"""All grants by their grant type (RFC 6749 §4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from service.grants.authorization_code import AuthorizationCodeGrant
from service.grants.ciba import CibaGrant
from service.grants.client_credentials import ClientCredentialsGrant
from service.grants.device_code import DeviceCodeGrant
from service.grants.extensions import ExtensionGrantError, extension_grants
from service.grants.jwt_bearer import JwtBearerGrant
from service.grants.password import PasswordGrant
from service.grants.refresh_token import RefreshTokenGrant
from service.grants.token_exchange import TokenExchangeGrant
from service.grants.token_exchange.subject_tokens import SubjectTokens
from service.grants.token_exchange.transaction_token import TransactionTokens
from service.identity.assertions import ForeignAssertions
from service.identity.factors.second_factors import SecondFactors
from service.identity.sign_in import LocalSignIn
from service.model.registry import Registry
from service.tokens.granting import Grant, GrantServices
from service.tokens.liveness import Revocation
from service.tokens.polling import Polling


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantParts:
    services: GrantServices
    sign_in: LocalSignIn
    second_factors: SecondFactors
    revocation: Revocation
    polling: Polling
    assertions: ForeignAssertions
    subject_tokens: SubjectTokens
    transaction_tokens: TransactionTokens


class BuiltinGrant(Grant, Protocol):
    grant_type: ClassVar[str]
    is_registrable: ClassVar[bool]
    """Whether a client may register it dynamically: not if users would give it a password or token."""


BUILTIN_GRANTS: Mapping[type[BuiltinGrant], Callable[[GrantParts], Grant]] = {
    AuthorizationCodeGrant: lambda parts: AuthorizationCodeGrant(
        parts.services.registry, parts.revocation
    ),
    RefreshTokenGrant: lambda parts: RefreshTokenGrant(parts.services.registry, parts.revocation),
    ClientCredentialsGrant: lambda parts: ClientCredentialsGrant(parts.services.registry),
    JwtBearerGrant: lambda parts: JwtBearerGrant(parts.assertions, parts.services.registry),
    DeviceCodeGrant: lambda parts: DeviceCodeGrant(parts.polling),
    PasswordGrant: lambda parts: PasswordGrant(
        parts.sign_in, parts.second_factors, parts.services.registry
    ),
    TokenExchangeGrant: lambda parts: TokenExchangeGrant(
        registry=parts.services.registry,
        tokens=parts.subject_tokens,
        emit=parts.services.emit,
        without_rule={"txn_token": parts.transaction_tokens.exchange},
    ),
    CibaGrant: lambda parts: CibaGrant(parts.polling),
}
"""To add one: a file in this folder, and an entry here."""


class Grants:
    """Built-in and extension grants by grant type; a new registry brings its own extension grants."""

    def __init__(self, parts: GrantParts) -> None:
        """Make every grant; raise ExtensionGrantError if two have one type or one cannot be made."""
        self._parts = parts
        self._registry = parts.services.registry
        self._by_generation: Mapping[str, Mapping[str, Grant]] = {}
        self.prepare(self._registry.current)

    def prepare(self, registry: Registry) -> None:
        """Make the grants of the next registry, and keep those of the present one."""
        present = self._registry.current.generation
        kept = {name: made for name, made in self._by_generation.items() if name == present}
        self._by_generation = kept | {registry.generation: _by_type(self._parts, registry)}

    def find(self, grant_type: str) -> Grant | None:
        return self._by_generation[self._registry.current.generation].get(grant_type)

    @property
    def types(self) -> frozenset[str]:
        """All grant types, also those that no client uses."""
        return frozenset(self._by_generation[self._registry.current.generation])


def _by_type(parts: GrantParts, registry: Registry) -> Mapping[str, Grant]:
    grants = {grant.grant_type: make(parts) for grant, make in BUILTIN_GRANTS.items()}
    made = extension_grants(registry.extension_grants, parts.services)
    for at, extension in enumerate(made):
        # Report the first of two: the last one, delegation, need not be in the file.
        later = {each.grant_type for each in made[at + 1 :]}
        if extension.grant_type in grants.keys() | later:
            raise ExtensionGrantError(at, f"{extension.grant_type} is served by another already")
        grants[extension.grant_type] = extension
    return grants
