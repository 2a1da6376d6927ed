"""All grants by their grant type (RFC 6749 §4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from service.model.polling import CIBA, DEVICE_CODE
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER

if TYPE_CHECKING:
    from service.grants.token_exchange.subject_tokens import SubjectTokens
    from service.grants.token_exchange.transaction_token import TransactionTokens
    from service.identity.assertions import ForeignAssertions
    from service.identity.factors.second_factors import SecondFactors
    from service.identity.password_sign_in import PasswordSignIn
    from service.model.registry import Registry
    from service.tokens.granting import Grant, GrantServices
    from service.tokens.liveness import Revocation
    from service.tokens.polling import Polling


class GrantParts(msgspec.Struct, frozen=True, kw_only=True):
    services: GrantServices
    sign_in: PasswordSignIn
    second_factors: SecondFactors
    revocation: Revocation
    polling: Polling
    assertions: ForeignAssertions
    subject_tokens: SubjectTokens
    transaction_tokens: TransactionTokens


_Make = Callable[[GrantParts], "Grant"]


class BuiltinGrant(NamedTuple):
    make: _Make
    is_registrable: bool
    """Whether a client may register it dynamically: not if users would give it a password or token."""


BUILTIN_GRANTS: dict[str, BuiltinGrant] = {}
"""By grant type. To add one: a file in this folder, and a function here, which imports it: who only reads the names,
such as a command, does not wait for the grants."""


def builtin_grant(grant_type: str, *, is_registrable: bool = True) -> Callable[[_Make], _Make]:
    """Add the function that makes the grant of this type."""

    def add(make: _Make) -> _Make:
        BUILTIN_GRANTS[grant_type] = BuiltinGrant(make, is_registrable)
        return make

    return add


@builtin_grant("authorization_code")
def _authorization_code(parts: GrantParts) -> Grant:
    from service.grants.authorization_code import AuthorizationCodeGrant

    return AuthorizationCodeGrant(parts.services.registry, parts.revocation)


@builtin_grant("refresh_token")
def _refresh_token(parts: GrantParts) -> Grant:
    from service.grants.refresh_token import RefreshTokenGrant

    services = parts.services
    return RefreshTokenGrant(services.registry, parts.revocation, services.active_tokens)


@builtin_grant("client_credentials")
def _client_credentials(parts: GrantParts) -> Grant:
    from service.grants.client_credentials import ClientCredentialsGrant

    return ClientCredentialsGrant(parts.services.registry)


@builtin_grant(JWT_BEARER)
def _jwt_bearer(parts: GrantParts) -> Grant:
    from service.grants.jwt_bearer import JwtBearerGrant

    return JwtBearerGrant(parts.assertions, parts.services.registry)


@builtin_grant(DEVICE_CODE)
def _device_code(parts: GrantParts) -> Grant:
    from service.grants.device_code import DeviceCodeGrant

    return DeviceCodeGrant(parts.polling)


@builtin_grant("password", is_registrable=False)
def _password(parts: GrantParts) -> Grant:
    from service.grants.password import PasswordGrant

    return PasswordGrant(parts.sign_in, parts.second_factors, parts.services.registry)


@builtin_grant(TOKEN_EXCHANGE, is_registrable=False)
def _token_exchange(parts: GrantParts) -> Grant:
    from service.grants.token_exchange.grant import TokenExchangeGrant

    return TokenExchangeGrant(
        registry=parts.services.registry,
        tokens=parts.subject_tokens,
        emit=parts.services.emit,
        without_rule={"txn_token": parts.transaction_tokens.exchange},
    )


@builtin_grant(CIBA)
def _ciba(parts: GrantParts) -> Grant:
    from service.grants.ciba import CibaGrant

    return CibaGrant(parts.polling)


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
    from service.grants.extensions import ExtensionGrantError, extension_grants

    grants = {grant_type: builtin.make(parts) for grant_type, builtin in BUILTIN_GRANTS.items()}
    made = extension_grants(registry.extension_grants, parts.services)
    for at, extension in enumerate(made):
        # Report the first of two: the last one, delegation, need not be in the file.
        later = {each.grant_type for each in made[at + 1 :]}
        if extension.grant_type in grants.keys() | later:
            raise ExtensionGrantError(at, f"{extension.grant_type} is served by another already")
        grants[extension.grant_type] = extension
    return grants
