"""/account/login, /account/provider: the user signs in by password, or at an OpenID provider (OIDC Core §3.1.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from aiohttp import web

from service.authorize.steps import IDENTITY_PROVIDER, LOGIN, find_provider
from service.clock import clock
from service.http.endpoint import see_other
from service.identity.providers.provider import (
    ProviderFailed,
    ProviderRefused,
    ProviderUnavailable,
    ProviderUserRefused,
)
from service.identity.providers.requests import ProviderWishes
from service.identity.providers.sign_in import CALLBACK, OWN_CALLBACK, ProviderSignIn, parked_id_in
from service.identity.sign_in import AMR, LocalSignIn
from service.identity.sign_ins import SignIn
from service.identity.tenants import find_tenant_of_address, place_in_tenant
from service.model.identity_provider import IdentityProvider
from service.model.local_text import LocalText
from service.model.provider_events import ProviderSignInFailed
from service.model.tenant import Tenant
from service.model.user import LOCAL
from service.pages.sign_in_pages import (
    ACCOUNT,
    SignInPages,
    Visit,
    WaitingRequest,
    return_path,
)
from service.protocol.email_domain import find_domain
from service.protocol.errors import AccessDenied, InvalidRequest

FEW_FAILURES = 2
"""After more failed sign-ins in this browser, the login page says how long an account is locked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEndpoint:
    """Offers every way to sign in that the client accepts; without a client it leads to the user's account."""

    sign_in: SignInPages
    local: LocalSignIn
    providers: ProviderSignIn
    lockout: int
    """Seconds that an account is locked after too many failures."""

    def routes(self) -> Iterable[web.RouteDef]:
        errors = self.sign_in.errors
        return (
            *errors.page_and_form(LOGIN.path, self.page, self.submit),
            errors.page(IDENTITY_PROVIDER.path, self.leave),
            errors.page(CALLBACK, self.come_back),
            errors.page(OWN_CALLBACK, self.come_back),
        )

    async def page(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        hint = waiting.request.login_hint if waiting else None
        return self._show(visit, waiting, username=hint or "")

    async def submit(self, request: web.Request) -> web.Response:
        visit = await self.sign_in.open_form(request)
        params = visit.params
        waiting = await self.sign_in.find_waiting(visit, params.get("request"))
        if waiting and params.get("action") == "cancel":
            error = AccessDenied("the user cancelled")
            return await self.sign_in.refuse(visit, waiting, error)
        username, password = params.get("username") or "", params.get("password") or ""
        home = self._find_home(username, waiting)
        if home is not None:
            wishes = replace(_wishes(waiting), login_hint=username)
            return await self._send_to(home, visit, waiting, wishes)
        if not password and self._asks_name_first(waiting):
            return self._show_password_field(visit, waiting, username)
        if not _accepts_passwords(waiting):
            raise InvalidRequest("this client does not accept passwords of this service")
        address = self.sign_in.visits.client_address.find(request)
        tenants = waiting.request.tenants if waiting else ()
        user = await self.local.verify(username, password, address=address, tenants=tenants)
        if user is None:
            return self._show_failure(visit, waiting, username)
        sign_in = SignIn(
            subject=user.sub,
            idp=LOCAL,
            amr=AMR,
            auth_time=clock(),
            remember=params.get("remember") is not None,
        )
        return await self.sign_in.continue_as(visit, waiting, sign_in)

    async def leave(self, request: web.Request) -> web.Response:
        """Send the user to the provider that the link or the client's request names."""
        visit = await self.sign_in.open_page(request)
        waiting = await self.sign_in.find_waiting(visit, visit.params.get("request"))
        known = self.providers.registry.current
        name = visit.params.get("idp") or (waiting and find_provider(waiting.request, known))
        if waiting is not None and name is None:  # a reload has removed it
            return self.sign_in.go(visit, LOGIN.path, waiting.parked.id)
        provider = self.providers.find_provider(name or "")
        if provider is None or not self._accepts_users_of(provider, waiting):
            raise InvalidRequest("idp is not the name of an identity provider for this sign-in")
        return await self._send_to(provider, visit, waiting, _wishes(waiting))

    async def _send_to(
        self,
        provider: IdentityProvider,
        visit: Visit,
        waiting: WaitingRequest | None,
        wishes: ProviderWishes,
    ) -> web.Response:
        try:
            url = await self.providers.begin(
                provider,
                wishes,
                browser=visit.visitor.browser,
                address=self.sign_in.visits.client_address.find(visit.request),
                parked_id=waiting.parked.id if waiting else None,
            )
        except ProviderFailed as failure:
            return self._explain(visit, waiting, provider, failure)
        return self.sign_in.visits.mark(visit.request, see_other(url), visit.visitor)

    def _find_offered(self, waiting: WaitingRequest | None) -> list[IdentityProvider]:
        known = self.providers.registry.current.identity_providers.values()
        return [each for each in known if self._accepts_users_of(each, waiting)]

    def _asks_name_first(self, waiting: WaitingRequest | None) -> bool:
        registry = self.providers.registry.current
        return any(each.domains for each in self._find_offered(waiting)) or (
            (waiting is None or waiting.request.tenant is None)
            and any(each.domains for each in registry.tenants.values())
        )

    def _find_tenant(self, username: str, waiting: WaitingRequest | None) -> Tenant | None:
        """Return the request's tenant, else that of this e-mail address's domain."""
        if waiting is not None and waiting.request.tenant is not None:
            return waiting.request.tenant
        accepted = waiting.request.tenants if waiting else ()
        return find_tenant_of_address(username, self.providers.registry.current, accepted)

    def _find_home(self, username: str, waiting: WaitingRequest | None) -> IdentityProvider | None:
        """Return the provider of this e-mail address's domain, whether or not anybody has the address."""
        domain = find_domain(username)
        offered = self._find_offered(waiting) if domain else ()
        return next((each for each in offered if domain in each.domains), None)

    def _show_password_field(
        self, visit: Visit, waiting: WaitingRequest | None, username: str
    ) -> web.Response:
        """Return the second page of a login that asks for the name first, for every name alike."""
        if _accepts_passwords(waiting):
            has_name = bool(username.strip())
            return self._show(visit, waiting, username=username, asks_password=has_name)
        return self._show(visit, waiting, username=username, error="unknown_domain")

    async def come_back(self, request: web.Request) -> web.Response:
        """Begin a session for the user that the provider names, and continue."""
        visit = await self.sign_in.open_page(request)
        params, parked_id = visit.params, parked_id_in(visit.params)
        with self.sign_in.explain_end(parked_id):
            pending, provider = await self.providers.take(
                params,
                browser=visit.visitor.browser,
                callback_of=request.match_info.get("name"),
            )
        waiting = await self.sign_in.find_waiting(visit, parked_id)
        try:
            who = await self.providers.finish(pending, provider, params)
            who = self._place(who, waiting)
        except ProviderFailed as failure:
            return self._explain(visit, waiting, provider, failure)
        return await self.sign_in.continue_as(visit, waiting, who)

    def _show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        *,
        username: str = "",
        error: str | None = None,
        provider: str | LocalText | None = None,
        failures: int = 0,
        asks_password: bool = False,
    ) -> web.Response:
        """Return the page; `error` says what went wrong before, `provider` names where."""
        back, name_first = None, self._asks_name_first(waiting)
        if waiting is None and (path := return_path(visit.params)) != ACCOUNT:
            back = path
        tenant = self._find_tenant(username, waiting)
        providers = [each for each in self._find_offered(waiting) if each.show_link]
        if tenant is not None and (waiting is None or waiting.request.tenant is None):
            providers = [each for each in providers if each.name in tenant.providers]
        return self.sign_in.show(
            visit,
            "login.html",
            waiting,
            images=[each.logo_uri for each in providers],
            form_action=self.sign_in.pages.further if name_first else (),
            tenant=tenant,
            context={
                "action": LOGIN.path,
                "return_to": back,
                "username": username,
                "local_login": _accepts_passwords(waiting),
                "name_first": name_first,
                "name_only": name_first and not asks_password,
                "can_remember": True,
                "can_cancel": waiting is not None,
                "providers": [self._link(each, waiting) for each in providers],
                "error": error,
                "provider": provider,
                "wait_seconds": self.lockout if failures > FEW_FAILURES else 0,
            },
        )

    def _show_failure(
        self, visit: Visit, waiting: WaitingRequest | None, username: str
    ) -> web.Response:
        """Return the page after a wrong user name or password.

        What it says of waiting depends on this browser's failures alone: it discloses neither
        whether the account exists nor whether it is locked.
        """
        cookies, error = self.sign_in.visits.cookies, "invalid_credentials"
        failures = cookies.failed_sign_ins(visit.request) + 1
        page = self._show(
            visit, waiting, username=username, error=error, failures=failures, asks_password=True
        )
        cookies.set_failed_sign_ins(page, failures, max_age=self.lockout)
        return page

    def _explain(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        provider: IdentityProvider,
        failure: ProviderFailed,
    ) -> web.Response:
        error = "provider_refused"
        if isinstance(failure, ProviderUnavailable):
            error = "provider_unavailable"
        elif isinstance(failure, ProviderUserRefused):
            error = "provider_user_refused"
        return self._show(visit, waiting, error=error, provider=provider.display_name)

    def _accepts_users_of(self, provider: IdentityProvider, waiting: WaitingRequest | None) -> bool:
        """Return whether they may answer the request; without one, anybody may sign in."""
        registry = self.providers.registry.current
        return waiting is None or waiting.request.accepts_users_of(provider.name, registry)

    def _place(self, who: SignIn, waiting: WaitingRequest | None) -> SignIn:
        """Return the sign-in with the user's tenant; ProviderRefused if that is not the request's."""
        registry, asked = self.providers.registry.current, waiting.request if waiting else None
        placed = place_in_tenant(who, registry, asked.tenant if asked else None)
        tenant = registry.tenant_of(who.idp, placed.user_claims)
        if asked is None or asked.accepts_tenant(tenant):
            return placed
        cause = "its user is not of the tenant that the request is for"
        self.providers.emit(ProviderSignInFailed(provider=who.idp, cause=cause))
        raise ProviderRefused(cause)

    def _link(
        self, provider: IdentityProvider, waiting: WaitingRequest | None
    ) -> dict[str, object]:
        query = {"idp": provider.name} | ({"request": waiting.parked.id} if waiting else {})
        path = self.sign_in.pages.url(IDENTITY_PROVIDER.path)
        return {
            "name": provider.name,
            "display_name": provider.display_name,
            "logo_uri": provider.logo_uri,
            "href": f"{path}?{urlencode(query)}",
        }


def _accepts_passwords(waiting: WaitingRequest | None) -> bool:
    return waiting is None or waiting.request.client.enable_local_login


def _wishes(waiting: WaitingRequest | None) -> ProviderWishes:
    if waiting is None:
        return ProviderWishes()
    sent = waiting.request
    return ProviderWishes(
        prompt=sent.prompt,
        max_age=sent.max_age,
        login_hint=sent.login_hint,
        ui_locales=sent.ui_locales,
    )
