"""The dispatcher: the next page for the person, or the answer for the client."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from service.authorize.answer import Answering
from service.authorize.checks import check
from service.authorize.claim import Claim
from service.authorize.interaction import Interaction, Step
from service.authorize.parking import Parking
from service.authorize.reply_to import ReplyTo, find_client, find_reply_to
from service.authorize.request import AuthorizeRequest, read_request
from service.authorize.request_object import RequestObjects
from service.clients.directory import Clients
from service.identity.consents import Consents
from service.identity.partial_sign_ins import PartialSignIn
from service.identity.providers.person import with_trusted_methods
from service.identity.sessions import SignIn
from service.model.delivery import Delivery
from service.model.events import AuthorizationRefused, Emit
from service.model.registry import LiveRegistry
from service.model.session import Answers, ParkedRequest, Session
from service.protocol.errors import (
    AlreadyAnswered,
    InvalidRequest,
    LoginRequired,
    OAuthError,
    TemporarilyUnavailable,
    TooManyRequests,
    UnmetAuthenticationRequirements,
)
from service.protocol.params import Params
from service.protocol.prompt import NONE
from service.protocol.session_state import SIGNED_OUT
from service.tokens.claims import claims_of_scope
from service.tokens.id_token_hint import IdTokenHints


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The browser by its own cookie, and the live session if there is one."""

    browser: str
    session: Session | None = None
    user_claims: Mapping[str, object] = field(default_factory=dict[str, object])
    browser_state: str = SIGNED_OUT
    """What clients can tell of the session from outside (OIDC Session Management §3.2)."""
    new_cookie: str | None = None
    """The value of the session's cookie, if the session has just begun."""
    partial: PartialSignIn | None = None
    """A sign-in that lacks a step; only that step may look at it."""

    def sign_in_for(self, parked_id: str) -> SignIn | None:
        """Return what the user has proved so far: for this request, else for the session."""
        if self.partial is not None and self.partial.parked_id == parked_id:
            return self.partial.sign_in
        return SignIn.of_session(self.session) if self.session else None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request that has just come in, with what its request object says, and where it is answered."""

    params: Params
    reply_to: ReplyTo
    refusal: OAuthError | None
    """What is wrong with its request object."""
    address: str
    """Where it comes from."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """The person is to be asked something, about the request with this id."""

    path: str
    parked_id: str


Outcome = NextStep | Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizeFlow:
    """Takes a request from step to step; every step comes back here."""

    issuer: str
    registry: LiveRegistry
    clients: Clients
    request_objects: RequestObjects
    hints: IdTokenHints
    steps: tuple[Step, ...]
    parking: Parking
    consents: Consents
    answering: Answering
    emit: Emit
    now: Callable[[], int]

    async def arrive(self, sent: Params, *, address: str) -> Arrival:
        """Take a request in, from this address: from here on there are parameters only, and no request object.

        An OAuthError from here is a page, never a redirect.
        """
        client = await find_client(sent, self.clients)
        merged = await self.request_objects.merged(sent, client, client_address=address)
        try:
            reply_to = find_reply_to(merged.params, client, issuer=self.issuer)
        except InvalidRequest as untrusted:
            refusal = merged.refusal or untrusted
            refusal.refused = untrusted.refused  # it is the reason why the refusal is a page
            raise refusal from untrusted
        return Arrival(merged.params, reply_to, merged.refusal, address)

    async def reply_to(self, params: Params) -> ReplyTo:
        """Where the answer to a request that waited goes; an OAuthError from here is a page, too."""
        client = await find_client(params, self.clients)
        return find_reply_to(params, client, issuer=self.issuer)

    async def read(self, params: Params, reply_to: ReplyTo) -> AuthorizeRequest:
        """The request, valid in itself; an OAuthError goes to the client."""
        request = await read_request(params, reply_to, self.registry.current, self.hints)
        check(request, self.registry.current)
        return request

    async def begin(self, arrival: Arrival, visitor: Visitor) -> Outcome:
        """A request that has just arrived."""
        reply_to = arrival.reply_to.in_browser(visitor.browser_state)
        if arrival.refusal is not None:
            return self.refused(reply_to, arrival.refusal)
        return await self._advance(
            arrival.params, reply_to, visitor, Answers(), address=arrival.address
        )

    async def postpone(self, arrival: Arrival, path: str) -> Outcome:
        """A request that came without cookies: to be continued at a path of ours, by GET."""
        try:
            if arrival.refusal is not None:
                raise arrival.refusal
            await self.read(arrival.params, arrival.reply_to)
            parked_id = await self.parking.park(
                arrival.params, browser=None, address=arrival.address
            )
            return NextStep(path, parked_id)
        except TooManyRequests:
            raise
        except OAuthError as error:
            return self.refused(arrival.reply_to, error)

    async def resume(self, parked_id: str, parked: ParkedRequest, visitor: Visitor) -> Outcome:
        """A request that waited, after the person has answered something."""
        params = Params(parked.params)
        reply_to = (await self.reply_to(params)).in_browser(visitor.browser_state)
        return await self._advance(params, reply_to, visitor, parked.answers, parked_id=parked_id)

    async def refuse(
        self, parked_id: str, parked: ParkedRequest, visitor: Visitor, error: OAuthError
    ) -> Delivery:
        """End a request that waited, because the person refused or cannot meet it."""
        reply_to = await self.reply_to(Params(parked.params))
        await self.parking.claim(parked_id).make()
        return self.refused(reply_to.in_browser(visitor.browser_state), error)

    async def interaction(
        self, request: AuthorizeRequest, visitor: Visitor, answers: Answers
    ) -> Interaction:
        """The request in front of this person."""
        known = self.registry.current
        session = visitor.session and with_trusted_methods(visitor.session, known)
        acr = request.acr.met_by(session, known) if session else None
        consent = session and await self.consents.find(
            session.subject,
            request.client.client_id,
            unverified_client_host=request.unverified_client_host,
        )
        interaction = Interaction(
            request=request,
            registry=known,
            session=session,
            user_claims=visitor.user_claims,
            answers=answers,
            consented_scope=consent.scope if consent else frozenset(),
            consented_claims=consent.claims.union(claims_of_scope(known, consent.scope))
            if consent
            else frozenset(),
            acr=acr,
            now=self.now(),
        )
        if not interaction.lacks_acr:
            return interaction
        # The last of them asks for least: a second factor rather than the whole sign-in.
        able = (step for step in reversed(self.steps) if step.can_meet_acr(interaction))
        return replace(interaction, acr_step=next(able, None))

    def find_missing_step(self, sign_in: SignIn, request: AuthorizeRequest | None) -> Step | None:
        """Return the step without which the sign-in begins no session; None where nothing is missing."""
        trusted = with_trusted_methods(sign_in, self.registry.current)
        return next((step for step in self.steps if step.is_missing_from(trusted, request)), None)

    def _find_step(self, interaction: Interaction, visitor: Visitor, parked_id: str) -> Step | None:
        partial = visitor.partial
        if partial is not None and parked_id and partial.parked_id == parked_id:
            missing = self.find_missing_step(partial.sign_in, interaction.request)
            if missing is not None:
                return missing
        chosen = interaction.acr_step
        return next(
            (one for one in self.steps if one is chosen or one.is_needed(interaction)), None
        )

    async def _advance(
        self,
        params: Params,
        reply_to: ReplyTo,
        visitor: Visitor,
        answers: Answers,
        *,
        parked_id: str = "",
        address: str = "",
    ) -> Outcome:
        """The next page or the answer; of a request that is not parked yet the address is needed."""
        claim = self.parking.claim(parked_id) if parked_id else None
        try:
            request = await self.read(params, reply_to)
            interaction = await self.interaction(request, visitor, answers)
            interaction.refuse_another_person()
            step = self._find_step(interaction, visitor, parked_id)
            if step is None:
                return await self._answered(interaction, claim)
            if NONE in request.prompt:
                raise step.refusal("prompt is none, and the person would have to be asked")
            parked_id = parked_id or await self.parking.park(
                params, browser=visitor.browser, address=address
            )
            return NextStep(step.path, parked_id)
        except (AlreadyAnswered, TooManyRequests):
            raise  # a page: the client has its answer, or would only send the person again
        except TemporarilyUnavailable as error:
            return self.refused(reply_to, error)  # what waits may be tried again
        except OAuthError as error:
            if claim is not None:
                await claim.make()
            return self.refused(reply_to, error)

    async def _answered(self, interaction: Interaction, claim: Claim | None) -> Delivery:
        request, session = interaction.request, interaction.session
        if session is None:
            raise LoginRequired("nobody is signed in")
        if request.acr.essential and interaction.acr is None:
            raise UnmetAuthenticationRequirements("the person did not sign in in a way that counts")
        parameters = await self.answering.grant(interaction, session, claim)
        if interaction.consented_scope:
            await self.consents.used(session.subject, request.client)
        return request.reply_to.deliver(parameters)

    def refused(self, reply_to: ReplyTo, error: OAuthError) -> Delivery:
        """Tell the client."""
        self.emit(
            AuthorizationRefused(
                client_id=reply_to.client.client_id,
                error=error.code,
                cause=error.description,
                parameter=error.refused.parameter,
                value=error.refused.shown,
            )
        )
        return reply_to.refuse(error)
