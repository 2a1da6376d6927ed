"""GET /connect/checksession: the frame that tells clients whether a session has changed (OpenID Connect Session Management §3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Template
from typing import Self

import msgspec

from service.web.endpoint import Answer, Direct, Message
from service.web.pages.looks import BUILT_IN
from service.web.pages.pages import frame

PATH = "/connect/checksession"


class CheckSessionEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Any page may frame it; its script reads one cookie, which holds no secret."""

    script: str

    @classmethod
    def reading(cls, cookie: str) -> Self:
        """Return the endpoint whose script reads the cookie of this name."""
        template = Template((BUILT_IN / "check_session.js").read_text())
        return cls(script=template.substitute(cookie=cookie))

    def routes(self) -> Iterable[Direct]:
        return (Direct("GET", PATH, self.frame),)

    def metadata(self) -> Mapping[str, object]:
        return {"check_session_iframe": PATH}

    async def frame(self, _: Message) -> Answer:
        return Answer(*frame(self.script))
