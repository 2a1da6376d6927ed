"""/account/consent: the user allows what the client asks for (OIDC Core §3.1.2.4, §5.5, RFC 6749 §10.2, RFC 9396 §12)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from service.authorize.flow import WaitingRequest
from service.authorize.interaction import Interaction, Step
from service.authorize.request import AuthorizeRequest
from service.authorize.visitors import Visitor
from service.events.authorizations import ConsentDenied, ConsentGiven
from service.identity.access import Wishes
from service.model.resources import IdentityResource, Scope
from service.model.session import Session
from service.protocol.authorization_details import types_of
from service.protocol.authorization_request import NO_RESPONSE
from service.protocol.errors import AccessDenied, ConsentRequired
from service.protocol.params import Params
from service.protocol.scope import OPENID, gives_access
from service.web.endpoint import Answer, Direct, Message
from service.web.pages.display import shown_details, shown_scopes, shown_values
from service.web.visits import Visit, Visits


def _needs_consent(interaction: Interaction) -> bool:
    """Return whether the request or the client's registration demands a consent that is missing.

    One for authorization_details is never remembered: each of them may be another payment.
    """
    is_of_device = interaction.request.response_type is NO_RESPONSE  # whose own page asks
    if is_of_device or interaction.answers.consented_scope is not None:
        return False
    request, client = interaction.request, interaction.request.client
    if "consent" in request.prompt or request.authorization_details:
        return True
    is_remembered = (
        client.allow_remember_consent
        and request.scope <= interaction.consented_scope
        and request.claims.beyond_scope <= interaction.consented_claims
    )
    return client.require_consent and not is_remembered


PATH = "/account/consent"
CONSENT = Step(path=PATH, refusal=ConsentRequired, is_needed=_needs_consent)


class ConsentEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Shows each scope value, each claim that was requested individually, and all authorization_details."""

    visits: Visits

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        visitor, waiting = visit.visitor, await self.visits.require_waiting(visit)
        if visitor.session is None or not await self.visits.find_turn(CONSENT, visit, waiting):
            return await self.visits.advance(visit, waiting)
        scopes, claims = self._scopes(waiting.request.scope), waiting.request.claims.beyond_scope
        context = {
            "action": PATH,
            "user": await self.visits.shown_user(visitor),
            "identity_scopes": [each for each in scopes if isinstance(each, IdentityResource)],
            "api_scopes": [each for each in scopes if not isinstance(each, IdentityResource)],
            "claims": sorted(claims),
            "details": shown_details(self.visits.registry, waiting.request.authorization_details),
            "can_remember": _can_remember(waiting),
            "values": {each.name: self._values(each, visitor) for each in scopes},
            "claim_values": dict(shown_values(visitor.user_claims, claims)),
            "answer_host": waiting.reply_to.host,
        }
        return self.visits.show(visit, "consent.html", waiting, context=context)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request, note_use=False)  # it is with the answer
        waiting, session = await self.visits.require_waiting(visit), visit.form_session
        turn = await self.visits.find_turn(CONSENT, visit, waiting)
        if session is None or turn is None:
            return await self.visits.advance(visit, waiting)
        allowed = self._read_allowed(visit.params, waiting.request)
        gets_access = gives_access(allowed.scope, waiting.request.authorization_details)
        if visit.params.get("action") == "allow" and gets_access:
            return await self._allow(visit, waiting, turn, session, allowed)
        error = AccessDenied("the user did not allow it")
        response = await self.visits.refuse(visit, waiting, error)
        client_id = waiting.request.client.client_id
        self.visits.flow.emit(ConsentDenied(client_id=client_id, subject=session.subject))
        return response

    async def _allow(
        self,
        visit: Visit,
        waiting: WaitingRequest,
        turn: Interaction,
        session: Session,
        allowed: Wishes,
    ) -> Answer:
        request, client = waiting.request, waiting.request.client
        remembered = _can_remember(waiting) and visit.params.get("remember") is not None
        if remembered:
            asked = Wishes(scope=request.scope, claims=request.claims.beyond_scope)
            await self.visits.flow.consents.remember(
                session.subject,
                client,
                asked=asked,
                allowed=allowed,
                unverified_client_host=waiting.reply_to.unverified_client_host,
            )
        answers = msgspec.structs.replace(
            waiting.parked.answers.of(session),
            consented_scope=allowed.scope,
            consented_claims=allowed.claims,
        )
        # Of several posts of one form only the first comes back from here, and is an event.
        response = await self.visits.advance(visit, waiting, answers, turn)
        self.visits.flow.emit(
            ConsentGiven(
                client_id=client.client_id,
                subject=session.subject,
                scope=allowed.scope,
                claims=allowed.claims,
                authorization_details_types=types_of(request.authorization_details),
                remembered=remembered,
            )
        )
        return response

    def _read_allowed(self, params: Params, request: AuthorizeRequest) -> Wishes:
        """Return what was ticked, and required values, whose boxes are not submitted."""
        required = {each.name for each in self._scopes(request.scope) if each.required}
        return Wishes(
            scope=request.scope & (frozenset(params.every("scope")) | required),
            claims=request.claims.beyond_scope & frozenset(params.every("claim")),
        )

    def _values(self, scope: Scope, visitor: Visitor) -> list[tuple[str, str]]:
        """Return the user's data that the client or an API gets by the scope value."""
        resources = self.visits.registry.resources_by_scope.get(scope.name, ())
        names = [*scope.user_claims, *(name for one in resources for name in one.user_claims)]
        return shown_values(visitor.user_claims, names)

    def _scopes(self, scope: frozenset[str]) -> list[Scope]:
        """Return the scope values to show; openid is required, or it would not be a sign-in."""
        shown = shown_scopes(self.visits.registry, scope)
        return [replace(each, required=True) if each.name == OPENID else each for each in shown]


def _can_remember(waiting: WaitingRequest) -> bool:
    """Return whether the person may choose that a consent like this one is not asked for again."""
    return waiting.reply_to.may_remember_consent and not waiting.request.authorization_details
