"""Which clients took part in a session, and are to be told when it ends? (OIDC Back-Channel Logout §2.3)"""

from __future__ import annotations

from collections.abc import Iterable

from service.model.client import Client
from service.model.session import LogoutDelivery, Session
from service.model.trace import current_traceparent
from service.store.stores import DELIVERY_LIFETIME, LOGOUT, Stores
from service.store.verbs import Command


def takes_part(stores: Stores, client: Client, session: Session, *, now: int) -> list[Command]:
    """Note that the client relies on the session, for as long as the session can last."""
    if client.frontchannel_logout_uri is None and client.backchannel_logout_uri is None:
        return []
    return [
        stores.session_clients.add(
            session.id, client.client_id, expires_at=session.ends_at, now=now
        )
    ]


def keep(stores: Stores, session: Session, *, now: int) -> Command:
    """Let what is noted last until the session's absolute end, however long ago it was noted."""
    return stores.session_clients.keep(session.id, expires_at=session.ends_at, now=now)


def tell(stores: Stores, session: Session, client_ids: Iterable[str], *, now: int) -> list[Command]:
    """Put into the queue that these clients are to be told; whether they can be is seen there."""
    deliveries = [
        LogoutDelivery(
            client_id=client_id,
            session_id=session.id,
            subject=session.subject,
            traceparent=current_traceparent.get(),
        )
        for client_id in client_ids
    ]
    return [
        write
        for each in deliveries
        for write in (
            stores.logout_deliveries.put_new(each, LOGOUT, each.id, ttl=DELIVERY_LIFETIME),
            stores.logout_queue.add(each.id, due=now),
        )
    ]
