"""Builds what leads users from step to step."""

from __future__ import annotations

from service.authorize.answer import Answering
from service.authorize.device import KEPT as KEPT_OF_DEVICES
from service.authorize.flow import AuthorizeFlow
from service.authorize.parameters import KEPT
from service.authorize.steps import BUILTIN_STEPS
from service.parts.device import build_device_requests
from service.parts.requests import build_parking
from service.parts.whole import Parts


def build_flow(parts: Parts) -> AuthorizeFlow:
    """Build what answers authorization requests."""
    shared, tokens = parts.shared, parts.tokens
    return AuthorizeFlow(
        arriving=parts.arriving,
        registry=shared.registry,
        steps=BUILTIN_STEPS,
        parking=build_parking(shared, "authorize", KEPT),
        consents=parts.records.consents,
        devices=build_device_requests(
            shared, tokens, build_parking(shared, "authorize", KEPT_OF_DEVICES)
        ),
        answering=Answering(
            access_tokens=tokens.access_tokens, id_tokens=tokens.id_tokens, emit=shared.emit
        ),
        second_factors=parts.factors.second_factors,
        enrollable={method.name: method.amr for method in parts.factors.changes.methods},
        emit=shared.emit,
    )
