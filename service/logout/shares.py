"""Divides the places for attempts: a host that hangs never takes them all (RFC 7591 §5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from service.clients.directory import Clients
from service.model.session import LogoutDelivery

PER_HOST = 2
"""Attempts at one host of dynamically registered clients."""


class Place(NamedTuple):
    """The host of an attempt."""

    host: str
    dynamically_registered: bool


async def choose_deliveries(
    due: Iterable[LogoutDelivery], running: Collection[Place], clients: Clients, *, places: int
) -> dict[str, Place]:
    """Return the ids of the deliveries that there is room for, each with its place."""
    taken, known, chosen = Counter(running), dict[str, Place](), dict[str, Place]()
    for delivery in due:
        if taken.total() >= places:
            break
        client_id = delivery.client_id
        if client_id not in known:
            known[client_id] = await _find_place(client_id, clients)
        place = known[client_id]
        if _has_room(place, taken, places=places):
            chosen[delivery.id] = place
            taken[place] += 1
    return chosen


def _has_room(place: Place, taken: Counter[Place], *, places: int) -> bool:
    """Whether one more attempt is allowed there.

    One host of the operator's clients gets three quarters of the places; all dynamically
    registered clients together get half, and each of their hosts gets two.
    """
    if not place.dynamically_registered:
        return taken[place] < places - places // 4
    of_all = sum(count for other, count in taken.items() if other.dynamically_registered)
    return of_all < places // 2 and taken[place] < PER_HOST


async def _find_place(client_id: str, clients: Clients) -> Place:
    in_file = clients.in_file(client_id)
    client = in_file or await clients.find(client_id)
    uri = None if client is None else client.backchannel_logout_uri
    return Place(urlsplit(uri or "").hostname or "", dynamically_registered=in_file is None)
