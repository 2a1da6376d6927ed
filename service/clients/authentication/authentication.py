"""Authenticates clients: each method reads its evidence, the client's registration chooses (RFC 6749 §2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.clients.authentication import BASIC, CLIENT_AUTH_METHODS, WORKLOAD, MethodParts
from service.clients.authentication.credential_cache import CredentialCache
from service.clients.directory import Clients
from service.clients.keys import ClientAlgorithms
from service.clients.secret_uses import Owner, SecretUses, Use, owner_of
from service.clients.workloads.assertions import WorkloadMethod
from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.jose import unverified_header
from service.model.catalogue import Credential
from service.model.client import Client
from service.model.credentials import ClientAuthMethod, Evidence, RequestCredentials
from service.model.request_context import current_request
from service.model.resources import Api
from service.model.secret import Secret
from service.protocol.errors import InvalidClient, InvalidRequest, OAuthError
from service.protocol.http_headers import basic_challenge

_WRONG = "the client is unknown or its credentials are wrong"
_LONGEST_KID = 256
"""Characters of a key id in the log."""


class Candidate(NamedTuple):
    """A method that may authenticate the request, and what the request holds for it."""

    name: str
    method: ClientAuthMethod
    evidence: Evidence


class ClientAuthentication:
    """Authenticates a client by the evidence in its request, and remembers headers that proved it."""

    def __init__(
        self,
        parts: MethodParts,
        *,
        clients: Clients,
        algorithms: ClientAlgorithms,
        uses: SecretUses | None,
    ) -> None:
        """Take what notes the uses of secrets; None where nobody looks at them."""
        methods = {
            name: method.make(parts)
            for name, method in CLIENT_AUTH_METHODS.items()
            if name not in parts.without
        }
        parameters = frozenset[str]().union(*(method.reads for method in methods.values()))
        self.workloads = parts.workloads
        self._secrets = parts.secrets
        self._realm = parts.assertions.issuer
        self._methods = methods
        self._clients = clients
        self._algorithms = algorithms
        self._registry = clients.registry
        self._uses = uses
        self._known_clients = CredentialCache[Client](parameters)
        self._known_apis = CredentialCache[Api](parameters)

    def metadata(self, endpoint: str, *, without: str | None = None) -> Mapping[str, object]:
        """Return the metadata about authentication at an endpoint of this name (RFC 8414 §2)."""
        left_out = {without} if self._registry.current.workload_issuers else {without, WORKLOAD}
        macs = self._algorithms.find_macs()
        if not macs:
            left_out |= {name for name in self._methods if _needs_secret_value(name)}
        methods = {name: method for name, method in self._methods.items() if name not in left_out}
        algorithms = dict.fromkeys(
            alg
            for method in methods.values()
            for alg in method.algorithms
            if alg in macs or alg not in MAC_ALGORITHMS
        )
        return {
            f"{endpoint}_auth_methods_supported": [*methods],
            f"{endpoint}_auth_signing_alg_values_supported": [*algorithms],
        }

    async def authenticate(self, request: RequestCredentials) -> Client:
        """Return the client that sent the request; raise InvalidClient if it is not proven (RFC 6749 §5.2)."""
        registry = self._registry.current
        remembered = self._known_clients.find(request, registry)
        if remembered is not None:
            self._note(remembered.use, request.now)
            return remembered.party
        try:
            proof, client, secret = await self._verify(request)
        except InvalidClient as refused:
            self.add_challenge(refused, request.authorization)
            raise
        _note_key(proof)
        use = self._note_secret(owner_of(client), client.client_secrets, secret, request.now)
        # A dynamically registered client may change its secret without a new registry.
        if proof.name == BASIC and not client.dynamically_registered:
            name, secrets = client.client_id, client.client_secrets
            self._known_clients.remember(
                request, registry, client, name=name, secrets=secrets, use=use
            )
        return client

    async def authenticate_caller(self, request: RequestCredentials) -> Api | Client:
        """Return who introspects: an API resource or scope by Basic, or else a client (RFC 7662 §2.1).

        Raise InvalidClient with a challenge if neither is proven (RFC 7662 §2.3).
        """
        registry = self._registry.current
        remembered = self._known_apis.find(request, registry)
        if remembered is not None:
            self._note(remembered.use, request.now)
            return remembered.party
        challenge = basic_challenge(self._realm)
        named: tuple[Api | None, ...] = ()
        try:
            candidate = self._read_candidates(request)[0]
            if candidate.name == BASIC:
                name = candidate.evidence.client_id
                named = (registry.api_resources.get(name), registry.api_scopes.get(name))
            if any(named) and (found := await self._find_api(named, candidate.evidence)):
                api, secret = found
                use = self._note_secret(owner_of(api), api.secrets, secret, request.now)
                self._known_apis.remember(
                    request, registry, api, name=api.name, secrets=api.secrets, use=use
                )
                return api
            workload = await _find_workload(candidate)
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

    def _note_secret(
        self, owner: Owner, secrets: Sequence[Secret], used: Secret | None, now: int
    ) -> Use | None:
        """Note that a secret was used, and return what notes its next use."""
        if self._uses is None or used is None:
            return None
        use = Use.of(owner, secrets, used)
        self._note(use, now)
        return use

    def _note(self, use: Use | None, now: int) -> None:
        if use is not None and self._uses is not None:
            self._uses.note(use, now)

    async def _find_api(
        self, named: Sequence[Api | None], evidence: Evidence
    ) -> tuple[Api, Secret] | None:
        """Return the API of this name that has the secret; None if the client of that name has it; raise InvalidClient."""
        client = self._registry.current.clients.get(evidence.client_id)
        apis = [api for api in named if api is not None]
        secrets = [*[api.secrets for api in apis], client.client_secrets if client else ()]
        # All at once: a wrong secret is not to cost more where an API and a client have one name.
        found = await self._secrets.find(secrets, evidence.proof, now=evidence.request.now)
        if found is None:
            raise InvalidClient(_WRONG, claimed=evidence.client_id)
        at, secret = found
        return (apis[at], secret) if at < len(apis) else None

    def add_challenge(self, error: OAuthError, authorization: str | None) -> None:
        """Ask for Basic credentials if a client that sent an Authorization header is refused."""
        if isinstance(error, InvalidClient) and authorization is not None:
            error.headers = basic_challenge(self._realm)

    def _read_candidates(self, request: RequestCredentials) -> Sequence[Candidate]:
        """Return the methods that may authenticate the request, with their evidence (RFC 6749 §2.3)."""
        candidates = [
            Candidate(name, method, evidence)
            for name, method in self._methods.items()
            if (not method.reads or request.has_any_of(method.reads))
            and (evidence := method.read_evidence(request)) is not None
        ]
        sent = [candidate for candidate in candidates if candidate.method.reads]
        if len({each.method.reads for each in sent}) > 1:
            raise InvalidRequest("the request authenticates the client in more than one way")
        if not candidates:
            raise InvalidClient("the request does not authenticate a client")
        # The assertion of a platform is not one that a client has made for itself.
        return [one for one in sent if one.name == WORKLOAD] or sent or candidates

    async def _verify(self, request: RequestCredentials) -> tuple[Candidate, Client, Secret | None]:
        """Return the evidence that counts, the client, and the secret that it was, if it was one."""
        candidates = self._read_candidates(request)
        names = {each.evidence.client_id for each in candidates}
        names.update(filter(None, [request.params.get("client_id")]))
        if len(names) > 1:
            raise InvalidClient("client_id and the credentials name different clients")
        client = await self._clients.resolve(names.pop())
        proof = await _find_proof(candidates, client)
        claimed = client.client_id if client else None
        if client is None or proof is None or not client.enabled:
            raise InvalidClient(_WRONG, claimed=claimed)
        if client.token_endpoint_auth_method not in {None, proof[0].name}:
            message = "the client is registered for another authentication method"
            raise InvalidClient(message, claimed=claimed)
        candidate, shown = proof
        return candidate, client, shown if isinstance(shown, Secret) else None


def _needs_secret_value(name: str) -> bool:
    return CLIENT_AUTH_METHODS[name].credential is Credential.SECRET_VALUE


async def _find_workload(candidate: Candidate) -> Api | None:
    """Return the API resource that a workload is by a rule; None if it is a client, or nothing is proven."""
    _, method, evidence = candidate
    api = await method.find_api(evidence) if isinstance(method, WorkloadMethod) else None
    if api is None or evidence.request.params.get("client_id") not in {None, api.name}:
        return None
    _note_key(candidate)
    return api


async def _find_proof(
    candidates: Sequence[Candidate], client: Client | None
) -> tuple[Candidate, Secret | bool] | None:
    """Return the candidate that proves it is this client, and what its method says; the registered method alone, if it is one of them.

    Only a client that has proven its credentials learns that it is registered for another method.
    """
    registered = client.token_endpoint_auth_method if client else None
    for candidate in [one for one in candidates if one.name == registered] or candidates:
        if shown := await candidate.method.proves(candidate.evidence, client):
            return candidate, shown
    return None


def _note_key(candidate: Candidate) -> None:
    """Tell the events of this request by which key, or as which workload, its sender is proven."""
    facts = {**(_key_of(candidate) or {})}
    if isinstance(candidate.method, WorkloadMethod):
        facts |= candidate.method.describe(candidate.evidence)
    if facts and (request := current_request.get()) is not None:
        request.client_key = facts


def _key_of(candidate: Candidate) -> Mapping[str, str] | None:
    """Return the name of the key that has proven the client; None for a secret, or a key without an id."""
    name, method, evidence = candidate
    certificate = evidence.request.certificate
    if CLIENT_AUTH_METHODS[name].credential in {
        Credential.CERTIFICATE_SUBJECT,
        Credential.CERTIFICATE,
    }:
        return certificate.confirmation.as_claim() if certificate else None
    kid = unverified_header(evidence.proof).get("kid") if method.algorithms else None
    return {"kid": kid[:_LONGEST_KID]} if isinstance(kid, str) else None
