"""Finds the factors that a user has proved so far, and shows the page that follows (RFC 9470 §4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from aiohttp import web

from service.authorize.second_factor import (
    SECOND_FACTOR,
    can_enrol,
    find_enrollable,
    find_useful,
)
from service.identity.factors.methods import Asked, FactorAttempt
from service.identity.factors.second_factors import SecondFactors
from service.identity.sign_ins import SignIn
from service.pages.own_pages import return_path
from service.pages.sign_in_pages import Notice, SignInPages, Visit, WaitingRequest


def read_attempt(
    sign_in: SignInPages, visit: Visit, waiting: WaitingRequest | None, subject: str
) -> FactorAttempt:
    """Return the proof of a factor that a form holds."""
    return FactorAttempt(
        sub=subject,
        params=visit.params,
        asked=asked_on(visit, waiting),
        address=sign_in.visits.client_address.find(visit.request),
    )


def asked_on(visit: Visit, waiting: WaitingRequest | None) -> Asked:
    """Return what a challenge on this page is bound to."""
    parked_id = waiting.parked.id if waiting else ""
    return Asked(browser=visit.visitor.browser, parked_id=parked_id)


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """The factors that are done, and the ways to go on from there."""

    sign_in: SignIn
    offered: Mapping[str, frozenset[str]]
    """Names of methods, with the `amr` that each can add; empty where the user has none that would do."""
    enrollable: frozenset[str]
    """Names of the methods of which the user may enrol the first factor now."""


async def find_turn(
    sign_in_pages: SignInPages,
    second_factors: SecondFactors,
    visit: Visit,
    waiting: WaitingRequest | None,
) -> Turn | None:
    """Return what the second factor's pages have to ask for; None if nothing, or if another step comes first."""
    flow, visitor = sign_in_pages.flow, visit.visitor
    parked_id = waiting.parked.id if waiting else ""
    sign_in = visitor.sign_in_for(parked_id)
    if sign_in is None:
        return None
    offered: Mapping[str, frozenset[str]] | None = None
    enrollable = frozenset(flow.enrollable)
    if waiting is None:
        step = await flow.find_missing_step(sign_in, None)
    else:
        interaction, step = await flow.find_step(waiting.parked, visitor)
        enrollable = find_enrollable(interaction, sign_in)
        if visitor.partial is None or visitor.partial.parked_id != parked_id:
            offered = find_useful(interaction)
    if step is not SECOND_FACTOR:
        return None
    factors = await second_factors.enrolled.find(sign_in.subject)
    if not can_enrol(flow.registry.current, factors):
        enrollable = frozenset[str]()
    return Turn(
        sign_in=sign_in,
        offered=second_factors.find_offered(factors) if offered is None else offered,
        enrollable=enrollable,
    )


def lead_to(
    sign_in: SignInPages, visit: Visit, waiting: WaitingRequest | None, path: str
) -> web.Response:
    """Send the browser to another page about the same sign-in."""
    if waiting is not None:
        return sign_in.go(visit, path, waiting.parked.id)
    return sign_in.go_to_login(visit, return_path(visit.params), path)


async def go_on(sign_in: SignInPages, visit: Visit, waiting: WaitingRequest | None) -> web.Response:
    """Send the browser to where it should be, if it is not its turn."""
    if waiting is not None:
        return await sign_in.advance(visit, waiting)
    path = return_path(visit.params)
    if visit.visitor.session is None:
        return sign_in.go_to_login(visit, path)
    return sign_in.go(visit, path)


def links_to_others(
    sign_in: SignInPages,
    visit: Visit,
    path: str,
    names: Iterable[str],
    shown: str | None,
    *,
    place: Mapping[str, str],
) -> list[Mapping[str, str]]:
    """Return the links by which the page at this path shows other methods than the shown one."""
    return [
        {"name": name, "href": sign_in.href(visit.visitor, path, {**place, "method": name})}
        for name in names
        if name != shown
    ]


def notice_of_recovery_codes(sign_in: SignInPages, codes: Sequence[str]) -> Notice | None:
    """Return the only page that ever shows these codes; None without codes."""
    if not codes:
        return None

    def show(visit: Visit, waiting: WaitingRequest | None) -> web.Response:
        context = {"codes": codes, "continue_href": sign_in.way_after(visit, waiting)}
        return sign_in.show(visit, "recovery_codes.html", waiting, context=context)

    return show
