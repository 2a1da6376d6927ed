"""Clients that may send request objects, each registered in another way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.clients.signing import SECRET
from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.driving.registry import client_in
from tests.request_objects.sending import Sender, jwks
from tests.request_objects.site import Site

PATHS = ("/request", "/request?of=1", "/other#hash", "/nothing", "/elsewhere", "/slow")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The clients' server on loopback."""
    site = Site()
    async with listening(site.serve) as site.base:
        yield site


@pytest.fixture
def config(config: dict[str, Any], site: Site) -> dict[str, Any]:
    """Web signs as it likes, spa by ES384 only, implicit not at all, consenting has to."""
    config["outgoing"] = {"timeout": "1s"}
    for client_id in ("web", "spa", "implicit", "consenting"):
        request_uris = [site.base + path for path in PATHS]
        client_in(config, client_id).update(jwks=jwks(), request_uris=request_uris)
    for client_id in ("web", "consenting"):
        client_in(config, client_id)["client_secrets"].append({"value": SECRET})
    client_in(config, "spa")["request_object_signing_alg"] = "ES384"
    client_in(config, "implicit")["request_object_signing_alg"] = "none"
    client_in(config, "consenting").update(
        require_signed_request_object=True, require_consent=False
    )
    return config


@pytest.fixture
def web(app: ClientApp) -> Sender:
    """Registered no algorithm in particular."""
    return Sender(app)


@pytest.fixture
def spa(app_of: Callable[[str], ClientApp]) -> Sender:
    """Registered one algorithm."""
    return Sender(app_of("spa"))


@pytest.fixture
def unsigning(app_of: Callable[[str], ClientApp]) -> Sender:
    """Registered `none`."""
    return Sender(app_of("implicit"))


@pytest.fixture
def strict(app_of: Callable[[str], ClientApp]) -> Sender:
    """Wants nothing but what it has signed to count."""
    return Sender(app_of("consenting"))
