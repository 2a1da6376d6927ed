"""Stands in for a cluster: publishes its keys, and makes the tokens of service accounts, as the API server of Kubernetes does."""

from __future__ import annotations

import os
import time

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import RSAKey

SERVICE = f"http://localhost:{os.environ.get('SERVICE_PORT', '8080')}"
PORT = int(os.environ.get("CLUSTER_PORT", "8090"))
ISSUER = f"http://localhost:{PORT}"
KEY = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
routes = web.RouteTableDef()


@routes.get("/.well-known/openid-configuration")
async def show_metadata(_: web.Request) -> web.Response:
    """Say where the keys are."""
    return web.json_response({"issuer": ISSUER, "jwks_uri": f"{ISSUER}/openid/v1/jwks"})


@routes.get("/openid/v1/jwks")
async def show_keys(_: web.Request) -> web.Response:
    """Publish the keys."""
    return web.json_response({"keys": [KEY.as_dict(private=False)]})


@routes.get("/token/{namespace}/{name}")
async def make_token(request: web.Request) -> web.Response:
    """Return what a pod of this service account finds in its volume, for an hour."""
    namespace, name = request.match_info["namespace"], request.match_info["name"]
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "sub": f"system:serviceaccount:{namespace}:{name}",
        "aud": [SERVICE],
        "iat": now,
        "nbf": now,
        "exp": now + 3600,
        "kubernetes.io": {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": f"{namespace}-{name}"},
            "pod": {"name": f"{name}-1", "uid": f"{namespace}-{name}-1"},
        },
    }
    return web.Response(text=jwt.encode({"alg": "RS256", "kid": "1"}, claims, KEY))


if __name__ == "__main__":
    app = web.Application()
    app.add_routes(routes)
    web.run_app(app, host="localhost", port=PORT)
