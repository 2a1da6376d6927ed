"""/account/requests: the user answers CIBA requests, after signing in as the user whom the client named (CIBA Core §8)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from service.ciba.pending import CibaRequests, PendingRequest
from service.clock import clock
from service.events.ciba import CibaApproved, CibaDenied
from service.identity.factors.second_factors import lacks_second_factor
from service.identity.password_sign_in import AMR
from service.identity.providers.claims import with_trusted_methods
from service.model.client import Client
from service.model.factors import Factors
from service.model.session import Session
from service.protocol.errors import AlreadyAnswered, InvalidRequest, LoginRequired
from service.protocol.paths import REQUESTS, SECURITY
from service.tokens.permitted import may_use
from service.web.endpoint import Answer, Direct, Message, name_in, raw_path
from service.web.pages.display import shown_details, shown_scopes
from service.web.pages.error_page import SignInOver
from service.web.visits import Visit, Visits


class AccountRequestsEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits
    requests: CibaRequests

    def routes(self) -> Iterable[Direct]:
        errors = self.visits.errors
        return (
            errors.page(REQUESTS, self.list),
            *errors.page_and_form(f"{REQUESTS}/{{ref}}", self.page, self.submit),
        )

    async def list(self, request: Message) -> Answer:
        """Show what waits for the user."""
        visit = await self.visits.open_page(request)
        session = await self.visits.visitors.find_own_session(visit.visitor)
        if session is None:
            return await self.visits.ask_for_session(visit, REQUESTS)
        pending = await self.requests.find_all_of(session.subject)
        shown = [(each, await self._find_client(each)) for each in pending]
        answered = visit.params.get("answered") or ""
        decision = await self.requests.find_decision(answered, session.subject)
        context = {
            "action": REQUESTS,
            "user": await self.visits.shown_user(visit.visitor),
            "allowed": None if decision is None else decision.is_allowed,
            "requests": [
                {"ref": each.ref, "client": client, "shown": each.shown}
                for each, client in shown
                if client is not None
            ],
        }
        logos = [client.logo_uri for _, client in shown if client is not None]
        return self.visits.show(visit, "requests.html", images=logos, context=context)

    async def page(self, request: Message) -> Answer:
        """Show one request, or the login page first."""
        visit = await self.visits.open_page(request)
        path = raw_path(request)
        session = await self._find_session(visit)
        if session is None:
            return await self.visits.ask_for_session(visit, path)
        pending, client = await self._require(request, session)
        if self._needs_login(pending, client, session):
            return self.visits.go_to_login(visit, path)
        if self._lacks_factor(pending, client, session):
            return self._explain_factor(visit)
        registry = self.visits.registry
        context = {
            "action": path,
            "user": await self.visits.shown_user(visit.visitor),
            "may_use_client": self._may_use(client, visit),
            "client": client,
            "shown": pending.shown,
            "scopes": shown_scopes(registry, pending.polled.scope),
            "details": shown_details(registry, pending.polled.authorization_details),
        }
        return self.visits.show(visit, "request.html", images=[client.logo_uri], context=context)

    async def submit(self, request: Message) -> Answer:
        """Keep the answer; the first one counts, whichever browser and replica it comes from."""
        visit = await self.visits.open_form(request)
        path = raw_path(request)
        session = await self._find_session(visit)
        if session is None or visit.form_session is None:
            return self.visits.go(visit, path)
        pending, client = await self._require(request, session)
        if self._needs_login(pending, client, session):
            return self.visits.go_to_login(visit, path)
        try:
            if visit.params.get("action") == "allow" and self._lacks_factor(
                pending, client, session
            ):
                return self._explain_factor(visit)
            return await self._answer(visit, pending, session, client)
        except AlreadyAnswered as error:
            raise self._over() from error
        except LoginRequired:
            return self.visits.go(visit, path)

    async def _answer(
        self, visit: Visit, pending: PendingRequest, session: Session, client: Client
    ) -> Answer:
        flow, shown = self.visits.flow, pending.shown
        match visit.params.get("action"):
            case "allow" if self._may_use(client, visit):
                await self.requests.approve(pending, session, client, flow.registry.current)
                event = CibaApproved(
                    client_id=shown.client_id,
                    subject=shown.subject,
                    auth_req_ref=pending.ref,
                    scope=shown.scope,
                )
                flow.emit(event)
                return self.visits.go(visit, f"{REQUESTS}?answered={pending.ref}")
            case "allow" | "deny":
                await self.requests.deny(pending)
                flow.emit(
                    CibaDenied(
                        client_id=shown.client_id, subject=shown.subject, auth_req_ref=pending.ref
                    )
                )
                return self.visits.go(visit, f"{REQUESTS}?answered={pending.ref}")
            case _:
                raise InvalidRequest("action is not allow or deny")

    async def _require(self, request: Message, session: Session) -> tuple[PendingRequest, Client]:
        """Return the request, which waits for this user; another user's looks as if it were over."""
        ref = name_in(request, f"{REQUESTS}/")
        pending = await self.requests.find(ref, session.subject)
        client = await self._find_client(pending) if pending else None
        if pending is None or client is None:
            raise self._over()
        return pending, client

    def _may_use(self, client: Client, visit: Visit) -> bool:
        session, registry = visit.visitor.session, self.visits.registry
        return session is not None and may_use(
            registry.permissions_of(client),
            session.subject,
            session.idp,
            visit.visitor.user_claims,
            registry,
        )

    async def _find_client(self, pending: PendingRequest) -> Client | None:
        client = await self.visits.flow.reader.clients.find(pending.shown.client_id)
        return client if client is not None and client.enabled else None

    def _over(self) -> SignInOver:
        message = "this request is unknown, has expired or was answered already"
        return SignInOver(message, leads_to=REQUESTS)

    def _needs_login(self, pending: PendingRequest, client: Client, session: Session) -> bool:
        """Return whether the user has to sign in again: with another provider, later, or by a password (CIBA Core §7.1)."""
        if not client.permissions.accepts_users_of(session.idp):
            return True
        if session.auth_time >= pending.shown.created_at:  # since the client asked
            return False
        bounds = [client.default_max_age, client.user_sso_lifetime]
        age = clock() - session.auth_time
        return any(bound is not None and age >= bound for bound in bounds) or self._lacks_acr(
            pending, client, session
        )

    def _lacks_acr(self, pending: PendingRequest, client: Client, session: Session) -> bool:
        """Return whether a password could meet an authentication context that the session does not meet."""
        registry = self.visits.registry
        asked = pending.asked_acr(client, registry)
        return any(
            one.is_met_by(AMR, registry, acr=None)
            and not one.is_met_by(session.methods, registry, acr=session.acr)
            for one in (asked, asked.without_wish())
        )

    def _lacks_factor(self, pending: PendingRequest, client: Client, session: Session) -> bool:
        """Return whether the client, or what it asks for, needs more than the user has given.

        A user with a second factor has used it to open this page; one without would have to enrol it first.
        """
        registry = self.visits.registry
        lacks = lacks_second_factor(session.methods, Factors(), registry, client)
        asked = pending.asked_acr(client, registry)
        return lacks or not asked.is_satisfied_by(session.methods, registry, acr=session.acr)

    def _explain_factor(self, visit: Visit) -> Answer:
        context = {"action": REQUESTS, "method": None, "security_path": SECURITY}
        return self.visits.show(visit, "second_factor.html", context=context)

    async def _find_session(self, visit: Visit) -> Session | None:
        """Return the session, without the word of an identity provider that is not trusted."""
        session = await self.visits.visitors.find_own_session(visit.visitor)
        return session and with_trusted_methods(session, self.visits.registry)
