"""/account/provider and its callback: the user signs in at an OpenID provider (OIDC Core §3.1.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiohttp import web

from service.authorize.flow import NextStep
from service.authorize.steps import IDENTITY_PROVIDER, LOGIN, find_provider
from service.http.answer import see_other
from service.identity.providers.provider import (
    ProviderFailed,
    ProviderUnavailable,
    ProviderWishes,
)
from service.identity.providers.sign_in import CALLBACK, ProviderSignIn, parked_id_in
from service.model.registry import IdentityProvider
from service.pages.login_page import LoginPage
from service.pages.sign_in_pages import SignInPages, Visit, WaitingRequest
from service.protocol.errors import InvalidRequest

PATH = IDENTITY_PROVIDER.path


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityProviderEndpoint:
    """Shows its errors on the login page."""

    sign_in: SignInPages
    login: LoginPage
    providers: ProviderSignIn

    def routes(self) -> Iterable[web.RouteDef]:
        return (
            web.get(PATH, self.sign_in.errors.around(self.leave), allow_head=False),
            web.get(CALLBACK, self.sign_in.errors.around(self.come_back), allow_head=False),
        )

    async def leave(self, request: web.Request) -> web.Response:
        """Send the user to the provider that the link or the client's request names."""
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        known = self.providers.registry.current
        name = visit.params.get("idp") or (waiting and find_provider(waiting.request, known))
        if waiting is not None and name is None:  # a reload has removed it
            login = NextStep(LOGIN.path, waiting.parked_id)
            return self.sign_in.send(request, login, visit.visitor, None)
        provider = self._find_provider(name or "", waiting)
        try:
            url = await self.providers.begin(
                provider,
                _wishes(waiting),
                browser=visit.visitor.browser,
                address=self.sign_in.visits.client_address.find(request),
                parked_id=waiting.parked_id if waiting else None,
            )
        except ProviderFailed as failure:
            return self._explain(visit, waiting, provider, failure)
        return self.sign_in.visits.mark(request, see_other(url), visit.visitor)

    async def come_back(self, request: web.Request) -> web.Response:
        """Begin a session for the user that the provider names, and continue."""
        visit = await self.sign_in.open_page(request)
        params, parked_id = visit.params, parked_id_in(visit.params)
        with self.sign_in.explain_end(parked_id):
            pending, provider = await self.providers.take(params, browser=visit.visitor.browser)
        waiting = await self.sign_in.find_waiting(visit, parked_id)
        try:
            who = await self.providers.finish(pending, provider, params)
        except ProviderFailed as failure:
            return self._explain(visit, waiting, provider, failure)
        return await self.login.continue_as(visit, waiting, who)

    def _find_provider(self, name: str, waiting: WaitingRequest | None) -> IdentityProvider:
        """Return the provider; raise InvalidRequest if the client does not accept its users."""
        provider = self.providers.find_provider(name)
        allowed = waiting.request.client.permissions if waiting else None
        if provider is None or (allowed and not allowed.accepts_users_of(name)):
            raise InvalidRequest("idp is not the name of an identity provider for this sign-in")
        return provider

    def _explain(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        provider: IdentityProvider,
        failure: ProviderFailed,
    ) -> web.Response:
        away = isinstance(failure, ProviderUnavailable)
        return self.login.show(
            visit,
            waiting,
            error="provider_unavailable" if away else "provider_refused",
            provider=provider.display_name,
        )


def _wishes(waiting: WaitingRequest | None) -> ProviderWishes:
    """Return the parameters of the client's request that are for the provider."""
    if waiting is None:
        return ProviderWishes()
    sent = waiting.request
    return ProviderWishes(
        prompt=sent.prompt,
        max_age=sent.max_age,
        login_hint=sent.login_hint,
        ui_locales=sent.ui_locales,
    )
