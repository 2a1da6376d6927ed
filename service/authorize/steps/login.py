"""Who is there? Asked where nobody is signed in well enough (OIDC Core §3.1.2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.authorize.interaction import Interaction
from service.protocol.errors import LoginRequired, OAuthError


@dataclass(frozen=True, slots=True)
class Login:
    """User name and password, or one of the providers that the client allows."""

    path: ClassVar[str] = "/account/login"
    refusal: ClassVar[type[OAuthError]] = LoginRequired

    def needed(self, interaction: Interaction) -> bool:
        """Where the interaction says so."""
        return interaction.login_needed
