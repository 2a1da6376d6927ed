"""Says what a token is and why it is inactive, and why a request is refused, with what to change."""

from __future__ import annotations

from service.admin.explain.parts import Parts, Rows
from service.admin.explain.request import explain_url, has_parameters_to_verify
from service.admin.explain.token import explain_token


async def explain(parts: Parts, text: str) -> Rows:
    """Explain a token, code or cookie, or a request by its URL; raise CannotExplain for a URL of nothing, or a text of none."""
    if _is_url(text):
        return await explain_url(parts, text)
    return [*(await explain_token(parts, text)).items()]


def needs_store(text: str) -> bool:
    """Return whether tokens, or the signing keys that verify a parameter of a URL, have to be in the store."""
    return not _is_url(text) or has_parameters_to_verify(text)


def _is_url(text: str) -> bool:
    return "://" in text
