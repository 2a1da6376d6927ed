"""Whose turn is it? A host that hangs never has all places, and strangers have few (RFC 7591 §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from service.clients.directory import Clients
from service.model.client import Client
from service.model.session import LogoutDelivery

PER_HOST = 2
"""Attempts at one host of clients that registered themselves."""


class Place(NamedTuple):
    """Where an attempt is made."""

    host: str
    dynamically_registered: bool


class Shares:
    """Places for attempts.

    Three quarters at most for one host of the operator's clients; half for all registered
    clients together, and of these two for each host.
    """

    def __init__(self, clients: Clients, running: Collection[Place], *, places: int) -> None:
        """Take where attempts are running."""
        self._clients = clients
        self._taken = Counter(running)
        self._places: dict[str, Place] = {}
        self._room = places - len(running)
        self._room_of_registered = places // 2 - sum(
            place.dynamically_registered for place in running
        )
        self._per_own_host = places - places // 4

    async def choose(self, due: Iterable[LogoutDelivery]) -> dict[str, Place]:
        """Those that there is room for, by their ids, each with its place."""
        chosen: dict[str, Place] = {}
        for delivery in due:
            if self._room <= 0:
                break
            place = await self._place(delivery.client_id)
            if self._has_room(place):
                chosen[delivery.id] = place
                self._taken[place] += 1
                self._room -= 1
                self._room_of_registered -= place.dynamically_registered
        return chosen

    def _has_room(self, place: Place) -> bool:
        if place.dynamically_registered:
            return self._room_of_registered > 0 and self._taken[place] < PER_HOST
        return self._taken[place] < self._per_own_host

    async def _place(self, client_id: str) -> Place:
        """Where the client wants to be told; what has no such place any more is soon over."""
        known = self._places.get(client_id)
        if known is None:
            written_down = self._clients.in_file(client_id)
            client = written_down or await self._clients.find(client_id)
            known = Place(_host(client), dynamically_registered=written_down is None)
            self._places[client_id] = known
        return known


def _host(client: Client | None) -> str:
    uri = None if client is None else client.backchannel_logout_uri
    return urlsplit(uri or "").hostname or ""
