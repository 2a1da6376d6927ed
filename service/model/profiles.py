"""The profiles that a client can be held to: OAuth 2.1, FAPI 2.0 Security and Message Signing, and FAPI-CIBA."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

import msgspec

from service.model.polling import CIBA

ProfileName = Literal["oauth21", "fapi2_security", "fapi2_message_signing", "fapi_ciba"]

OAUTH21: ProfileName = "oauth21"
SECURITY: ProfileName = "fapi2_security"
MESSAGE_SIGNING: ProfileName = "fapi2_message_signing"
FAPI_CIBA: ProfileName = "fapi_ciba"
FAPI2 = frozenset({SECURITY, MESSAGE_SIGNING})
FAPI = FAPI2 | {FAPI_CIBA}

FAPI2_ALGORITHMS = frozenset({"PS256", "ES256", "EdDSA"})
"""The only signature algorithms (FAPI 2.0 Security Profile §5.4.1); a client of any profile of FAPI has these."""

CERTIFICATE_SUBJECTS = tuple(
    f"tls_client_auth_{kind}"
    for kind in ("subject_dn", "san_dns", "san_uri", "san_ip", "san_email")
)
"""The keys of a client entry, one of which says what name the client's certificate has (RFC 8705 §2.1.2)."""
_METHODS: Mapping[str, tuple[str, ...]] = {
    "private_key_jwt": ("jwks", "jwks_uri"),
    "tls_client_auth": CERTIFICATE_SUBJECTS,
    "self_signed_tls_client_auth": ("self_signed_certificates",),
}
"""The authentication methods of FAPI 2.0, and the keys of a client entry of which each needs one."""
FAPI2_METHODS = frozenset(_METHODS)
_PUSHED: Mapping[str, object] = {
    "require_pushed_authorization_requests": True,
    "refresh_token_usage": "reuse",
}


class ProfileOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The choices that the profile leaves."""

    response: Literal["plain"] | None = None
    """plain: a client of fapi2_message_signing may get authorization responses that are not signed; null: it gets JARM only."""


def with_profile_defaults(value: object) -> object:
    """Give a client entry, as it is written, the values that its profile demands where it has none of its own."""
    if not isinstance(value, dict):
        return value
    entry = cast("dict[str, object]", value)
    profile = entry.get("profile")
    if not isinstance(profile, str) or profile not in FAPI:
        return entry
    defaults: dict[str, object] = {
        **(_PUSHED if profile in FAPI2 else {"allowed_grant_types": [CIBA]}),
        "dpop_bound_access_tokens": not entry.get("tls_client_certificate_bound_access_tokens"),
        **_authentication(entry),
        **(_signed_messages(entry) if profile == MESSAGE_SIGNING else {}),
    }
    return defaults | entry


def _authentication(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Return the one method that the client has a credential for; with several the operator has to choose."""
    usable = [method for method, keys in _METHODS.items() if any(map(entry.get, keys))]
    return {"token_endpoint_auth_method": usable[0]} if len(usable) == 1 else {}


def _signed_messages(entry: Mapping[str, object]) -> Mapping[str, object]:
    plain = entry.get("profile_options") == {"response": "plain"}
    mode = {} if plain else {"default_response_mode": "jwt"}
    return {"require_signed_request_object": True, **mode}
