"""May the client do that? Asked where the person has not said so before (OIDC Core §3.1.2.4, §5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from service.authorize.interaction import Interaction
from service.protocol.errors import ConsentRequired, OAuthError
from service.protocol.prompt import CONSENT


@dataclass(frozen=True, slots=True)
class AskConsent:
    """Each scope value, and each claim that is asked for by name, may be allowed or not."""

    path: ClassVar[str] = "/account/consent"
    refusal: ClassVar[type[OAuthError]] = ConsentRequired

    def needed(self, interaction: Interaction) -> bool:
        """Where the request or the client's registration wants it, and it was not given."""
        if interaction.answers.consented_scope is not None:
            return False
        if CONSENT in interaction.request.prompt:
            return True
        request, client = interaction.request, interaction.request.client
        remembered = (
            client.allow_remember_consent
            and request.scope <= interaction.consented_scope
            and request.claims.beyond_scope <= interaction.consented_claims
        )
        return client.require_consent and not remembered
