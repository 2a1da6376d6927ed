"""What a person may be asked on the way to an answer, in this order."""

from __future__ import annotations

from service.authorize.interaction import Step
from service.authorize.steps.consent import AskConsent
from service.authorize.steps.identity_provider import SignInAtProvider
from service.authorize.steps.login import Login
from service.authorize.steps.select_account import SelectAccount


def builtin_steps() -> tuple[Step, ...]:
    """To add one: a file beside this one, its page in `endpoints/`, and a line below."""
    return (
        SelectAccount(),
        SignInAtProvider(),
        Login(),
        AskConsent(),
    )
