"""Tells people of changes to their second factors, by the operator's own class, and never lets it fail a request."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
import structlog

from service.config import plugins
from service.events.event import Emit
from service.events.factors import UserNotifierFailed
from service.model.factors import FactorNotice, UserNotifier

log = structlog.stdlib.get_logger(__name__)

TIMEOUT = 10
"""Seconds that a notifier may take; the person's page waits as long."""

_LOCATION = ("users", "notifier")


def open_user_notifier(name: str | None) -> UserNotifier | None:
    """Return the operator's notifier, made once without arguments; None without a name. Raise CannotServe if that fails."""
    if name is None:
        return None
    return cast("UserNotifier", plugins.make_plugin(name, _LOCATION, plugins.require_notifier))


class SafeNotifier(msgspec.Struct, frozen=True):
    notifier: UserNotifier | None
    emit: Emit

    async def notify(self, notice: FactorNotice) -> None:
        """Tell the person; a failure is an event, because the change is made in any case."""
        if self.notifier is None:
            return
        try:
            async with asyncio.timeout(TIMEOUT):
                await self.notifier.notify(notice)
        except Exception as error:
            log.exception("the user notifier failed", change=notice.change)
            cause = plugins.describe_exception(error)
            self.emit(UserNotifierFailed(subject=notice.subject, change=notice.change, cause=cause))
