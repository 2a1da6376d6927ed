"""The login page and what follows a sign-in, by password or at a provider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.steps.identity_provider import SignInAtProvider
from service.authorize.steps.login import Login
from service.http.respond import see_other
from service.identity.sessions import SignIn
from service.model.local_text import LocalText
from service.model.registry import IdentityProvider, LiveRegistry
from service.pages.sign_in_pages import ACCOUNT, SignInPages, Visit, WaitingRequest

FEW_FAILURES = 2
"""After more failed sign-ins in this browser, the login page says how long an account is locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPage:
    """Offers every way to sign in that the client accepts."""

    sign_in: SignInPages
    registry: LiveRegistry
    lockout: int
    """Seconds that an account is locked after too many failures."""

    def show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        *,
        username: str = "",
        error: str | None = None,
        provider: str | LocalText | None = None,
        failures: int = 0,
    ) -> web.Response:
        """Return the page; `error` says what went wrong before, `provider` names where."""
        allowed = waiting.request.client.identity_provider_restrictions if waiting else ()
        providers = [
            each
            for name, each in self.registry.current.identity_providers.items()
            if not allowed or name in allowed
        ]
        return self.sign_in.show(
            visit,
            "login.html",
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
                "wait_seconds": self.lockout if failures > FEW_FAILURES else 0,
            },
        )

    def show_failure(
        self, visit: Visit, waiting: WaitingRequest | None, *, username: str
    ) -> web.Response:
        """Return the page after a wrong user name or password.

        What it says of waiting depends on this browser's failures alone: it discloses neither
        whether the account exists nor whether it is locked.
        """
        cookies = self.sign_in.visits.cookies
        failures = cookies.failed_sign_ins(visit.request) + 1
        error = "invalid_credentials"
        page = self.show(visit, waiting, username=username, error=error, failures=failures)
        cookies.set_failed_sign_ins(page, failures, max_age=self.lockout)
        return page

    async def continue_as(
        self, visit: Visit, waiting: WaitingRequest | None, sign_in: SignIn, *, remember: bool
    ) -> web.Response:
        """Begin the session, and go on with the client's request or to the user's account."""
        request, visits = visit.request, self.sign_in.visits
        visitor = await visits.sign_in(request, visit.visitor, sign_in, remember=remember)
        if waiting is None:
            response = visits.mark(request, see_other(self.sign_in.pages.url(ACCOUNT)), visitor)
        else:
            # An earlier consent may have been another user's.
            answers = replace(waiting.parked.answers, authenticated=True, consented_scope=None)
            response = await self.sign_in.advance(replace(visit, visitor=visitor), waiting, answers)
        if visits.cookies.failed_sign_ins(request):
            visits.cookies.set_failed_sign_ins(response, 0, max_age=0)
        return response

    def _link(
        self, provider: IdentityProvider, waiting: WaitingRequest | None
    ) -> dict[str, object]:
        query = {"idp": provider.name} | ({"request": waiting.parked_id} if waiting else {})
        path = self.sign_in.pages.url(SignInAtProvider.path)
        return {
            "name": provider.name,
            "display_name": provider.display_name,
            "logo_uri": provider.logo_uri,
            "href": f"{path}?{urlencode(query)}",
        }
