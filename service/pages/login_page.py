"""The login page and what follows a sign-in, by password or at a provider."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.flow import NextStep
from service.authorize.steps import IDENTITY_PROVIDER, LOGIN
from service.http.answer import see_other
from service.identity.sign_ins import SignIn
from service.model.local_text import LocalText
from service.model.registry import IdentityProvider, LiveRegistry
from service.pages.sign_in_over import SignInOver
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
        allowed = waiting.request.client.permissions if waiting else None
        providers = [
            each
            for name, each in self.registry.current.identity_providers.items()
            if allowed is None or allowed.accepts_users_of(name)
        ]
        return self.sign_in.show(
            visit,
            "login.html",
            waiting,
            images=[each.logo_uri for each in providers],
            context={
                "action": LOGIN.path,
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
        self, visit: Visit, waiting: WaitingRequest | None, sign_in: SignIn
    ) -> web.Response:
        """Go on to a step that is missing, or begin the session and go on to where it leads."""
        request, visits = visit.request, self.sign_in.visits
        parked_id, asked = (waiting.parked_id, waiting.request) if waiting else ("", None)
        if visit.visitor.partial and not await visits.partial_sign_ins.end(visit.visitor.partial):
            way_on = self.sign_in.way_on(parked_id)
            raise SignInOver("this sign-in took too long or was continued already", way_on=way_on)
        missing = self.sign_in.flow.find_missing_step(sign_in, asked)
        if missing is not None:
            visitor = await visits.keep_partial(visit.visitor, sign_in, parked_id=parked_id)
            return self.sign_in.send(request, NextStep(missing.path, parked_id), visitor, None)
        visitor = await visits.sign_in(request, visit.visitor, sign_in)
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
        path = self.sign_in.pages.url(IDENTITY_PROVIDER.path)
        return {
            "name": provider.name,
            "display_name": provider.display_name,
            "logo_uri": provider.logo_uri,
            "href": f"{path}?{urlencode(query)}",
        }
