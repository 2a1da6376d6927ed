"""The dispatcher: finds the next page for the user, or the answer for the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from service.authorize.answer import Answering
from service.authorize.checks import ArrivingRequests, RequestReader
from service.authorize.device import CONFIRM, DeviceRequests, place_in
from service.authorize.interaction import (
    Interaction,
    Step,
    choose_acr_step,
    find_needed_step,
)
from service.authorize.parking import Claim, ParkedRequest, Parking, read_pushed_id
from service.authorize.reply_to import ReplyTo
from service.authorize.request import AuthorizeRequest
from service.authorize.request_object import Arrival
from service.authorize.visitors import Visitor, Visitors
from service.events.authorizations import AuthorizationRefused
from service.events.event import Emit
from service.identity.access import Consents
from service.identity.factors.methods import MFA
from service.identity.factors.second_factors import SecondFactors, find_requirement
from service.identity.factors.stored import FactorsFound
from service.identity.providers.claims import with_trusted_methods
from service.model.client import Client
from service.model.factors import Factors
from service.model.registry import LiveRegistry, Registry
from service.model.session import Answers, Consent, Session
from service.model.types import LinkName
from service.protocol import errors
from service.protocol.errors import OAuthError
from service.protocol.redirect_uri import Delivery
from service.store.verbs import Command
from service.tokens.claims import claims_of_scope


class WaitingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization request that waits for the visitor's answer."""

    parked: ParkedRequest
    arrival: Arrival
    reply_to: ReplyTo
    request: AuthorizeRequest

    def with_answers(self, answers: Answers) -> WaitingRequest:
        """Return the request with what the user has answered by now."""
        return replace(self, parked=self.parked.with_answers(answers))

    def client_shown_to(self, visitor: Visitor) -> Client:
        """Return the client; a link alone shows a signed-in user only the host of one that anybody registered (RFC 7591 §5)."""
        client, host = self.request.client, self.reply_to.unverified_client_host
        session, answers = visitor.session, self.parked.answers
        by_link_alone = session is not None and not answers.of(session).authenticated
        return client.under_host(host) if host and by_link_alone else client


class NextStep(msgspec.Struct, frozen=True):
    """The page that the user has to see next, about the request with this id."""

    path: str
    parked_id: str


Outcome = NextStep | Delivery


class AuthorizeFlow(msgspec.Struct, frozen=True, kw_only=True):
    """Takes a request from step to step; every step comes back here."""

    arriving: ArrivingRequests
    visitors: Visitors
    parking: Parking
    consents: Consents
    answering: Answering
    devices: DeviceRequests
    second_factors: SecondFactors
    enrollable: Mapping[str, Sequence[frozenset[str]]]
    links: Mapping[LinkName, str]
    """The operator's pages."""
    emit: Emit

    @property
    def reader(self) -> RequestReader:
        return self.arriving.reader

    @property
    def registry(self) -> LiveRegistry:
        return self.visitors.registry

    async def read(self, parked: ParkedRequest) -> WaitingRequest:
        """Read a parked request again; an error is a page."""
        arrival = await self.reader.reopen(parked.params)
        reply_to = await self.reader.reply_to(arrival)
        request = await self.reader.read(arrival)
        return WaitingRequest(parked=parked, arrival=arrival, reply_to=reply_to, request=request)

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

    async def begin(self, arrival: Arrival, visitor: Visitor) -> Outcome:
        """Return the answer to a request that has just come in, or the first page, for which it is parked."""
        try:
            return await self._advance(arrival, visitor, None)
        except FactorsFound:
            return await self._advance(arrival, visitor, None)

    async def resume(self, parked: ParkedRequest, visitor: Visitor) -> Outcome:
        """Go on with a request that was parked as it came; its faults are reported to the client."""
        if place_in(parked.params) is not None:
            return await self.go_on(await self.read(parked), visitor)
        return await self._advance(await self.reader.reopen(parked.params), visitor, parked)

    async def go_on(
        self,
        waiting: WaitingRequest,
        visitor: Visitor,
        answers: Answers | None = None,
        interaction: Interaction | None = None,
    ) -> Outcome:
        """Return the answer for the client; or the next page, for which new answers of the user are kept.

        `interaction` is the request with its user as it was before these answers, where that has been found already.
        """
        if answers is not None:
            waiting = waiting.with_answers(answers)
        if place_in(waiting.parked.params) is not None:
            _, step = await self.find_device_step(waiting, visitor)
            outcome: Outcome = NextStep(step.path, waiting.parked.id)
        else:
            parked, arrival = waiting.parked, waiting.arrival
            if interaction is not None:
                interaction = interaction.with_answers(parked.answers)
            outcome = await self._advance(arrival, visitor, parked, waiting, interaction)
        if answers is not None and isinstance(outcome, NextStep):
            await self.parking.keep_answers(waiting.parked)
        return outcome

    async def find_device_step(
        self, waiting: WaitingRequest, visitor: Visitor
    ) -> tuple[Interaction, Step]:
        """Return a device's request with its user, and the step that is next; an error is a page."""
        interaction, step = await self.find_step(waiting, visitor)
        return interaction, step or CONFIRM

    async def refuse(self, waiting: WaitingRequest, visitor: Visitor, error: OAuthError) -> Outcome:
        """End a parked request, because the user refused or cannot meet it."""
        parked = waiting.parked
        if place_in(parked.params) is not None:
            subject = visitor.session.subject if visitor.session else None
            await self.devices.deny(parked, subject=subject)
            return NextStep(CONFIRM.path, parked.id)
        if (claim := self._claim(waiting.arrival, parked)) is not None:
            await claim.make()
        return await self.refuse_with(waiting.reply_to.in_browser(visitor.browser_state), error)

    async def _advance(
        self,
        arrival: Arrival,
        visitor: Visitor,
        parked: ParkedRequest | None,
        waiting: WaitingRequest | None = None,
        interaction: Interaction | None = None,
    ) -> Outcome:
        """Return the answer or the next page; `waiting` and `interaction` are what has been read already."""
        reply_to = waiting.reply_to if waiting else arrival.reply_to
        reply_to = reply_to or await self.reader.reply_to(arrival)
        reply_to = reply_to.in_browser(visitor.browser_state)
        claim = self._claim(arrival, parked)
        try:
            request = waiting.request if waiting else await self.reader.read(arrival)
            answers = parked.answers if parked else Answers()
            interaction = interaction or await self._interaction(
                request, reply_to, visitor, answers, may_ask_late=claim is None
            )
            interaction.refuse_another_user()
            step = await self._find_step(interaction, visitor, parked)
            if step is None:
                return await self._answer(interaction, reply_to, visitor, claim)
            if "none" in request.prompt:
                raise step.refusal(step.reason)
            if parked is not None:
                return NextStep(step.path, parked.id)
            return await self._park(arrival, step.path, browser=visitor.browser)
        except (errors.AlreadyAnswered, errors.TooManyRequests, FactorsFound):
            # A page, as the client has its answer, or would only send the user again; or `begin` goes on.
            raise
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
        self,
        request: AuthorizeRequest,
        reply_to: ReplyTo,
        visitor: Visitor,
        answers: Answers,
        *,
        may_ask_late: bool = False,
    ) -> Interaction:
        registry, enrolled = self.registry.current, self.second_factors.enrolled
        session = _find_session(request, visitor, registry)
        consent, factors, asks_late = None, None, None
        if session is not None and request.client.require_consent:
            consent = await self._find_consent(session, request, reply_to)
        if session is not None and _needs_factors(session, request, registry):
            if may_ask_late and not request.acr.is_asked:
                asks_late = enrolled.ask_late(session.subject)
            if asks_late is None:
                factors = await enrolled.find(session.subject)
        interaction = Interaction(
            request=request,
            registry=registry,
            session=session,
            user_claims=visitor.user_claims,
            answers=answers.of(session),
            consented_scope=consent.scope if consent else frozenset(),
            consented_claims=consent.claims.union(claims_of_scope(registry, consent.scope))
            if consent
            else frozenset(),
            acr=request.acr.met_by(session, registry) if session else None,
            register_link=request.find_register_link(self.links),
            factors=factors or Factors(),
            asks_late=asks_late,
            offered_factors=self.second_factors.find_offered(factors)
            if factors and factors.is_enrolled
            else {},
            enrollable=self.enrollable,
        )
        acr_step = choose_acr_step(interaction, self.visitors.steps)
        return interaction if acr_step is None else replace(interaction, acr_step=acr_step)

    async def _find_consent(
        self, session: Session, request: AuthorizeRequest, reply_to: ReplyTo
    ) -> Consent | None:
        """Return the user's lasting consent, which counts where it could only be given to this client."""
        if not reply_to.may_remember_consent:
            return None
        return await self.consents.find(
            session.subject,
            request.client.client_id,
            unverified_client_host=reply_to.unverified_client_host,
        )

    async def find_step(
        self, waiting: WaitingRequest, visitor: Visitor
    ) -> tuple[Interaction, Step | None]:
        """Return the request with its user, and the step that is next; None where it can be answered."""
        request, answers = waiting.request, waiting.parked.answers
        interaction = await self._interaction(request, waiting.reply_to, visitor, answers)
        return interaction, await self._find_step(interaction, visitor, waiting.parked)

    async def _find_step(
        self, interaction: Interaction, visitor: Visitor, parked: ParkedRequest | None
    ) -> Step | None:
        partial = visitor.partial
        if partial is not None and parked is not None and partial.parked_id == parked.id:
            missing = await self.visitors.find_missing_step(partial.sign_in, interaction.request)
            if missing is not None:
                return missing
        step = find_needed_step(interaction, self.visitors.steps)
        if step is not None and interaction.asks_late:  # an earlier page may be about them
            await self.second_factors.enrolled.find(interaction.asks_late.subject)
            raise FactorsFound
        return step

    async def _answer(
        self, interaction: Interaction, reply_to: ReplyTo, visitor: Visitor, claim: Claim | None
    ) -> Delivery:
        request, session = interaction.request, interaction.session
        if session is None:
            raise errors.LoginRequired("no user is signed in")
        if interaction.lacks_acr:
            raise interaction.refuse_unmet_acr()
        sessions, prolong = self.visitors.sessions, list[Command]()
        if interaction.consented_scope:
            prolong = self.consents.prolong(session.subject, request.client)
        use = sessions.ask_presence if visitor.is_noted else sessions.note_use
        parameters = await self.answering.grant(
            interaction,
            session,
            reply_to,
            claim or interaction.asks_late,
            uses=[*prolong, *use(session)],
        )
        return await reply_to.deliver(parameters)

    async def refuse_with(self, reply_to: ReplyTo, error: OAuthError) -> Delivery:
        """Send an error to the client."""
        self.emit(AuthorizationRefused.by(error, reply_to.client.client_id))
        return await reply_to.refuse(error)


def _find_session(
    request: AuthorizeRequest, visitor: Visitor, registry: Registry
) -> Session | None:
    """Return the visitor's session if it counts for the request: the login of a user that may not answer it does not count."""
    session = visitor.session
    if session is None or not request.users.include(session.idp, visitor.user_claims, registry):
        return None
    return with_trusted_methods(session, registry)


def _needs_factors(session: Session, request: AuthorizeRequest, registry: Registry) -> bool:
    """Return whether the user's second factors decide anything."""
    if request.acr.is_asked:
        return True
    return find_requirement(registry, request.client) != "never" and MFA not in session.methods
