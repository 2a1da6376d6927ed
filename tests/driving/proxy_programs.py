"""Starts the proxies of examples/, each in the folder of its file."""

from __future__ import annotations

import sys

from tests.driving.process import REPOSITORY

TRAEFIK = REPOSITORY / "build/bin/traefik"
"""`make traefik` builds it, in minutes."""
COMMANDS = {
    "nginx.conf": ["nginx", "-p", ".", "-e", "stderr", "-c", "nginx.conf"],
    "haproxy.cfg": ["haproxy", "-db", "-q", "-f", "haproxy.cfg"],
    "Caddyfile": ["caddy", "run", "--adapter", "caddyfile", "--config", "Caddyfile"],
    "envoy.yaml": [
        *(sys.executable, "-m", "envoy._main", "-c", "envoy.yaml", "--disable-hot-restart"),
        *("--concurrency", "1", "--log-level", "error"),
    ],
}
TEMPORARY = " ".join(
    f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
)
"""Folders of nginx, which otherwise are those of its package."""
