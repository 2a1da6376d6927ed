"""Refusals of requests, each with its status, its error code and its challenge (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import ClassVar


class Refusal(Exception):
    """A request that is not answered; an adapter turns it into a response with `status`, `headers` and `body`."""

    status: ClassVar[int] = 401
    error: ClassVar[str] = "invalid_token"
    scheme: ClassVar[str | None] = None
    """The scheme of the challenge; None for the one that the request used."""

    def __init__(self, description: str, **parameters: str) -> None:
        super().__init__(description)
        self.description = description
        self.parameters = parameters
        """Further parameters of the challenge, such as `scope`."""
        self.headers: dict[str, str] = {}

    @property
    def body(self) -> bytes:
        """The JSON object of the response."""
        members = {"error": self.error, "error_description": self.description}
        return json.dumps(members).encode()

    def add_challenge(
        self, schemes: Iterable[str], shared: Mapping[str, str], algorithms: str
    ) -> None:
        """Set the headers: one challenge for each scheme, with `shared` parameters in all of them."""
        stated = {**self._stated(), **self.parameters, **shared}
        challenges = [
            _challenge(scheme, stated | ({"algs": algorithms} if scheme == "DPoP" else {}))
            for scheme in ([self.scheme] if self.scheme else schemes)
        ]
        self.headers |= {
            "WWW-Authenticate": ", ".join(challenges),
            "Cache-Control": "no-store",
            "Content-Type": "application/json",
        }

    def _stated(self) -> dict[str, str]:
        return {"error": self.error, "error_description": self.description}


class NoToken(Refusal):
    """The request has no credentials, so the challenge names no error (RFC 6750 §3)."""

    def _stated(self) -> dict[str, str]:
        return {}


class InvalidRequest(Refusal):
    """The request is malformed."""

    status = 400
    error = "invalid_request"


class InvalidToken(Refusal):
    """The access token is malformed, expired, revoked, or not for this API."""


class InsufficientScope(Refusal):
    """The access token does not hold the scope that is needed."""

    status = 403
    error = "insufficient_scope"


class InsufficientUserAuthentication(Refusal):
    """The user has to authenticate more strongly, or again (RFC 9470 §3)."""

    error = "insufficient_user_authentication"


class InvalidDpopProof(Refusal):
    """The DPoP proof is missing, or does not fit the request, the token or the key."""

    error = "invalid_dpop_proof"
    scheme = "DPoP"


class UseDpopNonce(Refusal):
    """The DPoP proof needs the nonce of this answer (RFC 9449 §9)."""

    error = "use_dpop_nonce"
    scheme = "DPoP"


class IssuerUnavailable(Refusal):
    """The issuer, or a store of used proofs, does not answer; the request may be repeated."""

    status = 503
    error = "temporarily_unavailable"

    def add_challenge(
        self, schemes: Iterable[str], shared: Mapping[str, str], algorithms: str
    ) -> None:
        """Ask for a repetition instead of other credentials (RFC 9110 §10.2.3)."""
        self.headers |= {
            "Retry-After": "5",
            "Cache-Control": "no-store",
            "Content-Type": "application/json",
        }


def _challenge(scheme: str, parameters: Mapping[str, str]) -> str:
    shown = ", ".join(f'{name}="{_quoted(value)}"' for name, value in parameters.items())
    return f"{scheme} {shown}".strip()


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
