"""Builds what leads users from step to step."""

from __future__ import annotations

from service.authorize.answer import Answering
from service.authorize.device import KEPT as KEPT_OF_DEVICES
from service.authorize.device import DeviceRequests
from service.authorize.flow import AuthorizeFlow
from service.authorize.parameters import KEPT
from service.authorize.steps import BUILTIN_STEPS, make_create_account
from service.authorize.user_codes import UserCodes
from service.authorize.visitors import Visitors
from service.identity.fresh_logins import FreshLogins
from service.parts.requests import build_parking
from service.parts.shared import Shared
from service.parts.tokens import TokenParts
from service.parts.whole import Parts


def build_flow(parts: Parts) -> AuthorizeFlow:
    """Build what answers authorization requests."""
    shared, tokens = parts.shared, parts.tokens
    return AuthorizeFlow(
        arriving=parts.arriving,
        visitors=build_visitors(parts),
        parking=build_parking(shared, "authorize", KEPT),
        consents=parts.records.consents,
        devices=build_device_requests(shared, tokens),
        answering=Answering(
            access_tokens=tokens.access_tokens, id_tokens=tokens.id_tokens, emit=shared.emit
        ),
        second_factors=parts.factors.second_factors,
        enrollable={method.name: method.amr for method in parts.factors.changes.methods},
        emit=shared.emit,
    )


def build_visitors(parts: Parts) -> Visitors:
    """Build what finds users by their cookies, and signs them in."""
    shared, records = parts.shared, parts.records
    return Visitors(
        registry=shared.registry,
        steps=(make_create_account(shared.configuration.ui.links), *BUILTIN_STEPS),
        sessions=records.sessions,
        partial_sign_ins=records.partial_sign_ins,
        fresh_logins=FreshLogins(shared.stores),
        subjects=parts.sign_in.subjects,
        enrolled=parts.factors.enrolled,
    )


def build_device_requests(shared: Shared, tokens: TokenParts) -> DeviceRequests:
    """Build what leads users to the requests of their devices, which are parked among those of browsers."""
    limits = shared.configuration.limits
    return DeviceRequests(
        user_codes=UserCodes(
            stores=shared.stores,
            prefix=shared.prefix,
            per_session=limits.device_codes_per_session,
            per_address=limits.device_codes_per_address,
            per_minute=limits.device_codes_per_minute,
        ),
        parking=build_parking(shared, "authorize", KEPT_OF_DEVICES),
        polling=tokens.polling,
        emit=shared.emit,
    )
