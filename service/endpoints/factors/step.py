"""The step of the second factor: for a sign-in that is not complete without it, and for an acr that asks for more (RFC 9470)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.authorize.flow import AuthorizeFlow, WaitingRequest
from service.authorize.interaction import Interaction, Step, UnfinishedSignIn
from service.authorize.visitors import Visitor
from service.identity.factors.methods import MFA
from service.identity.factors.second_factors import lacks_second_factor
from service.identity.providers.claims import with_trusted_methods
from service.identity.sign_in import SignIn
from service.model.factors import Factors
from service.model.registry import Registry
from service.protocol import paths
from service.protocol.errors import InteractionRequired


class FactorTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The factors that are done, and the ways to go on from there."""

    sign_in: SignIn
    offered: Mapping[str, frozenset[str]]
    """Names of methods, with the `amr` that each can add; empty where the user has none that would do."""
    enrollable: frozenset[str]
    """Names of the methods of which the user may enrol the first factor now."""


def _is_missing(unfinished: UnfinishedSignIn) -> bool:
    """Return whether the sign-in begins no session without a second factor."""
    client = unfinished.request.client if unfinished.request else None
    sign_in, factors = unfinished.sign_in, unfinished.factors
    return lacks_second_factor(sign_in.methods, factors, unfinished.registry, client)


def _is_needed(interaction: Interaction) -> bool:
    """Return whether the session, which may have begun for another client or before the enrolment, lacks one."""
    session = interaction.session
    if session is None:
        return False
    client = interaction.request.client
    return lacks_second_factor(session.methods, interaction.factors, interaction.registry, client)


def _can_meet_acr(interaction: Interaction) -> bool:
    """Return whether the user's second factors, or the enrolment of the first one, give what the acr lacks."""
    session = interaction.session
    if session is None:
        return False
    ways = [frozenset[str]().union(*interaction.offered_factors.values())]
    if _can_enrol(interaction.registry, interaction.factors):
        ways = [amr for of_one in interaction.enrollable.values() for amr in of_one]
    return any(
        amr and interaction.is_acr_met_by((*session.methods, *amr, MFA), acr=session.acr)
        for amr in ways
    )


def _can_meet_wish(interaction: Interaction) -> bool:
    """Return whether a second factor that the user has gives what the client wishes for; nothing is enrolled for that."""
    return interaction.factors.is_enrolled and _can_meet_acr(interaction)


def _can_enrol(registry: Registry, factors: Factors) -> bool:
    """Return whether the user may enrol a factor while signing in: only the first one, and never to add to others."""
    return registry.mfa.enrolment == "at_login" and not factors.is_enrolled


def _find_useful(interaction: Interaction) -> Mapping[str, frozenset[str]]:
    """Return those of the user's methods that give what the session lacks, with the `amr` that each can add."""
    session, offered = interaction.session, interaction.offered_factors
    if session is None or _is_needed(interaction):
        return offered
    new = {name: amr for name, amr in offered.items() if not amr <= {*session.methods}}
    enough = {
        name: amr
        for name, amr in new.items()
        if interaction.is_acr_met_by((*session.methods, *amr, MFA), acr=session.acr)
    }
    return enough or new


def _find_enrollable(interaction: Interaction, sign_in: SignIn) -> frozenset[str]:
    """Return the names of the methods whose enrolment gives what the client insists on; all if none of them alone does."""
    asked, registry = interaction.request.acr, interaction.registry
    proved = with_trusted_methods(sign_in, registry)
    enough = frozenset(
        name
        for name, ways in interaction.enrollable.items()
        if any(
            asked.is_satisfied_by((*proved.methods, *amr, MFA), registry, acr=proved.acr)
            for amr in ways
        )
    )
    return enough or frozenset(interaction.enrollable)


SECOND_FACTOR = Step(
    path=paths.SECOND_FACTOR,
    refusal=InteractionRequired,
    is_needed=_is_needed,
    can_meet_acr=_can_meet_acr,
    can_meet_wish=_can_meet_wish,
    is_missing_from=_is_missing,
)
"""Its page asks for one of the user's factors, has the first one enrolled, or says that there is none."""


async def find_factor_turn(
    flow: AuthorizeFlow, visitor: Visitor, waiting: WaitingRequest | None
) -> FactorTurn | None:
    """Return what the second factor's pages have to ask for; None if nothing, or if another step comes first."""
    parked_id = waiting.parked.id if waiting else ""
    sign_in = visitor.sign_in_for(parked_id)
    if sign_in is None:
        return None
    offered: Mapping[str, frozenset[str]] | None = None
    enrollable = frozenset(flow.enrollable)
    if waiting is None:
        step = await flow.visitors.find_missing_step(sign_in, None)
    else:
        interaction, step = await flow.find_step(waiting, visitor)
        enrollable = _find_enrollable(interaction, sign_in)
        if visitor.partial is None or visitor.partial.parked_id != parked_id:
            offered = _find_useful(interaction)
    if step is not SECOND_FACTOR:
        return None
    factors = await flow.second_factors.enrolled.find(sign_in.subject)
    if not _can_enrol(flow.registry.current, factors):
        enrollable = frozenset[str]()
    return FactorTurn(
        sign_in=sign_in,
        offered=flow.second_factors.find_offered(factors) if offered is None else offered,
        enrollable=enrollable,
    )
