"""A request to a service that runs on this machine."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2


def ask(url: str, form: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    """Status and body of a GET, or of a POST where there is a form."""
    method = "POST" if form else "GET"
    answer = httpx2.request(method, url, data=form or None, timeout=10, trust_env=False)
    return answer.status_code, answer.content
