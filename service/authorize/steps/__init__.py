"""The steps of a sign-in and of the questions after it, in this order."""

from __future__ import annotations

from service.authorize.interaction import Step
from service.authorize.steps.consent import CONSENT
from service.authorize.steps.identity_provider import IDENTITY_PROVIDER
from service.authorize.steps.login import LOGIN
from service.authorize.steps.select_account import SELECT_ACCOUNT


def builtin_steps() -> tuple[Step, ...]:
    """To add one: a new file in this folder, its page in `endpoints/`, and a line below."""
    return (
        SELECT_ACCOUNT,
        IDENTITY_PROVIDER,
        LOGIN,
        CONSENT,
    )
