"""Ports that a server can leave and find free when it comes back."""

from __future__ import annotations

import random
from socket import create_server

BELOW_EPHEMERAL = range(16000, 32000)
"""The system gives none of these to whoever asks for any port, or connects."""


def lasting_ports(count: int) -> list[int]:
    """So many ports that nobody listens on."""
    chosen = random.SystemRandom().sample(BELOW_EPHEMERAL, k=count * 20)
    return [port for port in chosen if _is_free(port)][:count]


def _is_free(port: int) -> bool:
    try:
        with create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
