"""A grant that derives a token from another one, and one that binds tokens to a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from service.model.authorization import Confirmation
from service.protocol.errors import InvalidGrant, OAuthError
from service.tokens.granting import DerivedGrant, GrantServices, NewGrant, TokenRequest


class ExchangeGrant:
    """Derives a token from an active one, with every scope value that was asked for."""

    grant_type: ClassVar[str] = "urn:example:exchange"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        self._active_tokens = services.active_tokens

    async def handle(self, request: TokenRequest) -> DerivedGrant | OAuthError:
        """Derive a token from the parameter `token`."""
        source = await self._active_tokens.find_to_derive_from(request.params.require("token"))
        if source is None:
            return InvalidGrant("the token is not active")
        act = {"sub": request.client.client_id}
        return DerivedGrant(request=request, source=source, amr=("robot",), act=act)


class BindingGrant:
    """Binds tokens to the DPoP key or the client certificate that a parameter names."""

    grant_type: ClassVar[str] = "urn:example:binding"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take no options."""

    async def handle(self, request: TokenRequest) -> NewGrant:
        """Grant alice's subject."""
        jkt, x5t = request.params.get("jkt"), request.params.get("x5t")
        cnf = Confirmation("jkt", jkt) if jkt else Confirmation("x5t#S256", str(x5t))
        return request.granted_to("818727", cnf=cnf)
