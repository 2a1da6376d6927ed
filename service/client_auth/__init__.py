"""Authenticates clients: each method reads its evidence, the client's registration chooses (RFC 6749 §2.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from service.client_auth.client_assertion import ClientAssertions, ClientSecretJwt, PrivateKeyJwt
from service.client_auth.client_secret import ClientSecretBasic, ClientSecretPost, NoAuthentication
from service.client_auth.credential_cache import CredentialCache
from service.client_auth.self_signed_tls_client_auth import SelfSignedTlsClientAuth
from service.client_auth.tls_client_auth import TlsClientAuth
from service.client_auth.workload import WorkloadAssertions, WorkloadMethod
from service.clients.directory import Clients
from service.clients.published_keys import PublishedKeys
from service.keys.jose import unverified_header
from service.model.catalogue import Credential
from service.model.client import Client, verifies_any
from service.model.credentials import ClientAuthMethod, Evidence, RequestCredentials
from service.model.registry import Api, LiveRegistry
from service.model.request_context import current_client_key
from service.protocol.errors import InvalidClient, InvalidRequest, OAuthError
from service.protocol.http_headers import basic_challenge

_LONGEST_KID = 256
"""Characters of a key id in the log."""

WORKLOAD = WorkloadMethod.name

Candidate = tuple[ClientAuthMethod, Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodParts:
    """The parts of the service that methods use, and which methods to leave out."""

    assertions: ClientAssertions
    registry: LiveRegistry
    published: PublishedKeys
    workloads: WorkloadAssertions
    without: frozenset[str]
    """The names of those that the settings of the server leave without any evidence."""


CLIENT_AUTH_METHODS: dict[type[ClientAuthMethod], Callable[[MethodParts], ClientAuthMethod]] = {
    ClientSecretBasic: lambda _: ClientSecretBasic(),
    ClientSecretPost: lambda _: ClientSecretPost(),
    ClientSecretJwt: lambda parts: ClientSecretJwt(parts.assertions),
    PrivateKeyJwt: lambda parts: PrivateKeyJwt(parts.assertions),
    NoAuthentication: lambda _: NoAuthentication(),
    TlsClientAuth: lambda parts: TlsClientAuth(parts.registry),
    SelfSignedTlsClientAuth: lambda parts: SelfSignedTlsClientAuth(parts.published),
    WorkloadMethod: lambda parts: WorkloadMethod(parts.workloads),
}
"""How each is made. To add one: a file in this folder, and an entry here."""


class ClientAuthentication:
    """Authenticates a client by the evidence in its request, and remembers headers that proved it."""

    def __init__(self, parts: MethodParts, *, clients: Clients) -> None:
        methods = tuple(
            make(parts)
            for method, make in CLIENT_AUTH_METHODS.items()
            if method.name not in parts.without
        )
        parameters = frozenset[str]().union(*(method.reads for method in methods))
        self.workloads = parts.workloads
        self._realm = parts.assertions.issuer
        self._methods = methods
        self._clients = clients
        self._registry = clients.registry
        self._known_clients = CredentialCache[Client](parameters)
        self._known_apis = CredentialCache[Api](parameters)

    def metadata(self, endpoint: str, *, without: str | None = None) -> Mapping[str, object]:
        """Return the metadata about authentication at an endpoint of this name (RFC 8414 §2)."""
        left_out = {without} if self._registry.current.workload_issuers else {without, WORKLOAD}
        methods = [method for method in self._methods if method.name not in left_out]
        algorithms = dict.fromkeys(alg for method in methods for alg in method.algorithms)
        return {
            f"{endpoint}_auth_methods_supported": [method.name for method in methods],
            f"{endpoint}_auth_signing_alg_values_supported": [*algorithms],
        }

    async def authenticate(self, request: RequestCredentials) -> Client:
        """Return the client that sent the request; raise InvalidClient if it is not proven (RFC 6749 §5.2)."""
        registry = self._registry.current
        remembered = self._known_clients.find(request, registry)
        if remembered is not None:
            return remembered
        try:
            (method, evidence), client = await self._verify(request)
        except InvalidClient as refused:
            self.add_challenge(refused, request.authorization)
            raise
        _note_key(method, evidence)
        # A dynamically registered client may change its secret without a new registry.
        if method.name == ClientSecretBasic.name and not client.dynamically_registered:
            name, secrets = client.client_id, client.client_secrets
            self._known_clients.remember(request, registry, client, name=name, secrets=secrets)
        return client

    async def authenticate_caller(self, request: RequestCredentials) -> Api | Client:
        """Return who introspects: an API resource or scope by Basic, or else a client (RFC 7662 §2.1).

        Raise InvalidClient with a challenge if neither is proven (RFC 7662 §2.3).
        """
        registry = self._registry.current
        remembered = self._known_apis.find(request, registry)
        if remembered is not None:
            return remembered
        challenge = basic_challenge(self._realm)
        named: tuple[Api | None, ...] = ()
        try:
            method, evidence = self._read_candidates(request)[0]
            if method.name == ClientSecretBasic.name:
                name = evidence.client_id
                named = (registry.api_resources.get(name), registry.api_scopes.get(name))
            for api in named:
                secrets = api.secrets if api else ()
                if verifies_any(secrets, evidence.proof, now=request.now) and api:
                    self._known_apis.remember(
                        request, registry, api, name=api.name, secrets=secrets
                    )
                    return api
            workload = await _find_workload(method, evidence)
            if workload is not None:
                return workload
            client = await self.authenticate(request)
        except InvalidClient as refused:
            refused.headers = challenge
            refused.claimed = next((api.name for api in named if api), refused.claimed)
            raise
        if client.is_public:
            description = "a public client cannot introspect"
            raise InvalidClient(description, headers=challenge, claimed=client.client_id)
        return client

    def add_challenge(self, error: OAuthError, authorization: str | None) -> None:
        """Ask for Basic credentials if a client that sent an Authorization header is refused."""
        if isinstance(error, InvalidClient) and authorization is not None:
            error.headers = basic_challenge(self._realm)

    def _read_candidates(self, request: RequestCredentials) -> Sequence[Candidate]:
        """Return the methods that may authenticate the request, with their evidence (RFC 6749 §2.3)."""
        candidates = [
            (method, evidence)
            for method in self._methods
            if (evidence := method.read_evidence(request)) is not None
        ]
        sent = [candidate for candidate in candidates if candidate[0].reads]
        if len({method.reads for method, _ in sent}) > 1:
            raise InvalidRequest("the request authenticates the client in more than one way")
        if not sent and (not candidates or request.authorization is not None):
            raise InvalidClient("the request does not authenticate a client")
        # The assertion of a platform is not one that a client has made for itself.
        return [one for one in sent if one[0].name == WORKLOAD] or sent or candidates

    async def _verify(self, request: RequestCredentials) -> tuple[Candidate, Client]:
        candidates = self._read_candidates(request)
        names = {evidence.client_id for _, evidence in candidates}
        names.update(filter(None, [request.params.get("client_id")]))
        if len(names) > 1:
            raise InvalidClient("client_id and the credentials name different clients")
        client = await self._clients.resolve(names.pop())
        proof = await _find_proof(candidates, client)
        claimed = client.client_id if client else None
        if client is None or proof is None or not client.enabled:
            message = "the client is unknown or its credentials are wrong"
            raise InvalidClient(message, claimed=claimed)
        if client.token_endpoint_auth_method not in {None, proof[0].name}:
            message = "the client is registered for another authentication method"
            raise InvalidClient(message, claimed=claimed)
        return proof, client


async def _find_workload(method: ClientAuthMethod, evidence: Evidence) -> Api | None:
    """Return the API resource that a workload is by a rule; None if it is a client, or nothing is proven."""
    api = await method.find_api(evidence) if isinstance(method, WorkloadMethod) else None
    if api is None or evidence.request.params.get("client_id") not in {None, api.name}:
        return None
    _note_key(method, evidence)
    return api


async def _find_proof(candidates: Sequence[Candidate], client: Client | None) -> Candidate | None:
    """Return the candidate that proves it is this client; the registered method alone, if it is one of them.

    Only a client that has proven its credentials learns that it is registered for another method.
    """
    registered = client.token_endpoint_auth_method if client else None
    for method, evidence in [one for one in candidates if one[0].name == registered] or candidates:
        if await method.proves(evidence, client):
            return method, evidence
    return None


def _note_key(method: ClientAuthMethod, evidence: Evidence) -> None:
    """Tell the events of this request by which key, or as which workload, its sender is proven."""
    facts = {**(_key_of(method, evidence) or {})}
    if isinstance(method, WorkloadMethod):
        facts |= method.describe(evidence)
    if facts:
        current_client_key.set(facts)


def _key_of(method: ClientAuthMethod, evidence: Evidence) -> Mapping[str, str] | None:
    """Return the name of the key that has proven the client; None for a secret, or a key without an id."""
    certificate = evidence.request.certificate
    if method.credential in {Credential.CERTIFICATE_SUBJECT, Credential.CERTIFICATE}:
        return certificate.confirmation.as_claim() if certificate else None
    kid = unverified_header(evidence.proof).get("kid") if method.algorithms else None
    return {"kid": kid[:_LONGEST_KID]} if isinstance(kid, str) else None
