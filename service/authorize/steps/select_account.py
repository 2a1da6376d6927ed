"""Which account? Asked where the client wants the person to choose (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.authorize.interaction import Interaction
from service.protocol.errors import AccountSelectionRequired, OAuthError
from service.protocol.prompt import SELECT_ACCOUNT


@dataclass(frozen=True, slots=True)
class SelectAccount:
    """Go on with the account that is signed in, or with another."""

    path: ClassVar[str] = "/account/select"
    refusal: ClassVar[type[OAuthError]] = AccountSelectionRequired

    def needed(self, interaction: Interaction) -> bool:
        """Once per request; where nobody is signed in, the login asks by itself."""
        return (
            SELECT_ACCOUNT in interaction.request.prompt
            and interaction.session is not None
            and not interaction.answers.account_selected
            and not interaction.answers.authenticated
        )
