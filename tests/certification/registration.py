"""Clients that the suite registers itself, and takes away again (OpenID Connect Registration §3, RFC 7592)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from joserfc.jwk import RSAKey

from tests.certification.plan import Plan
from tests.certification.profiles import INITIAL_ACCESS_TOKEN
from tests.certification.provider import ALIAS, ISSUER, Provider
from tests.certification.relying_party import RelyingParty
from tests.driving.browser import Browser
from tests.driving.service import Answer

REDIRECT_URI = f"https://localhost.emobix.co.uk:8443{ALIAS}/callback"
"""The suite's own: no client that uses the implicit flow may be at a loopback address."""


@dataclass
class Registrar:
    """Registers clients at the provider."""

    provider: Provider
    browser: Browser
    plan: Plan
    key: RSAKey
    auth_method: str = "private_key_jwt"
    registered: list[dict[str, Any]] = field(default_factory=list)

    def grant_types(self, *further: str) -> list[str]:
        """Those that the plan's response type needs, and others."""
        code = ["authorization_code"] if "code" in self.plan.words else []
        implicit = ["implicit"] if self.plan.words != {"code"} else []
        return [*code, *implicit, *further]

    def metadata(self, **changes: Any) -> dict[str, Any]:
        """A registration as the suite asks for it, with some members changed or (None) left out."""
        usual = {
            "client_name": "OIDF Conformance Test",
            "grant_types": self.grant_types(),
            "jwks": jwks_of(self.key),
            "token_endpoint_auth_method": self.auth_method,
            "response_types": [self.plan.response_type],
            "redirect_uris": [REDIRECT_URI],
            "contacts": ["certification@oidf.org"],
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    async def ask(self, **changes: Any) -> Answer:
        """Send it to the registration endpoint."""
        return await self.provider.service.request(
            "POST",
            self.provider.path("registration_endpoint"),
            json=self.metadata(**changes),
            headers={"Authorization": f"Bearer {INITIAL_ACCESS_TOKEN}"},
        )

    async def register(self, **changes: Any) -> RelyingParty:
        """A new client, its answer checked as the suite checks it (OpenID Connect Registration §3.2)."""
        answer = await self.ask(**changes)
        assert answer.status == 201, answer.body
        assert answer.headers["Content-Type"] == "application/json"
        client = answer.json
        self.registered.append(client)
        assert client["registration_client_uri"].startswith(ISSUER)
        assert client["registration_access_token"]
        assert "client_secret" not in client or "client_secret_expires_at" in client
        for name, value in self.metadata(**changes).items():
            assert client[name] == value
        return RelyingParty(
            provider=self.provider,
            browser=self.browser,
            plan=self.plan,
            client_id=client["client_id"],
            client_secret=client.get("client_secret", ""),
            auth_method=self.auth_method,
            key=self.key,
            redirect_uri=client["redirect_uris"][0],
        )

    async def manage(self, method: str, client: Mapping[str, Any]) -> Answer:
        """A request to a client's own configuration endpoint (RFC 7592 §2)."""
        headers = {"Authorization": f"Bearer {client['registration_access_token']}"}
        path = urlsplit(client["registration_client_uri"]).path
        return await self.provider.service.request(method, path, headers=headers)

    async def take_away(self) -> None:
        """Every client that was registered, as the suite does at the end of a module (RFC 7592 §2.3)."""
        for client in self.registered:
            assert (await self.manage("DELETE", client)).status == 204


def jwks_of(*keys: RSAKey) -> dict[str, Any]:
    """A JWK set of public keys, which say what they are for."""
    return {"keys": [key.as_dict(private=False) | {"use": "sig", "alg": "RS256"} for key in keys]}


def published(provider: Provider, path: str, content: Any) -> str:
    """A JSON document on the suite's site; its address."""
    return provider.suite.publish(path, json.dumps(content))
