"""The rules on request objects of CIBA: signed by a key of the client, short-lived, and each used once (CIBA Core §7.1.1)."""

from __future__ import annotations

import msgspec

from service.authorize.parameters import CIBA, PARAMETERS
from service.authorize.request_object import (
    MAX_AGE,
    Claims,
    UsedOnce,
    require_fresh_signature,
)
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import check_times, time_in
from service.keys.jose import JwtRefused
from service.model.client import Client
from service.model.handle import digest
from service.protocol.errors import InvalidRequest
from service.protocol.params import Params

_REQUIRED = ("iss", "aud", "exp", "iat", "nbf", "jti")


class CibaObjectRules(msgspec.Struct, frozen=True):
    """A request for which the user is asked without a browser has to come from the client itself."""

    def has_to_sign(self, client: Client) -> bool:
        """Return whether a plain request is refused (CIBA Core §4, FAPI-CIBA §5.2.2)."""
        return (
            client.follows_fapi
            or client.backchannel_authentication_request_signing_alg is not None
            or client.require_signed_request_object
        )

    def find_algorithms(self, client: Client) -> tuple[str | None, tuple[str, ...]]:
        """Return the registered algorithm, and all: those of the client's keys, never of its secret."""
        return client.backchannel_authentication_request_signing_alg, SIGNING_ALGORITHMS

    def check_parameters(self, sent: Params) -> None:
        """Raise InvalidRequest if a parameter that belongs into the object is sent outside of it."""
        others = sorted((PARAMETERS[CIBA] - {"client_id"}) & sent.values.keys())
        if others:
            raise InvalidRequest(f"{others[0]} is outside of the request object")

    def check_times(self, claims: Claims, client: Client, *, now: int, clock_skew: int) -> None:
        """Raise JwtRefused unless the object has every claim about itself, and ends within an hour."""
        missing = [name for name in _REQUIRED if not claims.get(name)]
        if missing:
            raise JwtRefused(f"{missing[0]} is missing")
        if not isinstance(claims["jti"], str):
            raise JwtRefused("jti is not a string")
        check_times(claims, now=now, clock_skew=clock_skew)
        if (time_in(claims, "exp") or 0) > now + MAX_AGE + clock_skew:
            raise JwtRefused("exp is more than an hour away")
        if client.follows_fapi:  # FAPI-CIBA §5.2.2
            require_fresh_signature(claims, now=now, clock_skew=clock_skew)

    def find_use(self, claims: Claims, client: Client) -> UsedOnce:
        """Return what is remembered of the object, so that it asks the user once."""
        key = digest(f"ciba_request\n{client.client_id}\n{claims['jti']}")
        return UsedOnce(key=key, expires_at=int(time_in(claims, "exp") or 0))
