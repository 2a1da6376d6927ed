"""The dispatcher: finds the next page for the user, or the answer for the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from service.authorize.answer import Answering
from service.authorize.arriving import ArrivingRequests
from service.authorize.checks import RequestReader
from service.authorize.device import CONFIRM, DeviceRequests, place_in
from service.authorize.interaction import Interaction, Step, UnfinishedSignIn, choose_acr_step
from service.authorize.parking import Claim, ParkedRequest, Parking, read_pushed_id
from service.authorize.reply_to import ReplyTo
from service.authorize.request import AuthorizeRequest
from service.authorize.request_object import Arrival
from service.identity.access import Consents
from service.identity.factors.methods import MFA
from service.identity.factors.policy import find_requirement
from service.identity.factors.second_factors import SecondFactors
from service.identity.providers.claims import with_trusted_methods
from service.identity.sign_ins import PartialSignIn, SignIn
from service.model.events import AuthorizationRefused, Emit
from service.model.factors import Factors
from service.model.registry import LiveRegistry, Registry
from service.model.session import Answers, Session
from service.protocol import errors
from service.protocol.authorization_request import SIGNED_OUT
from service.protocol.errors import OAuthError
from service.protocol.redirect_uri import Delivery
from service.tokens.claims import claims_of_scope


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """The browser by its own cookie, and the live session if there is one."""

    browser: str
    session: Session | None = None
    user_claims: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    browser_state: str = SIGNED_OUT
    """What clients can tell of the session from outside (OIDC Session Management §3.2)."""
    new_cookie: str | None = None
    """The value of the session's cookie, if the session has just begun."""
    partial: PartialSignIn | None = None
    """A sign-in that lacks a step; only that step may look at it."""
    fresh_login: str = ""
    """What the page carries if it follows a sign-in, in its address or form; as it was sent, not verified."""

    def sign_in_for(self, parked_id: str) -> SignIn | None:
        """Return what the user has proved so far: for this request, else for the session."""
        if self.partial is not None and self.partial.parked_id == parked_id:
            return self.partial.sign_in
        return SignIn.of_session(self.session) if self.session else None


class NextStep(msgspec.Struct, frozen=True):
    """The page that the user has to see next, about the request with this id."""

    path: str
    parked_id: str


Outcome = NextStep | Delivery


class AuthorizeFlow(msgspec.Struct, frozen=True, kw_only=True):
    """Takes a request from step to step; every step comes back here."""

    arriving: ArrivingRequests
    registry: LiveRegistry
    steps: tuple[Step, ...]
    parking: Parking
    consents: Consents
    answering: Answering
    devices: DeviceRequests
    second_factors: SecondFactors
    enrollable: Mapping[str, Sequence[frozenset[str]]]
    emit: Emit

    @property
    def reader(self) -> RequestReader:
        return self.arriving.reader

    def _claim(self, arrival: Arrival, parked: ParkedRequest | None) -> Claim | None:
        """Return the attempt to answer a request that can be answered once; a pushed one wherever it is parked."""
        pushed_id = read_pushed_id(arrival.params)
        if pushed_id is not None:
            return self.arriving.pushed.claim(pushed_id)
        return self.parking.claim(parked.id) if parked else None

    async def postpone(self, arrival: Arrival, path: str) -> Outcome:
        """Park a request that came without cookies, to be continued at this path by GET."""
        try:
            await self.reader.read(arrival)
            return await self._park(arrival, path, browser=None)
        except errors.TooManyRequests:
            raise
        except OAuthError as error:
            return await self.refuse_with(await self.reader.reply_to(arrival), error)

    async def resume(self, parked: ParkedRequest, visitor: Visitor) -> Outcome:
        """Go on with a parked request after the user has answered something."""
        if place_in(parked.params) is not None:
            _, step = await self.read_device(parked, visitor)
            return NextStep(step.path, parked.id)
        return await self.advance(await self.reader.reopen(parked.params), visitor, parked)

    async def read_device(
        self, parked: ParkedRequest, visitor: Visitor
    ) -> tuple[Interaction, Step]:
        """Return a device's request with its user, and the step that is next; an error is a page."""
        interaction, step = await self.find_step(parked, visitor)
        return interaction, step or CONFIRM

    async def refuse(self, parked: ParkedRequest, visitor: Visitor, error: OAuthError) -> Outcome:
        """End a parked request, because the user refused or cannot meet it."""
        if place_in(parked.params) is not None:
            subject = visitor.session.subject if visitor.session else None
            await self.devices.deny(parked, subject=subject)
            return NextStep(CONFIRM.path, parked.id)
        arrival = await self.reader.reopen(parked.params)
        reply_to = await self.reader.reply_to(arrival)
        if (claim := self._claim(arrival, parked)) is not None:
            await claim.make()
        return await self.refuse_with(reply_to.in_browser(visitor.browser_state), error)

    async def advance(
        self, arrival: Arrival, visitor: Visitor, parked: ParkedRequest | None = None
    ) -> Outcome:
        """Return the answer or the next page, for which a request that has just come in is parked."""
        reply_to = (await self.reader.reply_to(arrival)).in_browser(visitor.browser_state)
        claim = self._claim(arrival, parked)
        try:
            request = await self.reader.read(arrival)
            answers = parked.answers if parked else Answers()
            interaction = await self._interaction(request, reply_to, visitor, answers)
            interaction.refuse_another_user()
            step = await self._find_step(interaction, visitor, parked)
            if step is None:
                return await self._answer(interaction, reply_to, claim)
            if "none" in request.prompt:
                raise step.refusal(step.reason)
            if parked is not None:
                return NextStep(step.path, parked.id)
            return await self._park(arrival, step.path, browser=visitor.browser)
        except (errors.AlreadyAnswered, errors.TooManyRequests):
            raise  # a page: the client has its answer, or would only send the user again
        except errors.TemporarilyUnavailable as error:
            return await self.refuse_with(reply_to, error)  # what is parked may be tried again
        except OAuthError as error:
            if claim is not None:
                await claim.make()
            return await self.refuse_with(reply_to, error)

    async def _park(self, arrival: Arrival, path: str, *, browser: str | None) -> NextStep:
        address = arrival.client_address
        parked_id = await self.parking.park(arrival.params, browser=browser, address=address)
        return NextStep(path, parked_id)

    async def _interaction(
        self, request: AuthorizeRequest, reply_to: ReplyTo, visitor: Visitor, answers: Answers
    ) -> Interaction:
        registry = self.registry.current
        session = _find_session(request, visitor, registry)
        consent = None
        if session and reply_to.may_remember_consent:
            consent = await self.consents.find(
                session.subject,
                request.client.client_id,
                unverified_client_host=reply_to.unverified_client_host,
            )
        scope = consent.scope if consent else frozenset[str]()
        claims = consent.claims if consent else frozenset[str]()
        factors = session and await self._find_factors(session, request)
        interaction = Interaction(
            request=request,
            registry=registry,
            session=session,
            user_claims=visitor.user_claims,
            answers=answers.of(session),
            consented_scope=scope,
            consented_claims=claims.union(claims_of_scope(registry, scope)),
            acr=request.acr.met_by(session, registry) if session else None,
            factors=factors or Factors(),
            offered_factors=self.second_factors.find_offered(factors) if factors else {},
            enrollable=self.enrollable,
        )
        return replace(interaction, acr_step=choose_acr_step(interaction, self.steps))

    async def _find_factors(self, session: Session, request: AuthorizeRequest) -> Factors | None:
        """Return the user's second factors; None where the session needs none more."""
        registry = self.registry.current
        asked = request.acr.values or request.acr.required
        if find_requirement(registry, request.client) == "never" and not asked:
            return None
        if MFA in session.methods and not asked:
            return None
        return await self.second_factors.enrolled.find(session.subject)

    async def find_missing_step(
        self, sign_in: SignIn, request: AuthorizeRequest | None
    ) -> Step | None:
        """Return the step without which the sign-in begins no session; None where nothing is missing."""
        registry = self.registry.current
        unfinished = UnfinishedSignIn(
            sign_in=with_trusted_methods(sign_in, registry),
            request=request,
            registry=registry,
            factors=await self.second_factors.enrolled.find(sign_in.subject),
        )
        return next((step for step in self.steps if step.is_missing_from(unfinished)), None)

    async def find_step(
        self, parked: ParkedRequest, visitor: Visitor
    ) -> tuple[Interaction, Step | None]:
        """Return the request of a browser with its user, and the step that is next; None where it can be answered."""
        arrival = await self.reader.reopen(parked.params)
        reply_to = await self.reader.reply_to(arrival)
        request = await self.reader.read(arrival)
        interaction = await self._interaction(request, reply_to, visitor, parked.answers)
        return interaction, await self._find_step(interaction, visitor, parked)

    async def _find_step(
        self, interaction: Interaction, visitor: Visitor, parked: ParkedRequest | None
    ) -> Step | None:
        partial = visitor.partial
        if partial is not None and parked is not None and partial.parked_id == parked.id:
            missing = await self.find_missing_step(partial.sign_in, interaction.request)
            if missing is not None:
                return missing
        chosen = interaction.acr_step
        return next(
            (one for one in self.steps if one is chosen or one.is_needed(interaction)), None
        )

    async def _answer(
        self, interaction: Interaction, reply_to: ReplyTo, claim: Claim | None
    ) -> Delivery:
        request, session = interaction.request, interaction.session
        if session is None:
            raise errors.LoginRequired("no user is signed in")
        if interaction.lacks_acr:
            raise interaction.refuse_unmet_acr()
        parameters = await self.answering.grant(interaction, session, reply_to, claim)
        if interaction.consented_scope:
            await self.consents.prolong(session.subject, request.client)
        return await reply_to.deliver(parameters)

    async def refuse_with(self, reply_to: ReplyTo, error: OAuthError) -> Delivery:
        """Send an error to the client."""
        self.emit(AuthorizationRefused.by(error, reply_to.client.client_id))
        return await reply_to.refuse(error)


def _find_session(
    request: AuthorizeRequest, visitor: Visitor, registry: Registry
) -> Session | None:
    """Return the visitor's session if it counts for the request: one of another tenant does not."""
    session = visitor.session
    if session is None or not request.accepts_tenant(
        registry.tenant_of(session.idp, visitor.user_claims)
    ):
        return None
    return with_trusted_methods(session, registry)
