"""Shows the login page: every way to sign in that the client accepts (OIDC Core §3.1.2.3)."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlencode

import msgspec

from service.authorize.flow import WaitingRequest
from service.endpoints.factors.step import find_factor_turn
from service.identity.accepted_users import EVERYBODY, AcceptedUsers
from service.identity.factors.passkey_challenges import Asking
from service.identity.factors.passkeys import PasskeySignIn
from service.identity.providers.provider import (
    ProviderFailed,
    ProviderUnavailable,
    ProviderUserRefused,
)
from service.model.identity_provider import IdentityProvider
from service.model.local_text import LocalText
from service.model.registry import LiveRegistry
from service.model.tenant import Tenant
from service.model.user import LOCAL
from service.protocol.paths import ACCOUNT, IDENTITY_PROVIDER, LOGIN, REQUESTS, SECURITY
from service.web.endpoint import Answer
from service.web.visits import Visit, Visits, return_path

FEW_FAILURES = 2
"""After more failed sign-ins in this browser, the login page says how long an account is locked."""


class Verifying(msgspec.Struct, frozen=True, kw_only=True):
    """A login by which a user proves once more who it is."""

    reason: Literal["factors", "request"]
    """Second factors are to be added or changed, or a request that came without a browser is to be answered."""
    username: str
    """Empty for the user of an identity provider, who has no password here."""
    cancel_path: str | None
    """The page of the own account to go back to; None where a client waits for the answer."""


class LoginPage(msgspec.Struct, frozen=True, kw_only=True):
    visits: Visits
    passkeys: PasskeySignIn | None
    """None where browsers have no passkeys for this issuer."""
    registry: LiveRegistry
    lockout: int
    """Seconds that an account is locked after too many failures."""

    async def show(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        *,
        username: str = "",
        error: str | None = None,
        provider: str | LocalText | None = None,
        failures: int = 0,
        asks_password: bool = False,
    ) -> Answer:
        """Return the page; `error` says what went wrong before, `provider` names where."""
        verifying = await find_verifying(self.visits, visit, waiting)
        if verifying is not None and verifying.username:
            username, asks_password = username or verifying.username, True
        back, name_first = None, self.asks_name_first(waiting)
        if waiting is None and (path := return_path(visit.params)) != ACCOUNT:
            back = path
        tenant = self.find_tenant(username, waiting)
        providers = [each for each in self.find_offered(waiting) if each.show_link]
        if tenant is not None and accepted_users(waiting).tenant is None:
            providers = [each for each in providers if each.name in tenant.providers]
        passkey = None
        if self.passkeys is not None and accepts_passwords(waiting):
            passkey = await self.passkeys.offer(self.find_asking(visit, waiting))
        return self.visits.show(
            visit,
            "login.html",
            waiting,
            images=[each.logo_uri for each in providers],
            leads_away=name_first,
            tenant=tenant,
            context={
                "action": LOGIN,
                "return_to": back,
                "username": username,
                "local_login": accepts_passwords(waiting),
                "name_first": name_first,
                "name_only": name_first and not asks_password,
                "passkey": passkey,
                "can_remember": True,
                "remember": visit.request.method == "POST"
                and visit.params.get("remember") is not None,
                "verifying": verifying,
                "can_cancel": waiting is not None,
                "providers": [self._link(each, waiting, back) for each in providers],
                "error": error,
                "provider": provider,
                "wait_seconds": self.lockout if failures > FEW_FAILURES else 0,
            },
        )

    async def show_failure(
        self, visit: Visit, waiting: WaitingRequest | None, username: str
    ) -> Answer:
        """Return the page after a wrong user name or password.

        What it says of waiting depends on this browser's failures alone: it discloses neither
        whether the account exists nor whether it is locked.
        """
        cookies, error = self.visits.cookies, "invalid_credentials"
        failures = cookies.failed_sign_ins(visit.request) + 1
        page = await self.show(
            visit, waiting, username=username, error=error, failures=failures, asks_password=True
        )
        cookies.set_failed_sign_ins(page, failures, max_age=self.lockout)
        return page

    async def explain(
        self,
        visit: Visit,
        waiting: WaitingRequest | None,
        provider: IdentityProvider,
        failure: ProviderFailed,
    ) -> Answer:
        error = "provider_refused"
        if isinstance(failure, ProviderUnavailable):
            error = "provider_unavailable"
        elif isinstance(failure, ProviderUserRefused):
            error = "provider_user_refused"
        return await self.show(visit, waiting, error=error, provider=provider.display_name)

    async def show_password_field(
        self, visit: Visit, waiting: WaitingRequest | None, username: str
    ) -> Answer:
        """Return the second page of a login that asks for the name first, for every name alike."""
        if accepts_passwords(waiting):
            has_name = bool(username)
            return await self.show(visit, waiting, username=username, asks_password=has_name)
        return await self.show(visit, waiting, username=username, error="unknown_domain")

    def find_offered(self, waiting: WaitingRequest | None) -> list[IdentityProvider]:
        known = self.registry.current.identity_providers.values()
        return [each for each in known if self.accepts_users_of(each, waiting)]

    def asks_name_first(self, waiting: WaitingRequest | None) -> bool:
        return any(each.domains for each in self.find_offered(waiting)) or (
            accepted_users(waiting).tenant is None
            and any(each.domains for each in self.registry.current.tenants.values())
        )

    def find_tenant(self, username: str, waiting: WaitingRequest | None) -> Tenant | None:
        """Return the request's tenant, else that of this e-mail address's domain."""
        accepted, tenancy = accepted_users(waiting), self.registry.current.tenancy
        return accepted.tenant or tenancy.find_by_address(username, accepted.tenants)

    def accepts_users_of(self, provider: IdentityProvider, waiting: WaitingRequest | None) -> bool:
        """Return whether they may answer the request; without one, anybody may sign in."""
        registry = self.registry.current
        return waiting is None or waiting.request.accepts_users_of(provider.name, registry)

    def find_asking(self, visit: Visit, waiting: WaitingRequest | None) -> Asking:
        return Asking(
            purpose="sign-in",
            browser=visit.visitor.browser,
            address=self.visits.client_address.find(visit.request),
            parked_id=waiting.parked.id if waiting else "",
        )

    def _link(
        self, provider: IdentityProvider, waiting: WaitingRequest | None, back: str | None
    ) -> dict[str, object]:
        query = {"idp": provider.name} | ({"request": waiting.parked.id} if waiting else {})
        if back is not None:
            query["return_to"] = back
        path = self.visits.pages.url(IDENTITY_PROVIDER)
        return {
            "name": provider.name,
            "display_name": provider.display_name,
            "logo_uri": provider.logo_uri,
            "href": f"{path}?{urlencode(query)}",
        }


def accepted_users(waiting: WaitingRequest | None) -> AcceptedUsers:
    """Return the users that may answer the request; without one, anybody may sign in."""
    return waiting.request.users if waiting else EVERYBODY


def accepts_passwords(waiting: WaitingRequest | None) -> bool:
    return waiting is None or waiting.request.client.enable_local_login


async def find_verifying(
    visits: Visits, visit: Visit, waiting: WaitingRequest | None
) -> Verifying | None:
    """Return why a user with a session is asked to sign in again; None for any other login (ASVS 7.5.1)."""
    visitor = visit.visitor
    so_far = visitor.sign_in_for(waiting.parked.id if waiting else "")
    if so_far is None:
        return None
    path, is_at_own_account = return_path(visit.params), waiting is None and visitor.session
    if is_at_own_account and path == ACCOUNT:
        return None
    if not is_at_own_account:
        turn = await find_factor_turn(visits.flow, visitor, waiting)
        if turn is None or not turn.enrollable:
            return None
        if await visits.visitors.has_just_proved(visitor, turn.sign_in):
            return None
    username = await visits.visitors.subjects.find_username(so_far) if so_far.idp == LOCAL else None
    is_of_request = is_at_own_account and path.startswith(REQUESTS)
    back = REQUESTS if is_of_request else SECURITY
    return Verifying(
        reason="request" if is_of_request else "factors",
        username=username or "",
        cancel_path=back if is_at_own_account else None,
    )
