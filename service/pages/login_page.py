"""The login page and what follows a sign-in, by password or at a provider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import Visitor
from service.authorize.steps.identity_provider import SignInAtProvider
from service.authorize.steps.login import Login
from service.http.respond import see_other
from service.identity.sessions import SignIn
from service.model.local_text import LocalText
from service.model.registry import IdentityProvider, LiveRegistry
from service.pages.sign_in_pages import ACCOUNT, SignInPages, Waiting

FEW_FAILURES = 2
"""After more of them the login page speaks of waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPage:
    """Offers every way in that the client accepts."""

    sign_in: SignInPages
    registry: LiveRegistry
    lockout: int
    """Seconds that an account is locked after too many failures."""

    def show(
        self,
        request: web.Request,
        visitor: Visitor,
        waiting: Waiting | None,
        *,
        username: str = "",
        error: str | None = None,
        provider: str | LocalText | None = None,
        has_failed_often: bool = False,
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
                "wait_seconds": self.lockout if has_failed_often else 0,
            },
        )

    def show_failure(
        self,
        request: web.Request,
        visitor: Visitor,
        waiting: Waiting | None,
        *,
        username: str,
    ) -> web.Response:
        """Return the page after a wrong user name or password.

        From the third failure on it says that one may have to wait. That depends on this browser's failures alone, so
        that it discloses neither whether the account exists nor whether it is locked.
        """
        cookies = self.sign_in.visits.cookies
        failures = cookies.failed_sign_ins(request) + 1
        page = self.show(
            request,
            visitor,
            waiting,
            username=username,
            error="invalid_credentials",
            has_failed_often=failures > FEW_FAILURES,
        )
        cookies.set_failed_sign_ins(page, failures, max_age=self.lockout)
        return page

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
        if self.sign_in.visits.cookies.failed_sign_ins(request):
            self.sign_in.visits.cookies.set_failed_sign_ins(response, 0, max_age=0)
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
