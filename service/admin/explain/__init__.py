"""Says what a token is and why it is inactive, and why a request is refused, with what to change."""

from __future__ import annotations

from service.admin.explain.parts import Parts, Rows
from service.admin.explain.request import explain_url
from service.admin.explain.token import explain_token


async def explain(parts: Parts, text: str) -> Rows:
    """Explain a token, code or cookie, or a request by its URL; raise CannotExplain for a URL of nothing, or a text of none."""
    if "://" in text:
        return await explain_url(parts, text)
    return [*(await explain_token(parts, text)).items()]
