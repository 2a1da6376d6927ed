"""An application that does what its profile demands, unless a test spoils it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from service.model.polling import CIBA
from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import Signer, key_of
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import Answer
from tests.request_objects.sending import Sender

KINDS = ("RS256", "ES256", "ES384", "EdDSA")
"""An algorithm of each key of the clients, one of RSA for all of its algorithms."""


def jwks() -> dict[str, Any]:
    """The clients' public keys."""
    published = (key_of(alg).public_jwk for alg in KINDS)
    return {"keys": [{name: jwk[name] for name in jwk if name != "alg"} for jwk in published]}


def add_clients_with_profiles(config: dict[str, Any]) -> dict[str, Any]:
    """`security` follows FAPI 2.0 Security, `signing` and `plain` Message Signing besides, `modern` OAuth 2.1, `ciba` FAPI-CIBA."""
    client = {
        "allowed_grant_types": ["authorization_code", "refresh_token", "client_credentials"],
        "allowed_scopes": ["openid", "api2"],
        "allow_offline_access": True,
        "jwks": jwks(),
    }
    security = client | {"client_id": "security", "profile": "fapi2_security"}
    modern = client | {
        "client_id": "modern",
        "profile": "oauth21",
        "client_secrets": client_in(config, "web")["client_secrets"],
    }
    signing = client | {
        "client_id": "signing",
        "profile": "fapi2_message_signing",
        "request_object_encryption_alg": "ECDH-ES",
    }
    plain = signing | {"client_id": "plain", "profile_options": {"response": "plain"}}
    grant_types = [CIBA, "refresh_token", "client_credentials"]
    ciba = client | {
        "client_id": "ciba",
        "profile": "fapi_ciba",
        "allowed_grant_types": grant_types,
    }
    clients = [security, signing, plain, modern, ciba]
    for one in clients:
        one["redirect_uris"] = [f"https://{one['client_id']}.example/callback"]
    config["clients"] += clients
    config["api_resources"][1]["introspection_signed_response"] = True
    return config


@dataclass
class HeldApp(ClientApp):
    """Authenticates by assertions, pushes its requests and proves its key."""

    key: DpopKey | None = field(default=None)

    @property
    def redirect_uri(self) -> str:
        """The client's only one."""
        return f"https://{self.client_id}.example/callback"

    def parameters(self, **changes: str | None) -> dict[str, str]:
        """A complete request, for an API of this client."""
        return super().parameters(**{"scope": "openid api2 offline_access", **changes})

    @property
    def sender(self) -> Sender:
        """Puts the request into a JWT."""
        return Sender(self)

    def proof(self, path: str) -> dict[str, str]:
        """The header with a new proof."""
        self.key = self.key or DpopKey(self.service.issuer)
        return self.key.header(path)

    async def send(
        self,
        path: str,
        *,
        alg: str = "ES256",
        claims: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **form: Any,
    ) -> Answer:
        """Send a form with an assertion, and a proof unless other headers are given."""
        signer = Signer(self.service, self.client_id, alg)
        authenticated = {
            "client_assertion_type": CLIENT_ASSERTION,
            "client_assertion": await signer.assertion(**(claims or {})),
        }
        headers = self.proof(path) if headers is None else headers
        return await self.service.post(path, headers=headers, **authenticated | form)

    async def push(self, *, headers: dict[str, str] | None = None, **changes: Any) -> Answer:
        """Push the usual request, or with `request` that object alone."""
        sent = {k: v for k, v in changes.items() if k in {"alg", "claims", "request"}}
        rest = {k: v for k, v in changes.items() if k not in sent}
        form: dict[str, Any] = {} if "request" in sent else {**self.parameters(**rest)}
        return await self.send("/connect/par", headers=headers or {}, **form, **sent)

    async def follow(self, pushed: Answer) -> Page:
        """Take what was pushed to the browser."""
        query = {"client_id": self.client_id, "request_uri": pushed["request_uri"]}
        url = f"{self.service.issuer}/connect/authorize?{urlencode(query)}"
        return await self.browser.get(url)

    async def answer(self, **changes: Any) -> Page:
        """Push, and log in; the page after that."""
        return await self.browser.log_in(await self.follow(await self.push(**changes)))

    async def _token(self, form: dict[str, Any]) -> Answer:
        return await self.send("/connect/token", **form)
