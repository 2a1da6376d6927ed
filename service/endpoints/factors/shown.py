"""Shows what the pages of second factors share (RFC 9470 §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from service.authorize.flow import WaitingRequest
from service.identity.factors.methods import Asked, FactorAttempt
from service.protocol.paths import SECOND_FACTOR
from service.web.endpoint import Answer
from service.web.visits import Notice, Visit, Visits, return_path


def read_attempt(
    visits: Visits, visit: Visit, waiting: WaitingRequest | None, subject: str
) -> FactorAttempt:
    """Return the proof of a factor that a form holds."""
    return FactorAttempt(
        sub=subject,
        params=visit.params,
        asked=asked_on(visit, waiting),
        address=visits.client_address.find(visit.request),
    )


def asked_on(visit: Visit, waiting: WaitingRequest | None) -> Asked:
    """Return what a challenge on this page is bound to."""
    parked_id = waiting.parked.id if waiting else ""
    return Asked(browser=visit.visitor.browser, parked_id=parked_id)


def links_to_others(
    visits: Visits,
    visit: Visit,
    path: str,
    names: Iterable[str],
    shown: str | None,
    *,
    place: Mapping[str, str],
) -> list[Mapping[str, str]]:
    """Return the links by which the page at this path shows other methods than the shown one."""
    return [
        {"name": name, "href": visits.href(visit.visitor, path, {**place, "method": name})}
        for name in names
        if name != shown
    ]


def notice_of_recovery_codes(visits: Visits, codes: Sequence[str]) -> Notice | None:
    """Return the only page that ever shows these codes; None without codes."""
    if not codes:
        return None

    def show(visit: Visit, waiting: WaitingRequest | None) -> Answer:
        context = {"codes": codes, "continue_href": find_way_after(visits, visit, waiting)}
        return visits.show(visit, "recovery_codes.html", waiting, context=context)

    return show


def find_way_after(visits: Visits, visit: Visit, waiting: WaitingRequest | None) -> str:
    """Return the link that goes on after a notice."""
    path = SECOND_FACTOR if waiting else return_path(visit.params)
    return visits.href(visit.visitor, path, {"request": waiting.parked.id} if waiting else {})
