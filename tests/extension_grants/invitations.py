"""A grant as an operator writes it: one file, named in the registry by its import path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from service.protocol.errors import InvalidGrant
from service.tokens.granting import GrantResult, GrantServices, TokenRequest


class InvitationGrant:
    """Exchanges an invitation for tokens of its guest."""

    grant_type: ClassVar[str] = "urn:example:invitation"
    made: ClassVar[int] = 0

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take `invitations`, from invitation to `sub`, and the `welcome` to answer with."""
        InvitationGrant.made += 1
        self._subjects = cast("Mapping[str, str]", options["invitations"])
        self._welcome = options.get("welcome", "welcome")
        self._services = services

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant the guest's subject; narrower, shorter or without refresh where that is asked."""
        invitation = request.params.require("invitation")
        subject = self._subjects.get(invitation)
        if subject is None:
            return InvalidGrant("the invitation is not good", members={"hint": "ask your host"})
        return request.granted_to(
            subject,
            claims={"invited": True, "sub": "impostor", "scope": "everything"},
            members={"welcome": self._welcome, "access_token": "impostor", "id_token": "impostor"},
            lifetime=60 if request.params.get("brief") else None,
            scope=frozenset({"api1"}) if request.params.get("little") else None,
            refresh_allowed=request.params.get("once") is None,
        )
