"""Makes the notifier that tells users of CIBA requests, and never lets it fail or hold up a request (CIBA Core §7.3)."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
import structlog

from service.ciba.messages import Messages
from service.config import plugins
from service.events.ciba import CibaNotifierFailed
from service.events.event import Emit
from service.model.backchannel import AuthenticationNotice, Notifier

log = structlog.stdlib.get_logger(__name__)

BUILTIN = "builtin"
TIMEOUT = 10
"""Seconds that a notifier may take; the client waits as long for its auth_req_id."""

_LOCATION = ("ciba", "notifier")


class BuiltinNotifier(msgspec.Struct, frozen=True):
    """Queues a note to the webhook, if there is one; the page lists every request anyway."""

    messages: Messages

    async def notify(self, notice: AuthenticationNotice) -> None:
        if self.messages.webhook is not None:
            await self.messages.queue_note(notice.auth_req_ref, notice.client_id, notice.expires_at)


def open_notifier(name: str, messages: Messages) -> Notifier:
    """Return the built-in notifier, or the operator's own, made once without arguments; CannotServe if that fails."""
    if name == BUILTIN:
        return BuiltinNotifier(messages)
    return cast("Notifier", plugins.make_plugin(name, _LOCATION, plugins.require_notifier))


class SafeNotifier(msgspec.Struct, frozen=True):
    notifier: Notifier
    emit: Emit

    async def notify(self, notice: AuthenticationNotice) -> None:
        """Tell the user; a failure is an event, because the request waits at its page in any case."""
        try:
            async with asyncio.timeout(TIMEOUT):
                await self.notifier.notify(notice)
        except Exception as error:
            log.exception("the CIBA notifier failed", client_id=notice.client_id)
            cause = plugins.describe_exception(error)
            ref = notice.auth_req_ref
            self.emit(CibaNotifierFailed(client_id=notice.client_id, auth_req_ref=ref, cause=cause))
