"""GET of paths that only lead elsewhere: / to the account, and /.well-known/change-password to the operator's page (W3C)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from service.web.endpoint import Answer, Direct, Message, see_other

HOME = "/"
CHANGE_PASSWORD = "/.well-known/change-password"


class RedirectEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    location: str | None
    """None for no such path."""

    def routes(self) -> Iterable[Direct]:
        return (Direct("GET", self.path, self.redirect),) if self.location else ()

    async def redirect(self, _: Message) -> Answer:
        return see_other(self.location or "")
