"""POST /connect/global-token-revocation: ends all that a user has, for parties that may ask for it (draft-parecki-oauth-global-token-revocation-06)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import ClassVar, cast

import msgspec
from msgspec.structs import replace

from service.clients.authentication.authentication import ClientAuthentication
from service.clock import clock
from service.events.event import Emit
from service.events.users import SubjectRevocationRefused, SubjectRevoked
from service.identity.ending import UserEnding
from service.identity.providers.provider import ProviderUnavailable
from service.identity.providers.revocation_tokens import (
    TYPE,
    RevocationTokens,
    is_revocation_token,
)
from service.identity.revocable_users import Caller, RevocableUsers, name_of
from service.keys.jose import JwtRefused
from service.model.client import Client
from service.model.credentials import RequestCredentials
from service.model.registry import LiveRegistry
from service.protocol.errors import (
    InvalidClient,
    InvalidToken,
    MayNotRevoke,
    OAuthError,
    TemporarilyUnavailable,
    TooManyRequests,
)
from service.protocol.http_headers import basic_challenge, bearer_challenge
from service.protocol.params import Params
from service.protocol.paths import GLOBAL_REVOCATION
from service.protocol.subject_identifiers import read_sub_id
from service.store.rate_limit import RateLimit
from service.web.endpoint import Answer, Direct, Message, Route, empty_answer
from service.web.parameters import json_object
from service.web.sent_credentials import CredentialReader, presented_token

NAME = "global_token_revocation_endpoint"
METHODS = f"{NAME}_auth_methods_supported"
CLIENT_ID = "client_id"
WITHOUT_FORM = (
    *("client_secret_basic", "client_secret_jwt", "private_key_jwt"),
    *("tls_client_auth", "self_signed_tls_client_auth"),
)
"""The methods that need no form: a client sends its assertion as a bearer token, and its `client_id` in the JSON body."""


class GlobalRevocationEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    takes_certificates: ClassVar[bool] = True
    issuer: str
    registry: LiveRegistry
    client_auth: ClientAuthentication
    credentials: CredentialReader
    tokens: RevocationTokens
    users: RevocableUsers
    ending: UserEnding
    rate_limit: RateLimit
    """Of each caller, and of each network for requests that are not authenticated."""
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", GLOBAL_REVOCATION, self.revoke),)

    def metadata(self) -> Mapping[str, object]:
        """Return the metadata where somebody may ask."""
        current = self.registry.current
        clients = [each for each in current.clients.values() if each.may_revoke_subjects]
        providers = [
            each for each in current.identity_providers.values() if each.may_revoke_subjects
        ]
        if not clients and not providers:
            return {}
        known = set(cast("list[str]", self.client_auth.metadata(NAME)[METHODS]))
        methods = [name for name in WITHOUT_FORM if name in known and clients]
        return {NAME: GLOBAL_REVOCATION, METHODS: [*methods, *([TYPE] if providers else [])]}

    async def revoke(self, request: Message) -> Answer:
        """End all access of the user, if there is any."""
        caller: Caller | None = None
        try:
            caller = await self._authenticate(request)
            await self.rate_limit.count(name_of(caller))
            if not caller.may_revoke_subjects:
                raise MayNotRevoke("the caller may not end the access of users")
            identifier = read_sub_id(_without_client_id(await json_object(request), caller))
            subjects = await self.users.find(caller, identifier)
        except OAuthError as error:
            if not isinstance(error, TemporarilyUnavailable) or isinstance(error, TooManyRequests):
                client_id, provider = _names_of(caller) if caller else (error.claimed, None)
                self.emit(
                    SubjectRevocationRefused(
                        client_id=client_id,
                        provider=provider,
                        error=error.code,
                        cause=error.description,
                    )
                )
            raise
        for subject in subjects:
            ended = await self.ending.end(subject, asked_by=name_of(caller))
            client_id, provider = _names_of(caller)
            self.emit(
                SubjectRevoked(
                    subject=subject,
                    client_id=client_id,
                    provider=provider,
                    sessions=ended.sessions,
                    grants=ended.grants,
                    consents=ended.consents,
                    requests=ended.requests,
                )
            )
        return empty_answer(HTTPStatus.NO_CONTENT)

    async def _authenticate(self, request: Message) -> Caller:
        """Return who sent the request; raise an error with a challenge, and count it, if that is not proven."""
        token = presented_token(request, "bearer")
        try:
            if token is not None and is_revocation_token(token):
                return await self.tokens.verify(token)
            return await self._authenticate_client(request, token)
        except JwtRefused as refused:
            error = InvalidToken(f"the JWT is refused: {refused}")
            error.headers = bearer_challenge(self.issuer, error)
            await self._count_failure(request)
            raise error from refused
        except InvalidClient as refused:
            refused.headers = basic_challenge(self.issuer)
            await self._count_failure(request)
            raise
        except ProviderUnavailable as failure:
            raise TemporarilyUnavailable("the signature cannot be verified now") from failure

    async def _authenticate_client(self, request: Message, assertion: str | None) -> Client:
        """Return the client; it cannot send its assertion in a body that is JSON, and sends it as a bearer token (RFC 7523 §2.2).

        One that has only a certificate names itself in that body (RFC 8705 §2).
        """
        if assertion is None:
            sent = self.credentials.read(request, Params({}))
            if sent.certificate is not None and sent.authorization is None:
                sent = replace(sent, params=_find_client_id(await json_object(request)))
        else:
            sent = RequestCredentials.of_assertion(assertion, endpoint=request.path, now=clock())
        client = await self.client_auth.authenticate(sent)
        if client.is_public:
            raise InvalidClient("a public client cannot ask for it", claimed=client.client_id)
        return client

    async def _count_failure(self, request: Message) -> None:
        address = self.credentials.client_address.find(request)
        await self.rate_limit.count_network(address, kind="failed ")


def _find_client_id(members: Mapping[str, object]) -> Params:
    """Return the `client_id` of a body as a parameter, if there is one that is text."""
    client_id = members.get(CLIENT_ID)
    params = Params({CLIENT_ID: (client_id,)} if isinstance(client_id, str) else {})
    params.refuse_too_long()
    return params


def _without_client_id(members: Mapping[str, object], caller: Caller) -> Mapping[str, object]:
    """Return the members of a body but the `client_id` of the client that sent it; another one stays, and is refused."""
    if isinstance(caller, Client) and members.get(CLIENT_ID) == caller.client_id:
        return {name: value for name, value in members.items() if name != CLIENT_ID}
    return members


def _names_of(caller: Caller) -> tuple[str | None, str | None]:
    """Return the client_id, or the name of the provider."""
    if isinstance(caller, Client):
        return caller.client_id, None
    return None, caller.name
