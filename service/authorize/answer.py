"""The answer to an authorization request that was granted: code, tokens, or both (OIDC Core §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.authorize.claim import Claim
from service.authorize.interaction import Interaction
from service.authorize.request import AuthorizeRequest
from service.identity.participants import takes_part
from service.model.authorization import Authorization, new_family_key
from service.model.events import AuthorizationGranted, Emit
from service.model.handle import Handle, new_handle, new_selector
from service.model.one_time import AuthorizationCode
from service.model.registry import LiveRegistry, Registry
from service.model.session import Session
from service.protocol.errors import LoginRequired, OAuthError
from service.protocol.scope import format_scope
from service.store.stores import REPLAY_WINDOW, Stores
from service.store.verbs import Command
from service.tokens.access_token import AccessTokens, MintedToken
from service.tokens.claims import claims_of_scope
from service.tokens.id_token import HashedArtifacts, IdTokens
from service.tokens.liveness import begin, make_room


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Begins an authorization and issues what the response type names."""

    access_tokens: AccessTokens
    id_tokens: IdTokens
    registry: LiveRegistry
    stores: Stores
    emit: Emit

    async def grant(
        self, interaction: Interaction, session: Session, claim: Claim | None
    ) -> Mapping[str, str]:
        """The parameters of the response, without those that every answer carries.

        `claim` is that of a request which was parked; AlreadyAnswered where another one won.
        """
        request, now = interaction.request, interaction.now
        kind = request.response_type
        authorization = _authorization(interaction, session, self.registry.current)
        code = new_handle("authorization_code", authorization.id) if kind.code else None
        access = await self._access_token(authorization, interaction) if kind.token else None
        parameters: dict[str, str] = {}
        if code is not None:
            parameters["code"] = code.text
        if access is not None:
            parameters |= {  # RFC 6749 §4.2.2
                "access_token": access.token,
                "token_type": access.token_type,
                "expires_in": str(access.lifetime),
                "scope": format_scope(access.scope),
            }
        if kind.id_token:
            parameters["id_token"] = await self.id_tokens.mint(
                authorization,
                request.client,
                _hashed_artifacts(request, code, access),
                nonce=request.nonce,
                user_claims=interaction.user_claims,
                now=now,
            )
        await self._make_active(
            authorization, interaction, session, code=code, access=access, claim=claim
        )
        self.emit(
            AuthorizationGranted(
                client_id=request.client.client_id,
                subject=session.subject,
                response_type=kind.name,
                scope=authorization.scope,
            )
        )
        return parameters

    async def _access_token(
        self, authorization: Authorization, interaction: Interaction
    ) -> MintedToken:
        return await self.access_tokens.mint(
            authorization,
            interaction.request.client,
            user_claims=interaction.user_claims,
            now=interaction.now,
        )

    async def _make_active(
        self,
        authorization: Authorization,
        interaction: Interaction,
        session: Session,
        *,
        code: Handle | None,
        access: MintedToken | None,
        claim: Claim | None,
    ) -> None:
        """Write it all in one round trip, unless the session ended in the same moment.

        The session's presence is asked after that: a logout that comes later finds the index filled.
        The claim comes last, so that a request whose answer the store did not take still waits.
        """
        request, now, stores = interaction.request, interaction.now, self.stores
        client = request.client
        lifetime = client.authorization_code_lifetime + REPLAY_WINDOW if code else 0
        if access is not None:
            lifetime = max(lifetime, access.lifetime)
        writes: list[Command] = [
            *begin(stores, authorization, ttl=max(lifetime, 1), now=now),
            *takes_part(stores, client, session, now=now),
        ]
        if code is not None:
            record = AuthorizationCode(
                redirect_uri=request.reply_to.redirect_uri,
                code_challenge=request.code_challenge,
                nonce=request.nonce,
            )
            seconds = client.authorization_code_lifetime
            writes.append(stores.codes.put(record, code.selector, code.digest, ttl=seconds))
        if access is not None:
            writes += access.writes
        alive = stores.sessions.exists(session.id)
        answers = await stores.kv.write(*writes, alive, *([claim.write] if claim else []))
        try:
            if claim is not None:
                await claim.check(answers[-1])
            if not answers[len(writes)]:
                raise LoginRequired("the session has ended")
        except OAuthError:
            await stores.kv.write(stores.authorizations.drop(authorization.id))
            raise
        await make_room(stores, authorization, count=answers[0], emit=self.emit)


def _authorization(interaction: Interaction, session: Session, registry: Registry) -> Authorization:
    """What the client asks for, cut to what the person allowed."""
    request, answers = interaction.request, interaction.answers
    scope, claims_request = request.scope, request.claims.request
    if answers.consented_scope is not None:
        scope &= answers.consented_scope
        allowed = answers.consented_claims.union(claims_of_scope(registry, scope))
        claims_request = claims_request and claims_request.cut_to(allowed)
    return Authorization(
        id=new_selector(),
        client_id=request.client.client_id,
        scope=scope,
        resources=request.resources,
        subject=session.subject,
        amr=session.methods,
        acr=interaction.acr,
        idp=session.idp,
        auth_time=session.auth_time,
        session_id=session.id,
        user_claims=session.user_claims,
        claims_request=claims_request,
        grant_type="authorization_code" if request.response_type.code else "implicit",
        family_key=new_family_key(scope),
        created_at=interaction.now,
    )


def _hashed_artifacts(
    request: AuthorizeRequest, code: Handle | None, access: MintedToken | None
) -> HashedArtifacts:
    """Return what the ID token is bound to by hashes; the state only if a code comes with it."""
    return HashedArtifacts(
        access_token=access.token if access else None,
        code=code.text if code else None,
        state=request.reply_to.state if code else None,
    )
