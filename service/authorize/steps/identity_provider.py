"""Sends the user to an identity provider without a page of this service (acr_values=idp:<name>)."""

from __future__ import annotations

from service.authorize.interaction import Interaction, Step
from service.authorize.request import AuthorizeRequest
from service.model.registry import Registry
from service.protocol.errors import LoginRequired


def find_provider(request: AuthorizeRequest, registry: Registry) -> str | None:
    """Return the provider that the request names, else the only one that can meet its acr."""
    if request.idp is not None or not request.acr.essential:
        return request.idp
    trusted = [
        name
        for name in registry.identity_providers
        if request.client.permissions.accepts_users_of(name) and registry.trusts_methods_of(name)
    ]
    return trusted[0] if len(trusted) == 1 else None


def _can_meet_acr(interaction: Interaction) -> bool:
    """Return whether a provider whose acr and amr count can authenticate the user again."""
    if interaction.session is None or interaction.answers.authenticated:
        return False
    provider = find_provider(interaction.request, interaction.registry)
    return provider is not None and interaction.registry.trusts_methods_of(provider)


IDENTITY_PROVIDER = Step(
    path="/account/provider",
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.request.idp is not None and interaction.needs_login,
    can_meet_acr=_can_meet_acr,
)
