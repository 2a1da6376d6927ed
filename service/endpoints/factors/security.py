"""/account/security: the user sees, names and removes the own second factors, and gets new recovery codes (ASVS 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from service.endpoints.factors.shown import notice_of_recovery_codes
from service.identity.factors.enrolment import FactorChanges, read_name
from service.model.factors import Factors, Passkey, Totp
from service.model.session import Session
from service.model.user import LOCAL
from service.protocol.errors import InvalidRequest
from service.protocol.paths import ADD_FACTOR, SECURITY
from service.web.endpoint import Answer, Direct, Message
from service.web.visits import Visit, Visits

PATH = SECURITY


class SecurityEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Changes need a login of the last minutes; a change that comes too late leads to the login, and is made by another click."""

    visits: Visits
    changes: FactorChanges

    def routes(self) -> Iterable[Direct]:
        return self.visits.errors.page_and_form(PATH, self.page, self.submit)

    async def page(self, request: Message) -> Answer:
        visit = await self.visits.open_page(request)
        session = await self.visits.visitors.find_own_session(visit.visitor)
        if session is None:
            return await self.visits.ask_for_session(visit, PATH)
        return await self._show(visit, session)

    async def submit(self, request: Message) -> Answer:
        visit = await self.visits.open_form(request)
        session = await self.visits.visitors.find_fresh_session(visit.visitor)
        if session is None or visit.form_session is None:
            return self.visits.go_to_login(visit, PATH)
        sub, params = session.subject, visit.params
        address = self.visits.client_address.find(visit.request)
        match params.get("action"):
            case "remove":
                if await self._is_last_needed(session, params.require("factor")):
                    return await self._show(visit, session, error="last_factor")
                await self.changes.remove(sub, params.require("factor"), address=address)
            case "rename":
                name = read_name(params.get("name"))
                await self.changes.rename(sub, params.require("factor"), name, address=address)
            case "renew-recovery-codes":
                codes = await self.changes.renew_recovery_codes(sub, address=address)
                if notice := notice_of_recovery_codes(self.visits, codes):
                    return notice(visit, None)
            case _:
                raise InvalidRequest("action is not remove, rename or renew-recovery-codes")
        return self.visits.go(visit, PATH)

    async def _is_last_needed(self, session: Session, factor_id: str) -> bool:
        """Return whether the user could not sign in again without this factor."""
        mfa = self.visits.registry.mfa
        factors = await self.changes.second_factors.enrolled.find(session.subject)
        listed = [each["id"] for each in _list(factors)]
        return (mfa.required, mfa.enrolment, listed) == ("always", "account", [factor_id])

    async def _show(self, visit: Visit, session: Session, *, error: str | None = None) -> Answer:
        factors = await self.changes.second_factors.enrolled.find(session.subject)
        context = {
            "action": PATH,
            "user": await self.visits.shown_user(visit.visitor),
            "has_password": session.idp == LOCAL,
            "factors": _list(factors),
            "recovery_codes_left": len(factors.recovery_codes),
            "addable": [
                {
                    "name": name,
                    "href": self.visits.href(visit.visitor, ADD_FACTOR, {"method": name}),
                }
                for name in self.changes.find_addable(factors)
            ],
            "error": error,
        }
        return self.visits.show(visit, "security.html", context=context)


def _list(factors: Factors) -> list[Mapping[str, object]]:
    """Return the factors as the page shows them."""
    listed: list[tuple[str, str, Totp | Passkey]] = []
    if factors.totp is not None:
        listed.append(("otp", factors.totp.id, factors.totp))
    listed += [("passkey", each.credential_id, each) for each in factors.passkeys]
    return [
        {
            "method": method,
            "id": factor_id,
            "name": factor.name,
            "created_at": factor.created_at,
            "last_used": factor.last_used,
        }
        for method, factor_id, factor in listed
    ]
