"""The login page and what follows a sign-in, by password or at a provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import Visitor
from service.authorize.steps.identity_provider import SignInAtProvider
from service.authorize.steps.login import Login
from service.identity.sessions import SignIn
from service.model.registry import IdentityProvider, LiveRegistry
from service.web.respond import see_other
from service.web.sign_in_pages import SignInPages, Waiting

ACCOUNT = "/account"
"""Where a person goes who signs in without a client's request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPage:
    """Offers every way in that the client accepts."""

    sign_in: SignInPages
    registry: LiveRegistry

    def show(
        self,
        request: web.Request,
        visitor: Visitor,
        waiting: Waiting | None,
        *,
        username: str = "",
        error: str | None = None,
        provider: str | None = None,
    ) -> web.Response:
        """The page; `error` is what went wrong before, `provider` the display name of where."""
        providers = list(self._providers(waiting))
        return self.sign_in.show(
            request,
            "login.html",
            visitor,
            waiting,
            images=[each.logo_uri for each in providers],
            context={
                "action": Login.path,
                "username": username,
                "local_login": waiting is None or waiting.request.client.enable_local_login,
                "can_remember": True,
                "can_cancel": waiting is not None,
                "providers": [self._link(each, waiting) for each in providers],
                "error": error,
                "provider": provider,
            },
        )

    async def continue_as(
        self,
        request: web.Request,
        visitor: Visitor,
        waiting: Waiting | None,
        who: SignIn,
        *,
        remember: bool,
    ) -> web.Response:
        """Begin the session, and go on with the client's request or to the person's account."""
        signed_in, cookie = await self.sign_in.visits.sign_in(
            request, visitor, who, remember=remember
        )
        if waiting is None:
            response = see_other(self.sign_in.pages.url(ACCOUNT))
        else:
            # An earlier consent may have been another person's.
            answers = replace(waiting.parked.answers, authenticated=True, consented_scope=None)
            outcome = await self.sign_in.answered(waiting, signed_in, answers)
            response = self.sign_in.go_on(request, outcome, signed_in, waiting.request.ui_locales)
        if signed_in.session is not None:
            self.sign_in.visits.keep(response, signed_in.session, cookie)
        return response

    def _providers(self, waiting: Waiting | None) -> Iterator[IdentityProvider]:
        """Those that the client allows (`identity_provider_restrictions`; none named is all)."""
        allowed = waiting.request.client.identity_provider_restrictions if waiting else ()
        for name, provider in self.registry.current.identity_providers.items():
            if not allowed or name in allowed:
                yield provider

    def _link(self, provider: IdentityProvider, waiting: Waiting | None) -> dict[str, object]:
        query = {"idp": provider.name} | ({"request": waiting.parked_id} if waiting else {})
        path = self.sign_in.pages.url(SignInAtProvider.path)
        return {
            "name": provider.name,
            "display_name": provider.display_name,
            "logo_uri": provider.logo_uri,
            "href": f"{path}?{urlencode(query)}",
        }
