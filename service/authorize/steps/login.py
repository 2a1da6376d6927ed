"""Asks for user name and password, or for one of the identity providers that the client allows."""

from __future__ import annotations

from service.authorize.interaction import Interaction, Step
from service.identity.sign_in import AMR
from service.protocol.errors import LoginRequired


def _can_meet_acr(interaction: Interaction) -> bool:
    """Return whether a password is enough."""
    return (
        not interaction.answers.authenticated
        and interaction.request.client.enable_local_login
        and interaction.request.idp is None
        and interaction.is_acr_met_by(AMR)
    )


LOGIN = Step(
    path="/account/login",
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.needs_login,
    can_meet_acr=_can_meet_acr,
)
