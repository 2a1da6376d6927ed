"""A platform that signs the tokens of its workloads as Kubernetes, SPIRE and CI systems do, and publishes its keys."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

from aiohttp import web
from joserfc.jws import JWSRegistry
from orjson import dumps

from service.keys.jose import Key
from service.model.workload import JWT_SPIFFE
from service.protocol.octets import base64url
from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import key_of
from tests.driving.service import Answer, RunningService

METADATA, JWKS, BUNDLE = "/.well-known/openid-configuration", "/openid/v1/jwks", "/bundle"
TRUST_DOMAIN = "example.org"
CI = "https://ci.example"
REPOSITORY = "repo:acme/shop:ref:refs/heads/main"


@dataclass
class Platform:
    """Publishes its keys under `origin`, to callers with `token` if it asks for one."""

    origin: str = ""
    token: str | None = None
    keys: list[Key] = field(default_factory=lambda: [key_of("RS256"), key_of("ES256")])
    sequence: int | None = None
    refresh_hint: int | None = None
    use: str = "jwt-svid"
    bundle: Any = None
    is_away: bool = False
    asked: list[str] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.Response:
        """Metadata, keys and the trust bundle."""
        self.asked.append(request.path)
        if self.is_away:
            return web.json_response({}, status=503)
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.json_response({"kind": "Status", "code": 401}, status=401)
        published = [key.public_jwk for key in self.keys]
        answers: dict[str, Any] = {
            METADATA: {"issuer": self.origin, "jwks_uri": self.origin + JWKS},
            JWKS: {"keys": published},
            BUNDLE: self.bundle if self.bundle is not None else self._make_bundle(published),
        }
        answer = answers.get(request.path)
        return web.json_response(answer, status=404 if answer is None else 200)

    def _make_bundle(self, published: list[dict[str, Any]]) -> dict[str, Any]:
        """The keys as SPIRE publishes them: without `alg`, and with a use of their own."""
        keys = [{**key, "use": self.use} for key in published]
        for key in keys:
            del key["alg"]
        extra = {"spiffe_sequence": self.sequence, "spiffe_refresh_hint": self.refresh_hint}
        return {"keys": keys} | {name: each for name, each in extra.items() if each is not None}


@dataclass(frozen=True)
class Workload:
    """A workload with its token, which it presents to the service."""

    service: RunningService
    claims: dict[str, Any]
    alg: str = "RS256"
    type: str = CLIENT_ASSERTION

    def token(
        self, *, number: int = 0, header: dict[str, Any] | None = None, **changes: Any
    ) -> str:
        """Its token with changed claims, or (None) without them; spans count from now."""
        now, key = int(time.time()), key_of(self.alg, number)
        usual = {"aud": [self.service.issuer], "iat": now, "exp": timedelta(hours=1), **self.claims}
        claims = {
            name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
            for name, value in (usual | changes).items()
            if value is not None
        }
        named = {"alg": self.alg, "kid": key.kid} | (header or {})
        signed = f"{base64url(dumps(named))}.{base64url(dumps(claims))}"
        signature = JWSRegistry.algorithms[self.alg].sign(signed.encode(), key.material)
        return f"{signed}.{base64url(signature)}"

    def credentials(self, token: str | None = None, **changes: Any) -> dict[str, Any]:
        """The parameters by which it authenticates."""
        return {
            "client_assertion_type": self.type,
            "client_assertion": token or self.token(**changes),
        }

    async def ask(self, token: str | None = None, **form: Any) -> Answer:
        """Ask for a token for itself."""
        usual: dict[str, Any] = {"grant_type": "client_credentials", **self.credentials(token)}
        return await self.service.post("/connect/token", **usual | form)

    async def ask_with(self, **changes: Any) -> Answer:
        """The same with changed claims."""
        return await self.ask(self.token(**changes))


def pod(service: RunningService, platform: Platform, namespace: str, name: str) -> Workload:
    """A pod with a bound service account token, as the TokenRequest API makes it (KEP-1205)."""
    account = {"name": name, "uid": str(uuid4())}
    bound = {"pod": {"name": f"{name}-7d4b9", "uid": str(uuid4())}, "node": {"name": "node-1"}}
    return Workload(
        service,
        {
            "iss": platform.origin,
            "sub": f"system:serviceaccount:{namespace}:{name}",
            "jti": str(uuid4()),
            "nbf": int(time.time()),
            "kubernetes.io": {"namespace": namespace, "serviceaccount": account, **bound},
        },
    )


def svid(service: RunningService, path: str, *, trust_domain: str = TRUST_DOMAIN) -> Workload:
    """A workload with a JWT-SVID, as SPIRE makes it: without `iss` (JWT-SVID §3)."""
    return Workload(
        service, {"sub": f"spiffe://{trust_domain}/{path}"}, alg="ES256", type=JWT_SPIFFE
    )


def job(service: RunningService, **claims: Any) -> Workload:
    """A CI job with an ID token that names its repository."""
    usual = {"iss": CI, "sub": REPOSITORY, "repository": "acme/shop", "attempt": 1}
    return Workload(service, usual | claims)
