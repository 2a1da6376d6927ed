"""Explains a token, code or cookie, or a request by its URL, as `token-service explain` does."""

from __future__ import annotations

import msgspec

from service.admin.explain.parts import Parts
from service.admin.explain.request import explain_url
from service.admin.explain.token import explain_token


class Fact(msgspec.Struct, frozen=True):
    """One line of an explanation; a name can come more than once."""

    name: str
    value: str


class ExplainView(msgspec.Struct, frozen=True, kw_only=True):
    facts: tuple[Fact, ...]


class ExplainViews(msgspec.Struct, frozen=True):
    parts: Parts

    async def explain(self, text: str) -> ExplainView:
        """Return what is known; raise CannotExplain for a URL of nothing, or a text of none."""
        text = text.strip()
        rows = (
            await explain_url(self.parts, text)
            if "://" in text
            else [*(await explain_token(self.parts, text)).items()]
        )
        return ExplainView(facts=tuple(Fact(name, value) for name, value in rows))
