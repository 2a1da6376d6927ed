"""Who is the client? Finds the one method a request uses, and lets it prove (RFC 6749 §2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from service.client_auth.client_secret_basic import ClientSecretBasic
from service.client_auth.client_secret_jwt import ClientSecretJwt
from service.client_auth.client_secret_post import ClientSecretPost
from service.client_auth.none import NoAuthentication
from service.client_auth.private_key_jwt import PrivateKeyJwt
from service.clients.assertions import ClientAssertions
from service.clients.directory import Clients
from service.model.client import Client
from service.model.credentials import ClientAuthMethod, CredentialSource, Presented
from service.model.proven import Proven
from service.model.registry import LiveRegistry, Registry
from service.protocol.challenge import basic_challenge
from service.protocol.errors import InvalidClient, InvalidRequest, OAuthError

CLIENT_AUTH_METHODS: Mapping[
    type[ClientAuthMethod], Callable[[ClientAssertions], ClientAuthMethod]
] = {
    ClientSecretBasic: lambda _: ClientSecretBasic(),
    ClientSecretPost: lambda _: ClientSecretPost(),
    ClientSecretJwt: ClientSecretJwt,
    PrivateKeyJwt: PrivateKeyJwt,
    NoAuthentication: lambda _: NoAuthentication(),
}
"""How each is made. To add one: a file in this folder, and an entry here."""


def builtin_client_auth_methods(assertions: ClientAssertions) -> tuple[ClientAuthMethod, ...]:
    """Make every method."""
    return tuple(make(assertions) for make in CLIENT_AUTH_METHODS.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAuthentication:
    """Authenticates clients by whichever of the methods a request uses, and by one only."""

    methods: tuple[ClientAuthMethod, ...]
    clients: Clients
    registry: LiveRegistry
    realm: str
    _proven: Proven[Client] = field(default_factory=Proven[Client], init=False)

    def metadata(self, endpoint: str, *, without: str | None = None) -> Mapping[str, object]:
        """How clients authenticate at an endpoint, by its name in the metadata (RFC 8414 §2)."""
        methods = [method for method in self.methods if method.name != without]
        algorithms = [alg for method in methods for alg in method.algorithms]
        return {
            f"{endpoint}_auth_methods_supported": [method.name for method in methods],
            f"{endpoint}_auth_signing_alg_values_supported": algorithms,
        }

    def proven(self, source: CredentialSource) -> Client | None:
        """The client that sent the same header before and was authenticated; else `authenticate` tells."""
        return self._proven.find(source, self.registry.current)

    async def authenticate(self, source: CredentialSource) -> Client:
        """The client that sent the request, or InvalidClient (RFC 6749 §5.2).

        Two methods in one request are invalid_request (RFC 6749 §2.3).
        """
        try:
            return await self._authenticated(source, self.registry.current)
        except InvalidClient as refused:
            self.add_challenge(refused, source.authorization)
            raise

    def add_challenge(self, refused: OAuthError, authorization: str | None) -> None:
        """Ask for Basic credentials if a client that sent an Authorization header is refused."""
        if isinstance(refused, InvalidClient) and authorization is not None:
            refused.challenge = basic_challenge(self.realm)

    async def _authenticated(self, source: CredentialSource, registry: Registry) -> Client:
        method, presented = self.offered(source)
        _check_that_names_agree(source, presented)
        known = await self.clients.find(presented.client_id)
        proven = await method.proves(presented, known)
        if known is None or not proven or not known.enabled:
            raise InvalidClient(
                "the client is unknown or its credentials are wrong",
                claimed=known.client_id if known else None,
            )
        if known.token_endpoint_auth_method not in (None, method.name):
            raise InvalidClient(
                "the client is registered for another authentication method",
                claimed=known.client_id,
            )
        # Only then has the header proven anything; a client that registered itself may change at any time.
        if method.name == ClientSecretBasic.name and not known.dynamically_registered:
            name, secrets = known.client_id, known.client_secrets
            self._proven.remember(source, registry, known, name=name, secrets=secrets)
        return known

    def offered(self, source: CredentialSource) -> tuple[ClientAuthMethod, Presented]:
        """The one method that the request uses, and what it presents (RFC 6749 §2.3)."""
        offers = [
            (method, presented)
            for method in self.methods
            if (presented := method.offered(source)) is not None
        ]
        if len(offers) > 1:
            raise InvalidRequest("the request authenticates the client in more than one way")
        if not offers:
            raise InvalidClient("the request does not authenticate a client")
        return offers[0]


def _check_that_names_agree(source: CredentialSource, presented: Presented) -> None:
    named = source.params.get("client_id")
    if named is not None and named != presented.client_id:
        raise InvalidClient("client_id and the credentials name different clients")
