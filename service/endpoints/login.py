"""/account/login: the user signs in by password (OIDC Core §3.1.2.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from aiohttp import web

from service.authorize.steps import LOGIN
from service.identity.sign_in import AMR, LocalSignIn
from service.identity.sign_ins import SignIn
from service.model.user import LOCAL
from service.pages.login_page import LoginPage
from service.pages.sign_in_pages import SignInPages
from service.protocol.errors import AccessDenied, InvalidRequest

PATH = LOGIN.path


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEndpoint:
    """Serves a client's request or, without one, the user's account."""

    sign_in: SignInPages
    login: LoginPage
    local: LocalSignIn
    now: Callable[[], int]

    def routes(self) -> Iterable[web.RouteDef]:
        return self.sign_in.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        hint = waiting.request.login_hint if waiting else None
        return self.login.show(visit, waiting, username=hint or "")

    async def submit(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_form(request)
        params = visit.params
        waiting = await self.sign_in.find_waiting(visit, params.get("request"))
        if waiting and params.get("action") == "cancel":
            refusal = AccessDenied("the user cancelled")
            return await self.sign_in.refuse(visit, waiting, refusal)
        if waiting and not waiting.request.client.enable_local_login:
            raise InvalidRequest("this client does not accept passwords of this service")
        username = params.get("username") or ""
        address, password = (
            self.sign_in.visits.client_address.find(request),
            params.get("password") or "",
        )
        user = await self.local.verify(username, password, address=address)
        if user is None:
            return self.login.show_failure(visit, waiting, username=username)
        sign_in = SignIn(
            subject=user.sub,
            idp=LOCAL,
            amr=AMR,
            auth_time=self.now(),
            remember=params.get("remember") is not None,
        )
        return await self.login.continue_as(visit, waiting, sign_in)
