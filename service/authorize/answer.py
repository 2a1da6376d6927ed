"""The answer to an authorization request that was granted: code, tokens, or both (OIDC Core §3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import orjson

from service.authorize.interaction import Interaction
from service.authorize.parking import Claim
from service.authorize.reply_to import ReplyTo
from service.authorize.request import AuthorizeRequest
from service.clock import clock
from service.events.authorizations import AuthorizationGranted
from service.events.event import Emit
from service.identity.factors.stored import FactorQuestion
from service.identity.sessions import new_authorization, note_client
from service.model.authorization import Authorization, AuthorizationCode
from service.model.handle import Handle, new_handle
from service.model.session import Session
from service.protocol.authorization_details import types_of
from service.protocol.errors import LoginRequired, OAuthError
from service.store.stores import REPLAY_WINDOW
from service.store.verbs import Command
from service.tokens.access_token import AccessTokens, MintedToken
from service.tokens.claims import claims_of_scope
from service.tokens.id_token import HashedArtifacts, IdTokens
from service.tokens.liveness import (
    ask_end,
    begin,
    drop,
    is_ended,
    list_code,
    make_room,
    make_room_for_code,
    unlist_code,
)


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """Begins an authorization and issues what the response type names."""

    access_tokens: AccessTokens
    id_tokens: IdTokens
    emit: Emit

    async def grant(
        self,
        interaction: Interaction,
        session: Session,
        reply_to: ReplyTo,
        condition: Claim | FactorQuestion | None,
        *,
        uses: Sequence[Command],
    ) -> Mapping[str, str]:
        """Return the parameters of the response, without those that every answer carries.

        `uses` are commands that note what was relied on; the last one answers whether the session is there.

        Raise what the condition raises: AlreadyAnswered if another attempt won the claim of a parked request,
        FactorsFound if the user has second factors that nobody has looked at.
        """
        request, stores = interaction.request, self.access_tokens.stores
        authorization = _authorization(interaction, session)
        code, access, parameters = await self._issue(interaction, authorization, reply_to)
        writes = [
            *begin(stores, authorization, ttl=_lifetime(interaction, code, access)),
            *note_client(stores, request.client, session),
            *(access.writes if access else ()),
            *(self._keep_code(code, authorization, request, reply_to) if code else ()),
        ]
        # What is asked comes after the writes: an end that comes later finds the indexes filled. The indexes of session and
        # user lie in different slots of a Cluster, and so each has its question.
        questions = *uses, ask_end(stores, session.subject)
        # The condition is the last one, so that a request whose answer the store did not take can be tried again.
        last = [condition.write] if condition else []
        answers = await stores.kv.write(*writes, *questions, *last)
        try:
            await self._require_active(session, condition, answers)
        except OAuthError:
            unlist = [unlist_code(stores, authorization, code)] if code else []
            await stores.kv.write(*drop(stores, authorization), *unlist)
            raise
        await make_room(stores, authorization, count=answers[0], emit=self.emit)
        if code:
            count = answers[len(writes) - 1]
            await make_room_for_code(stores, authorization, count=count, emit=self.emit)
        self._emit_granted(authorization, request.response_type.name)
        return parameters

    async def _issue(
        self, interaction: Interaction, authorization: Authorization, reply_to: ReplyTo
    ) -> tuple[Handle | None, MintedToken | None, dict[str, str]]:
        """Return code, access token, and the parameters with all that the response type names."""
        request, kind = interaction.request, interaction.request.response_type
        code = new_handle("authorization_code", authorization.id) if kind.code else None
        access = await self._mint_access_token(interaction, authorization) if kind.token else None
        parameters: dict[str, str] = {"code": code.text} if code else {}
        if access:
            parameters |= {name: _text(value) for name, value in access.describe().items()}
        if kind.id_token:
            parameters["id_token"] = await self.id_tokens.mint(
                authorization,
                request.client,
                _collect_artifacts(parameters, reply_to),
                nonce=request.nonce,
                user_claims=interaction.user_claims,
                now=clock(),
            )
        return code, access, parameters

    def _emit_granted(self, authorization: Authorization, response_type: str) -> None:
        granted = AuthorizationGranted(
            client_id=authorization.client_id,
            subject=str(authorization.subject),
            response_type=response_type,
            scope=authorization.scope,
            authorization_details_types=types_of(authorization.authorization_details),
        )
        self.emit(granted)

    async def _mint_access_token(
        self, interaction: Interaction, authorization: Authorization
    ) -> MintedToken:
        target = self.access_tokens.targets.find(authorization)
        claims, client = interaction.user_claims, interaction.request.client
        return await self.access_tokens.mint(
            authorization, client, target=target, user_claims=claims
        )

    def _keep_code(
        self,
        code: Handle,
        authorization: Authorization,
        request: AuthorizeRequest,
        reply_to: ReplyTo,
    ) -> Sequence[Command]:
        """Return what writes the code; the last answer is how many the client has for the user."""
        record = AuthorizationCode(
            redirect_uri=reply_to.redirect_uri,
            code_challenge=request.code_challenge,
            nonce=request.nonce,
        )
        ttl, stores = request.client.authorization_code_lifetime, self.access_tokens.stores
        put = stores.codes.put(record, code.selector, code.digest, ttl=ttl)
        return put, list_code(stores, authorization, code, expires_at=clock() + ttl)

    async def _require_active(
        self, session: Session, condition: Claim | FactorQuestion | None, answers: Sequence[Any]
    ) -> None:
        """Raise OAuthError if the condition is not met, or if the session, or all access of the user, ended in the same moment."""
        is_alive, end, *last = answers[-3:] if condition else answers[-2:]
        if condition is not None:
            await condition.check(*last)
        if not is_alive or is_ended(self.access_tokens.stores, end, since=session.started_at):
            raise LoginRequired("the session has ended")


def _text(value: object) -> str:
    """Return a member of a token response as a parameter; authorization_details are JSON (RFC 9396 §2)."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _collect_artifacts(parameters: Mapping[str, str], reply_to: ReplyTo) -> HashedArtifacts:
    code = parameters.get("code")
    state = reply_to.state if code else None
    return HashedArtifacts(access_token=parameters.get("access_token"), code=code, state=state)


def _lifetime(interaction: Interaction, code: Handle | None, access: MintedToken | None) -> int:
    """Return the seconds for which the authorization is needed, a replay of its code included."""
    until_replay = interaction.request.client.authorization_code_lifetime + REPLAY_WINDOW
    return max(until_replay if code else 1, access.lifetime if access else 1)


def _authorization(interaction: Interaction, session: Session) -> Authorization:
    """Return what the client asks for, cut to what the user allowed."""
    request, answers = interaction.request, interaction.answers
    scope, claims_request = request.scope, request.claims.request
    if answers.consented_scope is not None:
        scope &= answers.consented_scope
        allowed = answers.consented_claims.union(claims_of_scope(interaction.registry, scope))
        claims_request = claims_request and claims_request.cut_to(allowed)
    return new_authorization(
        session,
        client=request.client,
        scope=scope,
        resources=request.resources,
        authorization_details=request.authorization_details,
        acr=interaction.acr,
        grant_type="authorization_code" if request.response_type.code else "implicit",
        claims_request=claims_request,
        cnf=request.cnf,
    )
