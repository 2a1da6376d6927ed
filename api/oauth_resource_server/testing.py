"""Pytest fixtures to test an API without a server: an issuer in memory, with real keys.

Name it in a conftest.py: `pytest_plugins = ["oauth_resource_server.testing"]`; then ask for the fixture `local_issuer`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from time import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

from oauth_resource_server.http import Answer, default_http
from oauth_resource_server.jose import base64url, hash_of
from oauth_resource_server.onward import DELEGATION, TOKEN_EXCHANGE
from oauth_resource_server.server import ResourceServer

ALG = "ES256"
LIFETIME = 300


def sign(header: Mapping[str, Any], claims: Mapping[str, Any], key: Any) -> str:
    """Return a JWT; members that are None are left out."""
    parts = ({"alg": ALG} | dict(header), claims)
    signed = ".".join(
        base64url(json.dumps({k: v for k, v in part.items() if v is not None}).encode())
        for part in parts
    )
    signature = JWSRegistry.algorithms[parts[0]["alg"]].sign(signed.encode(), key)
    return f"{signed}.{base64url(signature)}"


@dataclass(frozen=True, slots=True)
class DpopKey:
    """A client's key, and the proofs that it signs (RFC 9449 §4.2)."""

    key: Any = field(default_factory=lambda: ECKey.generate_key("P-256"))

    @property
    def thumbprint(self) -> str:
        """As `cnf.jkt` has it."""
        return str(self.key.thumbprint())

    def proof(
        self,
        method: str,
        url: str,
        token: str,
        *,
        header: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """Return a proof for one request; header and claims can be spoiled."""
        usual = {"htm": method, "htu": url, "iat": int(time()), "jti": token_urlsafe(16)}
        head = {"typ": "dpop+jwt", "jwk": self.key.as_dict(private=False)} | dict(header or {})
        return sign(head, usual | {"ath": hash_of(token)} | claims, self.key)

    def headers(self, method: str, url: str, token: str, **claims: Any) -> dict[str, str]:
        """Return the headers of a request with a bound token."""
        proof = self.proof(method, url, token, **claims)
        return {"Authorization": f"DPoP {token}", "DPoP": proof}


class LocalIssuer:
    """An issuer without a network: it publishes metadata and keys, introspects and exchanges."""

    def __init__(self, url: str = "https://issuer.test") -> None:
        self.url = url
        self.audience = "api"
        self.keys: list[Any] = []
        self.requests: list[tuple[str, Mapping[str, str] | None]] = []
        """Path and form of each request that an API has sent."""
        self._opaque: dict[str, Mapping[str, Any]] = {}
        self._servers: list[ResourceServer] = []
        self.rotate()

    def serve(self, server: ResourceServer) -> None:
        """Take the place of the issuer of this API, with nothing cached, until the test ends."""
        self.url, self.audience = server.issuer.url, min(server.audience)
        self._servers.append(server)
        server.connect(self)

    def release(self) -> None:
        """Give the APIs back."""
        for server in self._servers:
            server.connect(default_http())

    def rotate(self) -> None:
        """Sign with a new key from now on; the one before stays published."""
        key = ECKey.generate_key("P-256", {"kid": token_urlsafe(8), "use": "sig", "alg": ALG})
        self.keys = [*self.keys[-1:], key]

    def claims(
        self, scope: str = "", *, subject: str = "alice", client_id: str = "app", **more: Any
    ) -> dict[str, Any]:
        """Return the claims of an access token; any can be changed, None leaves it out."""
        now = int(time())
        usual = {"iss": self.url, "aud": self.audience, "iat": now, "exp": now + LIFETIME}
        named = {"sub": subject, "client_id": client_id, "scope": scope, "jti": token_urlsafe(8)}
        return usual | named | more

    def token(
        self, scope: str = "", *, header: Mapping[str, Any] | None = None, **claims: Any
    ) -> str:
        """Return a signed access token (RFC 9068 §2)."""
        usual = {"typ": "at+jwt", "kid": self.keys[-1].kid}
        return sign(usual | dict(header or {}), self.claims(scope, **claims), self.keys[-1])

    def opaque_token(self, scope: str = "", **claims: Any) -> str:
        """Return an access token that only introspection can read."""
        token = token_urlsafe()
        self._opaque[token] = {
            "active": True,
            "token_type": "Bearer",
            **self.claims(scope, **claims),
        }
        return token

    def revoke(self, token: str) -> None:
        """End an opaque token."""
        del self._opaque[token]

    async def send(
        self, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> Answer:
        """Answer an API."""
        path = urlsplit(url).path.removeprefix(urlsplit(self.url).path)
        self.requests.append((path, form))
        status, members = self._answer(path, form)
        return Answer(status, json.dumps(members).encode())

    async def aclose(self) -> None:
        """Nothing is open."""

    def _answer(self, path: str, form: Mapping[str, str] | None) -> tuple[int, Mapping[str, Any]]:
        if path.startswith("/.well-known/oauth-authorization-server"):
            return 200, self._metadata()
        if path == "/jwks":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if path == "/introspect" and form is not None:
            claims = self._opaque.get(form["token"], {"active": False})
            return 200, claims if claims.get("exp", time() + 1) > time() else {"active": False}
        if path == "/token" and form is not None:
            audience = form.get("audience", form["scope"])
            token = self.token(form["scope"], aud=audience, act={"sub": self.audience})
            return 200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME}
        return 404, {}

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "introspection_endpoint": f"{self.url}/introspect",
            "token_endpoint": f"{self.url}/token",
            "grant_types_supported": [DELEGATION, TOKEN_EXCHANGE],
        }


@pytest.fixture
def local_issuer() -> Iterator[LocalIssuer]:
    """Return an issuer; `local_issuer.serve(server)` puts it in the place of the real one."""
    issuer = LocalIssuer()
    yield issuer
    issuer.release()


@pytest.fixture
def dpop_key() -> DpopKey:
    """Return a client's key; a token is bound to it by `cnf={"jkt": dpop_key.thumbprint}`."""
    return DpopKey()
