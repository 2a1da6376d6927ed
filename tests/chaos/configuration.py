"""The configuration of the replicas: the tests' registry, and times that are short, so that a scenario is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.model.polling import CIBA, DEVICE_CODE
from service.protocol.token_types import GRANT_TYPE
from tests.chaos.hearing import OUTGOING
from tests.chaos.spending import LENIENT, REDIRECT_URIS, STRICT
from tests.conftest import ENCRYPTION_KEY
from tests.driving.registry import client_in, fresh_configuration, hashed

STORE_TIMEOUT = "1s"
REUSE_INTERVAL = "5m"
"""Longer than any scenario: a lenient client's repetition is never refused."""


def configuration(
    store_url: str, users: Mapping[str, object], events: Mapping[str, object], **store: object
) -> Mapping[str, Any]:
    """The tests' registry, with one more client, whose refresh tokens may be repeated."""
    whole = fresh_configuration()
    client_in(whole, STRICT)["allowed_grant_types"] += [DEVICE_CODE, CIBA]
    whole["limits"] = {"device_codes_per_session": 1000, "device_codes_per_address": 1000}
    whole["limits"]["parked_requests_per_minute"] = None
    lenient = {
        **client_in(whole, STRICT),
        "client_id": LENIENT,
        "client_secrets": [{"sha256": hashed(LENIENT)}],
        "redirect_uris": [REDIRECT_URIS[LENIENT]],
        "refresh_token_reuse_interval": REUSE_INTERVAL,
    }
    client_in(whole, "api1")["allowed_grant_types"].append(GRANT_TYPE)
    return whole | {
        "users": users or whole["users"],
        "token_exchange": [{"clients": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}],
        "clients": [*whole["clients"], lenient],
        "store": {"url": store_url, "timeout": STORE_TIMEOUT, **store},
        "events": events,
        "outgoing": OUTGOING,
        "server": {"shutdown_grace": "20s", "shutdown_linger": "3s"},
        "signing": whole["signing"] | {"encryption_key": ENCRYPTION_KEY},
    }
