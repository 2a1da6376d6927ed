"""Notifiers of an operator."""

from __future__ import annotations

from service.model.backchannel import AuthenticationNotice

NOTICES: list[AuthenticationNotice] = []


class Keeping:
    """Keeps the messages that it gets."""

    async def notify(self, notice: AuthenticationNotice) -> None:
        NOTICES.append(notice)


class Failing:
    """Cannot tell anybody."""

    async def notify(self, notice: AuthenticationNotice) -> None:
        raise RuntimeError(f"no way to reach {notice.subject}")


class Unfinished:
    """No Notifier."""
