"""/account/login, /account/provider: the user signs in by password, or at an OpenID provider (OIDC Core §3.1.2)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from service.authorize.flow import WaitingRequest
from service.authorize.interaction import Interaction, Step
from service.authorize.request import AuthorizeRequest
from service.clock import clock
from service.endpoints.login_page import LoginPage, accepted_users, accepts_passwords
from service.identity.password_sign_in import AMR, PasswordSignIn
from service.identity.providers.provider import (
    ProviderFailed,
)
from service.identity.providers.requests import ProviderWishes
from service.identity.providers.sign_in import ProviderSignIn, parked_id_in
from service.identity.sign_in import SignIn
from service.model.identity_provider import IdentityProvider
from service.model.session import Session
from service.model.user import LOCAL, PasswordExpired, User
from service.protocol import paths
from service.protocol.errors import AccessDenied, InvalidRequest, LoginRequired
from service.protocol.params import Params
from service.protocol.paths import CALLBACK, IDPS, OWN_CALLBACK, SECURITY
from service.protocol.typed_text import find_domain, trim_name
from service.web.endpoint import Answer, Direct, Message, name_in, raw_path, see_other
from service.web.visits import Visit, Visits, explain_end, return_path


def find_provider(request: AuthorizeRequest, session: Session | None) -> str | None:
    """Return the provider that the request names, else that of the session's user; None for a user of this service."""
    if request.idp is not None or session is None or session.idp == LOCAL:
        return request.idp
    return session.idp


def _provider_can_meet_acr(interaction: Interaction) -> bool:
    """Return whether a provider whose acr and amr count can authenticate its user again, never somebody else's."""
    if interaction.session is None or interaction.answers.authenticated:
        return False
    request, registry = interaction.request, interaction.registry
    provider = find_provider(request, interaction.session)
    return (
        provider is not None
        and registry.trusts_methods_of(provider)
        and request.accepts_users_of(provider, registry)
    )


def _password_can_meet_acr(interaction: Interaction) -> bool:
    return (
        not interaction.answers.authenticated
        and interaction.request.client.enable_local_login
        and interaction.request.idp is None
        and interaction.is_acr_met_by(AMR)
    )


IDENTITY_PROVIDER = Step(
    path=paths.IDENTITY_PROVIDER,
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.request.idp is not None and interaction.needs_login,
    can_meet_acr=_provider_can_meet_acr,
)
"""Sends the user to an identity provider without a page of this service (acr_values=idp:<name>)."""
LOGIN = Step(
    path=paths.LOGIN,
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.needs_login,
    can_meet_acr=_password_can_meet_acr,
)


class LoginEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Offers every way to sign in that the client accepts; without a client it leads to the user's account."""

    visits: Visits
    local: PasswordSignIn
    providers: ProviderSignIn
    login_page: LoginPage

    def routes(self) -> Iterable[Direct]:
        errors = self.visits.errors
        return (
            *errors.page_and_form(LOGIN.path, self.page, self.submit),
            errors.page(IDENTITY_PROVIDER.path, self.leave),
            errors.page(CALLBACK, self.come_back),
            errors.page(OWN_CALLBACK, self.come_back),
        )

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        hint = waiting.request.login_hint if waiting else None
        return await self.login_page.show(visit, waiting, username=hint or "")

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        params = visit.params
        waiting = await self.visits.find_waiting(visit, params.get("request"))
        if waiting and params.get("action") == "cancel":
            error = AccessDenied("the user cancelled")
            return await self.visits.refuse(visit, waiting, error)
        if params.get("passkey") and accepts_passwords(waiting):
            return await self._sign_in_by_passkey(visit, waiting)
        username, password = trim_name(params.get("username") or ""), params.get("password") or ""
        home = self._find_home(username, waiting)
        if home is not None:
            wishes = replace(_wishes(visit, waiting), login_hint=username)
            return await self._send_to(home, visit, waiting, wishes)
        if not password and self.login_page.asks_name_first(waiting):
            return await self.login_page.show_password_field(visit, waiting, username)
        if not accepts_passwords(waiting):
            raise InvalidRequest("this client does not accept passwords of this service")
        return await self._sign_in_by_password(visit, waiting, username, password)

    async def _sign_in_by_password(
        self, visit: Visit, waiting: WaitingRequest | None, username: str, password: str
    ) -> Answer:
        address = self.visits.client_address.find(visit.request)
        accepted = accepted_users(waiting)
        try:
            user = await self.local.verify(username, password, address=address, accepted=accepted)
        except PasswordExpired:
            return await self.login_page.show(
                visit, waiting, username=username, error="password_expired", asks_password=True
            )
        if user is None:
            return await self.login_page.show_failure(visit, waiting, username)
        return await self.visits.continue_as(visit, waiting, _sign_in_of(user, AMR, visit.params))

    async def _sign_in_by_passkey(self, visit: Visit, waiting: WaitingRequest | None) -> Answer:
        """Begin a session for the user whose passkey it is; what is wrong with one, only the audit log tells."""
        passkeys, found = self.login_page.passkeys, None
        if passkeys is not None:
            found = await passkeys.verify(
                self.login_page.find_asking(visit, waiting),
                visit.params.require("passkey"),
                accepted=accepted_users(waiting),
            )
        if found is None:
            return await self.login_page.show(visit, waiting, error="passkey_refused")
        user, amr = found
        return await self.visits.continue_as(visit, waiting, _sign_in_of(user, amr, visit.params))

    async def leave(self, request: Message) -> Answer:
        """Send the user to the provider that the link or the client's request names."""
        visit = await self.visits.open_page(request)
        waiting = await self.visits.find_waiting(visit, visit.params.get("request"))
        name = visit.params.get("idp")
        if waiting is not None and name is None:
            name = find_provider(waiting.request, visit.visitor.session)
        if waiting is not None and name is None:  # a reload has removed it
            return self.visits.go(visit, LOGIN.path, waiting.parked.id)
        provider = self.providers.find_provider(name or "")
        if provider is None or not self.login_page.accepts_users_of(provider, waiting):
            raise InvalidRequest("idp is not the name of an identity provider for this sign-in")
        return await self._send_to(provider, visit, waiting, _wishes(visit, waiting))

    async def _send_to(
        self,
        provider: IdentityProvider,
        visit: Visit,
        waiting: WaitingRequest | None,
        wishes: ProviderWishes,
    ) -> Answer:
        try:
            url = await self.providers.begin(
                provider,
                wishes,
                browser=visit.visitor.browser,
                address=self.visits.client_address.find(visit.request),
                parked_id=waiting.parked.id if waiting else None,
                return_to=None if waiting else return_path(visit.params),
            )
        except ProviderFailed as failure:
            return await self.login_page.explain(visit, waiting, provider, failure)
        return self.visits.mark(see_other(url), visit.visitor)

    def _find_home(self, username: str, waiting: WaitingRequest | None) -> IdentityProvider | None:
        """Return the provider of this e-mail address's domain, whether or not anybody has the address."""
        domain = find_domain(username)
        offered = self.login_page.find_offered(waiting) if domain else ()
        return next((each for each in offered if domain in each.domains), None)

    async def come_back(self, request: Message) -> Answer:
        """Begin a session for the user that the provider names, and continue."""
        visit = await self.visits.open_page(request)
        params, parked_id = visit.params, parked_id_in(visit.params)
        with explain_end(parked_id):
            pending, provider = await self.providers.take(
                params,
                browser=visit.visitor.browser,
                callback_of=_provider_in(request),
            )
        waiting = await self.visits.find_waiting(visit, parked_id)
        visit = _lead_back(visit, pending.return_to)
        try:
            accepted = accepted_users(waiting)
            who = await self.providers.finish(pending, provider, params, accepted=accepted)
        except ProviderFailed as failure:
            return await self.login_page.explain(visit, waiting, provider, failure)
        return await self.visits.continue_as(visit, waiting, who)


def _provider_in(request: Message) -> str | None:
    """Return the provider whose own callback this is; None for the one that all share."""
    return None if raw_path(request) == CALLBACK else name_in(request, IDPS)


def _sign_in_of(user: User, amr: tuple[str, ...], params: Params) -> SignIn:
    return SignIn(
        subject=user.sub,
        idp=LOCAL,
        amr=amr,
        auth_time=clock(),
        remember=params.get("remember") is not None,
    )


def _lead_back(visit: Visit, path: str | None) -> Visit:
    """Return the visit as one that leads to this page of the service afterwards; None for the account."""
    params = Params({**visit.params.values, "return_to": (path or "",)})
    return replace(visit, params=params)


def _wishes(visit: Visit, waiting: WaitingRequest | None) -> ProviderWishes:
    """Return what the provider is asked for: by the client's request, or by the page that needs a login of the last minutes."""
    if waiting is None:
        is_changing = return_path(visit.params).startswith(SECURITY)
        return ProviderWishes(prompt=frozenset({"login"} if is_changing else ()))
    sent = waiting.request
    return ProviderWishes(
        prompt=sent.prompt,
        max_age=sent.max_age,
        login_hint=sent.login_hint,
        ui_locales=sent.ui_locales,
    )
