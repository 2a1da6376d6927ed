"""The credentials of this API at its issuer, for introspection and token exchange (RFC 6749 §2.3, RFC 7523 §2.2)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from time import time
from typing import Any, Protocol
from urllib.parse import quote_plus

from joserfc import jwt
from joserfc.jwk import JWKRegistry

_JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Credentials(Protocol):
    """One method of client authentication."""

    def authenticate(self, issuer: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Return headers and form parameters to add to a request."""
        ...


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A secret, sent by `client_secret_basic`."""

    client_id: str
    secret: str = field(repr=False)

    def authenticate(self, issuer: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Form-encode both parts before they are joined (RFC 6749 §2.3.1)."""
        joined = f"{quote_plus(self.client_id)}:{quote_plus(self.secret)}"
        return {"Authorization": f"Basic {b64encode(joined.encode()).decode()}"}, {}


@dataclass(frozen=True, slots=True)
class ClientAssertion:
    """A JWT for each request (RFC 7523 §2.2), such as the token that Kubernetes puts into a file of the pod."""

    make: Callable[[str], str]
    """Returns the JWT for this issuer."""
    client_id: str | None = None
    type: str = _JWT_BEARER

    def authenticate(self, issuer: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """Send the assertion in the form."""
        form = {"client_assertion": self.make(issuer), "client_assertion_type": self.type}
        return {}, form | ({"client_id": self.client_id} if self.client_id else {})


def private_key_jwt(client_id: str, jwk: Mapping[str, Any], alg: str = "ES256") -> ClientAssertion:
    """Return credentials that sign an assertion for each request with this private key (OIDC Core §9)."""
    key: Any = JWKRegistry.import_key(dict(jwk))
    header = {"alg": alg, "typ": "JWT", "kid": key.kid or key.thumbprint()}

    def make(issuer: str) -> str:
        now = int(time())
        claims = {"iss": client_id, "sub": client_id, "aud": issuer, "jti": token_urlsafe(16)}
        return jwt.encode(header, {**claims, "iat": now, "exp": now + 60}, key, algorithms=[alg])

    return ClientAssertion(make, client_id)
