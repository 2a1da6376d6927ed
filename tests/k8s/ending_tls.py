"""HAProxy as its ingress controller sets it up for `auth-tls-verify-client: optional`, before a server that tells headers."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socket import create_server

from tests.driving.program import SECONDS

CONFIG = """\
defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend public
    bind fd@{socket} ssl crt {certificate} ca-file {authority} verify optional ca-ignore-err all crt-ignore-err all
    default_backend service
backend service
{lines}
    server one 127.0.0.1:{server}
"""


class _Telling(BaseHTTPRequestHandler):
    """Answers with the Client-Cert header that it got."""

    def do_GET(self) -> None:
        told = self.headers.get("Client-Cert", "none").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Ended:
    """A proxy that ends TLS."""

    port: int
    certificate: Path

    def forwarded(self, certificate: Path | None, **headers: str) -> str:
        """The header that reaches the server behind it, for a client with this certificate."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        if certificate is not None:
            context.load_cert_chain(certificate)
        connection = HTTPSConnection("localhost", self.port, context=context, timeout=SECONDS)
        connection.request("GET", "/", headers=headers)
        told = connection.getresponse().read().decode()
        connection.close()
        return told


@contextmanager
def ending_tls(folder: Path, certificate: Path, authority: Path, lines: str) -> Iterator[Ended]:
    """HAProxy with these further lines in its backend."""
    server = HTTPServer(("127.0.0.1", 0), _Telling)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    listening = create_server(("127.0.0.1", 0))
    listening.set_inheritable(True)
    file = folder / "haproxy.cfg"
    file.write_text(
        CONFIG.format(
            socket=listening.fileno(),
            certificate=certificate,
            authority=authority,
            lines="\n".join(f"    {line}" for line in lines.splitlines()),
            server=server.server_port,
        )
    )
    command = ["haproxy", "-db", "-q", "-f", str(file)]
    process = subprocess.Popen(command, pass_fds=[listening.fileno()])
    try:
        with listening:
            port = listening.getsockname()[1]
        yield Ended(port, certificate)
    finally:
        process.kill()
        process.wait(SECONDS)
        server.shutdown()
        server.server_close()
