"""All grants by their grant type (RFC 6749 §4)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from service.model.polling import CIBA, DEVICE_CODE
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER
from service.tokens.granting import GrantServices

if TYPE_CHECKING:
    from service.grants.token_exchange.subject_tokens import SubjectTokens
    from service.grants.token_exchange.transaction_token import TransactionTokens
    from service.identity.assertions import ForeignAssertions
    from service.identity.factors.second_factors import SecondFactors
    from service.identity.password_sign_in import PasswordSignIn
    from service.identity.sessions import Sessions
    from service.model.registry import Registry
    from service.tokens.granting import Grant
    from service.tokens.liveness import Revocation
    from service.tokens.polling import Polling
    from service.tokens.target import Targets


class BuiltinServices(GrantServices, frozen=True, kw_only=True):
    """Those that an extension grant may use, and what the grants of this folder use besides."""

    sessions: Sessions
    sign_in: PasswordSignIn
    second_factors: SecondFactors
    revocation: Revocation
    polling: Polling
    assertions: ForeignAssertions
    subject_tokens: SubjectTokens
    transaction_tokens: TransactionTokens
    targets: Targets


class BuiltinGrant(NamedTuple):
    """A grant, whose class is imported where it is made: a command that reads the names does not wait for it."""

    implementation: str
    """Its module in this folder and its class; it is made of the services that its fields name."""
    registration: Literal["open", "with_token", "none"] = "open"
    """Whether a client may register it dynamically, always or with an initial access token: not if users would give it a
    password or token."""

    def make(self, services: BuiltinServices) -> Grant:
        module, _, name = self.implementation.partition(":")
        kind: Any = getattr(import_module(f"{__name__}.{module}"), name)
        grant: Grant = kind(**{of: getattr(services, of) for of in kind.__struct_fields__})
        return grant


BUILTIN_GRANTS: dict[str, BuiltinGrant] = {
    "authorization_code": BuiltinGrant("authorization_code:AuthorizationCodeGrant"),
    "refresh_token": BuiltinGrant("refresh_token:RefreshTokenGrant"),
    "client_credentials": BuiltinGrant("client_credentials:ClientCredentialsGrant"),
    JWT_BEARER: BuiltinGrant("jwt_bearer:JwtBearerGrant"),
    DEVICE_CODE: BuiltinGrant("polling:PollingGrant"),
    "password": BuiltinGrant("password:PasswordGrant", registration="none"),
    TOKEN_EXCHANGE: BuiltinGrant("token_exchange.grant:TokenExchangeGrant", registration="none"),
    # Its clients learn which users there are, and take the places of other clients' requests (docs/ciba.md).
    CIBA: BuiltinGrant("polling:PollingGrant", registration="with_token"),
}
"""By grant type. To add one: a file in this folder, and a line here."""


class Grants:
    """Built-in and extension grants by grant type; a new registry brings its own extension grants."""

    def __init__(self, services: BuiltinServices) -> None:
        """Make every grant; raise ExtensionGrantError if two have one type or one cannot be made."""
        self._services = services
        self._registry = services.registry
        self._by_generation: Mapping[str, Mapping[str, Grant]] = {}
        self.prepare(self._registry.current)

    def prepare(self, registry: Registry) -> None:
        """Make the grants of the next registry, and keep those of the present one."""
        present = self._registry.current.generation
        kept = {name: made for name, made in self._by_generation.items() if name == present}
        self._by_generation = kept | {registry.generation: _by_type(self._services, registry)}

    def find(self, grant_type: str) -> Grant | None:
        return self._by_generation[self._registry.current.generation].get(grant_type)

    @property
    def types(self) -> frozenset[str]:
        """All grant types, also those that no client uses."""
        return frozenset(self._by_generation[self._registry.current.generation])


def _by_type(services: BuiltinServices, registry: Registry) -> Mapping[str, Grant]:
    from service.grants.extensions import ExtensionGrantError, extension_grants  # noqa: PLC0415 - with the grants

    grants = {grant_type: builtin.make(services) for grant_type, builtin in BUILTIN_GRANTS.items()}
    made = extension_grants(registry.extension_grants, services)
    for at, extension in enumerate(made):
        # Report the first of two: the last one, delegation, need not be in the file.
        later = {each.grant_type for each in made[at + 1 :]}
        if extension.grant_type in grants.keys() | later:
            raise ExtensionGrantError(at, f"{extension.grant_type} is served by another already")
        grants[extension.grant_type] = extension
    return grants
