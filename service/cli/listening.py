"""Opens the sockets that the service listens at: for each port as many as there are workers."""

from __future__ import annotations

import socket
from errno import EADDRINUSE

import click

from service.config.schema.server import Server
from service.server.accept_queue import BACKLOG

Sockets = tuple[socket.socket, ...]
"""What one worker listens at: the public port, and that of operators where it is apart."""


def listen(server: Server) -> list[Sockets]:
    """The sockets of every worker, which the system deals connections out to evenly."""
    ports = (
        [server.port] if server.management_port is None else [server.port, server.management_port]
    )
    try:
        at_ports = [_listen_at(server.host, port, server.workers) for port in ports]
    except OSError as error:
        remedy = "; choose another port by --port or SERVICE_PORT" * (error.errno == EADDRINUSE)
        text = f"cannot listen on {server.host}: {error.strerror}{remedy}"
        raise click.ClickException(text) from error
    return list(zip(*at_ports, strict=True))


def _listen_at(host: str, port: int, count: int) -> list[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    alone = socket.create_server((host, port), family=family, backlog=BACKLOG)
    if count == 1:
        return [alone]
    with alone:  # it fails where another service listens; those that share a port would not
        port = alone.getsockname()[1]
    return [
        socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=True)
        for _ in range(count)
    ]
