"""Straight to an identity provider, where the request names one (acr_values=idp:<name>)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.authorize.interaction import Interaction
from service.protocol.errors import LoginRequired, OAuthError


@dataclass(frozen=True, slots=True)
class SignInAtProvider:
    """Needs no page of ours: it leads to the provider's."""

    path: ClassVar[str] = "/account/provider"
    refusal: ClassVar[type[OAuthError]] = LoginRequired

    def needed(self, interaction: Interaction) -> bool:
        """Where the person has to sign in, and the request says where."""
        return interaction.request.idp is not None and interaction.login_needed
