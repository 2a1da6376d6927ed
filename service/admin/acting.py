"""The rows of the admin API that end or change something; each is audited with its caller."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from service.admin.api import AdminRequest, NotFound, Reply, Row
from service.admin.ending import Ending
from service.clients.registration.registration import ClientRegistration
from service.clock import clock
from service.events.admin import AdminAction
from service.events.event import Emit
from service.keys.key_source import FileKeys
from service.keys.schedule import CannotChangeKeys, KeysUnreadable, find_successor
from service.keys.stored_keys import StoredKeys
from service.model.client_metadata import selector_of
from service.model.request_context import caller as current_address
from service.outbox.looking import Outboxes
from service.protocol.errors import InvalidRequest


class Conflict(InvalidRequest, status=409):
    """The request is impossible in the present state (RFC 9110 §15.5.10)."""


class RotatedKeys(msgspec.Struct, frozen=True):
    """The answer to a rotation."""

    kid: str
    """The next key of the default algorithm, which is announced and will sign."""
    kids: dict[str, str]
    """The next key of every algorithm."""


class Acting(msgspec.Struct, frozen=True, kw_only=True):
    ending: Ending
    outboxes: Outboxes
    find_registration: Callable[[], ClientRegistration | None]
    find_keys: Callable[[], StoredKeys | FileKeys]
    emit: Emit

    def rows(self) -> tuple[Row, ...]:
        user, client = "/admin/users/{sub}", "/admin/clients/{id}"
        return (
            Row("DELETE", f"{user}/sessions", self.end_sessions, writes=True),
            Row("DELETE", f"{user}/grants", self.end_grants, writes=True),
            Row("DELETE", f"{user}/factors", self.remove_factors, writes=True),
            Row("POST", f"{user}/unlock", self.unlock, writes=True),
            Row("DELETE", "/admin/sessions/{id}", self.end_session, writes=True),
            Row("DELETE", "/admin/grants/{id}", self.end_grant, writes=True),
            Row("DELETE", f"{client}/grants", self.end_grants_of_client, writes=True),
            Row("DELETE", "/admin/registered-clients/{id}", self.delete_client, writes=True),
            Row("POST", "/admin/keys/rotate", self.rotate_keys, writes=True),
            Row("POST", "/admin/outbox/{id}/retry", self.retry, writes=True),
        )

    async def end_sessions(self, request: AdminRequest) -> Reply:
        subject = request.path["sub"]
        count = await self.ending.end_sessions(subject)
        self._note(request, "end_sessions", subject=subject, count=count)
        return None

    async def end_grants(self, request: AdminRequest) -> Reply:
        subject = request.path["sub"]
        count = await self.ending.end_grants(subject)
        self._note(request, "end_grants", subject=subject, count=count)
        return None

    async def remove_factors(self, request: AdminRequest) -> Reply:
        subject = request.path["sub"]
        removed = await self.ending.remove_factors(subject)
        self._note(request, "remove_factors", subject=subject, count=len(removed))
        return None

    async def unlock(self, request: AdminRequest) -> Reply:
        subject = request.path["sub"]
        await self.ending.unlock(subject)
        self._note(request, "unlock", subject=subject, count=1)
        return None

    async def end_session(self, request: AdminRequest) -> Reply:
        sid = request.path["id"]
        found = await self.ending.end_session(sid)
        subject = None if found is None else found.subject
        self._note(request, "end_session", subject=subject, target=sid, count=int(bool(found)))
        return None

    async def end_grant(self, request: AdminRequest) -> Reply:
        grant_id = request.path["id"]
        found = await self.ending.end_grant(grant_id)
        self._note(
            request,
            "end_grant",
            subject=None if found is None else found.subject,
            client_id=None if found is None else found.client_id,
            target=grant_id,
            count=int(found is not None),
        )
        return None

    async def end_grants_of_client(self, request: AdminRequest) -> Reply:
        client_id = request.path["id"]
        count = await self.ending.end_grants_of_client(client_id)
        self._note(request, "end_grants_of_client", client_id=client_id, count=count)
        return None

    async def delete_client(self, request: AdminRequest) -> Reply:
        client_id = request.path["id"]
        registration, selector = self.find_registration(), selector_of(client_id)
        deleted = False
        if registration is not None and selector is not None:
            stores = registration.stores
            (record,) = await stores.kv.read(stores.registered_clients.read(selector))
            if record is not None and record.client_id == client_id:
                await registration.delete(record)
                deleted = True
        self._note(request, "delete_client", client_id=client_id, count=int(deleted))
        return None

    async def rotate_keys(self, request: AdminRequest) -> Reply:
        """Announce the next key of each algorithm, unless it is announced already."""
        source = self.find_keys()
        if isinstance(source, FileKeys):
            raise Conflict("signing.source is files, so the keys are the operator's to change")
        try:
            keys = await source.rotate(at_once=False)
        except (CannotChangeKeys, KeysUnreadable) as error:
            raise Conflict(str(error)) from error
        found = ((alg, find_successor(keys, alg, clock())) for alg in source.ring.algorithms)
        kids = {alg: key.kid for alg, key in found if key is not None}
        kid = kids[source.ring.algorithms[0]]
        self._note(request, "rotate_keys", target=kid, count=len(kids))
        return RotatedKeys(kid, kids)

    async def retry(self, request: AdminRequest) -> Reply:
        """Let a message be due now; 404 if it has been delivered, or never was."""
        message_id = request.path["id"]
        if not await self.outboxes.retry(message_id):
            raise NotFound("no message has this id")
        self._note(request, "retry_message", target=message_id, count=1)
        return None

    def _note(
        self,
        request: AdminRequest,
        action: str,
        *,
        subject: str | None = None,
        client_id: str | None = None,
        target: str | None = None,
        count: int,
    ) -> None:
        self.emit(
            AdminAction(
                action=action,
                actor_client_id=request.caller.client_id,
                actor_subject=request.caller.subject,
                subject=subject,
                client_id=client_id,
                target=target,
                count=count,
                address=current_address(),
            )
        )
