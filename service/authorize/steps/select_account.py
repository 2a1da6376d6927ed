"""Asks the user to choose an account where the client demands it (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from service.authorize.interaction import Interaction, Step
from service.protocol import prompt
from service.protocol.errors import AccountSelectionRequired


def _is_needed(interaction: Interaction) -> bool:
    """Ask once per request; without a session the login page asks anyway."""
    return (
        prompt.SELECT_ACCOUNT in interaction.request.prompt
        and interaction.session is not None
        and not interaction.answers.account_selected
        and not interaction.answers.authenticated
    )


SELECT_ACCOUNT = Step(
    path="/account/select", refusal=AccountSelectionRequired, is_needed=_is_needed
)
