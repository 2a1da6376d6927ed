"""Grant types: what each brings a client, what people write for it from memory, and handlers that an operator adds (RFC 6749 §4.5)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from service.model import types
from service.model.polling import CIBA, DEVICE_CODE
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER

WITHOUT_REDIRECT_URI = frozenset({CIBA, DEVICE_CODE, JWT_BEARER})
"""The registrable grant types that bring a client tokens of users, whoever its redirect URIs belong to."""

SIGN_INS = frozenset({"authorization_code", CIBA, DEVICE_CODE, "password"})
"""Those whose tokens a user gets by signing in."""

BY_SESSION = frozenset({CIBA, TOKEN_EXCHANGE})
"""Those that find the session of an ID token by its `sid`."""

_MEANT: Mapping[str, str] = {
    **dict.fromkeys(("device_code", "device", "device_flow", "device_authorization"), DEVICE_CODE),
    **dict.fromkeys(("ciba", "backchannel", "backchannel_authentication"), CIBA),
    **dict.fromkeys(("token_exchange", "exchange", "on_behalf_of"), TOKEN_EXCHANGE),
    **dict.fromkeys(("jwt_bearer", "jwt", "assertion"), JWT_BEARER),
    **dict.fromkeys(("code", "pkce", "authorization_code_with_pkce"), "authorization_code"),
    **dict.fromkeys(("client", "machine", "machine_to_machine", "m2m"), "client_credentials"),
    **dict.fromkeys(("resource_owner_password", "resource_owner", "ropc"), "password"),
    "offline_access": "refresh_token",
}


def find_meant_grant_type(written: str) -> str | None:
    """Return the grant type of the protocol that a short or a common name stands for."""
    return _MEANT.get(written.lower().replace("-", "_").replace(" ", "_"))


class ExtensionGrantRegistration(msgspec.Struct, frozen=True, kw_only=True):
    """A handler of a further grant type (RFC 6749 §4.5)."""

    handler: types.PluginName
    """The handler's import path, or its name in the entry point group token_service.grants."""
    timeout: types.Timeout = 10
    """The longest time for one request; a request that takes longer is refused."""
    options: dict[str, object] = msgspec.field(default_factory=dict)
    """The first argument of the handler's class."""
