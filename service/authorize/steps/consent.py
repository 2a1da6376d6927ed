"""Asks the user to allow what the client requests (OIDC Core §3.1.2.4, §5.5)."""

from __future__ import annotations

from service.authorize.interaction import Interaction, Step
from service.protocol import prompt
from service.protocol.errors import ConsentRequired


def _is_needed(interaction: Interaction) -> bool:
    """Return whether the request or the client's registration demands a consent that is missing."""
    if interaction.answers.consented_scope is not None:
        return False
    request, client = interaction.request, interaction.request.client
    if prompt.CONSENT in request.prompt:
        return True
    is_remembered = (
        client.allow_remember_consent
        and request.scope <= interaction.consented_scope
        and request.claims.beyond_scope <= interaction.consented_claims
    )
    return client.require_consent and not is_remembered


CONSENT = Step(path="/account/consent", refusal=ConsentRequired, is_needed=_is_needed)
