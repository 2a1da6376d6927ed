"""Whose turn is it? Strangers that hang have few places, and wait for those among themselves (RFC 7591 §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from service.clients.directory import Clients
from service.model.logout_delivery import LogoutDelivery

PER_HOST = 2
"""Attempts at one host of clients that registered themselves."""


class Shares:
    """Places for attempts: at most half for registered clients, and of these two for each host."""

    def __init__(self, clients: Clients, running: Collection[str | None], *, places: int) -> None:
        """Take the hosts that attempts are running at, None for each at an operator's own client."""
        self._clients = clients
        self._hosts = Counter(host for host in running if host is not None)
        self._host_of: dict[str, str] = {}
        self._room = places - len(running)
        self._room_of_registered = places // 2 - self._hosts.total()

    async def choose(self, due: Iterable[LogoutDelivery]) -> dict[str, str | None]:
        """Those that there is a place for, by their ids, each with its host."""
        chosen: dict[str, str | None] = {}
        for delivery in due:
            if self._room <= 0:
                break
            if self._clients.in_file(delivery.client_id) is not None:
                chosen[delivery.id] = None
                self._room -= 1
            elif self._room_of_registered > 0:
                host = await self._host(delivery.client_id)
                if self._hosts[host] < PER_HOST:
                    chosen[delivery.id] = host
                    self._hosts[host] += 1
                    self._room -= 1
                    self._room_of_registered -= 1
        return chosen

    async def _host(self, client_id: str) -> str:
        """Where the client wants to be told; what has no such place any more is soon over."""
        if client_id not in self._host_of:
            client = await self._clients.find(client_id)
            uri = None if client is None else client.backchannel_logout_uri
            self._host_of[client_id] = urlsplit(uri or "").hostname or ""
        return self._host_of[client_id]
