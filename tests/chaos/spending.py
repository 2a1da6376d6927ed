"""Using what is to be used once: codes and refresh tokens."""

from __future__ import annotations

from time import monotonic

from service.model import polling
from service.model.polling import CIBA
from service.protocol.pkce import s256
from tests.chaos.answers import Answer, Kind
from tests.chaos.ledger import (
    AUTH_REQ_ID,
    CODE,
    DEVICE_CODE,
    REFRESH_TOKEN,
    Life,
    OneTime,
)
from tests.chaos.machines import acknowledge
from tests.chaos.site import Site

STRICT, LENIENT = "web", "lenient"
"""Clients whose refresh tokens are good once; and may be repeated."""
REDIRECT_URIS = {
    STRICT: "https://web.example/callback",
    LENIENT: "https://lenient.example/callback",
}
VERIFIER = "of-all-clients-here-because-nobody-listens-on-loopback"
CHALLENGE = s256(VERIFIER)


async def spend(
    site: Site, one: OneTime, *, at: str | None = None, work: str | None = None
) -> OneTime | None:
    """Present a code or refresh token, perhaps at a certain replica; the refresh token that comes for it."""
    attempt = one.present()
    url = f"{site.url}/connect/token"
    answer = await site.caller.post(
        work or _WORKS[one.kind], url, auth=one.client, at=at, **_form(one)
    )
    one.answered(attempt, answer)
    if not answer.good:
        return None
    acknowledge(site, answer, one.grant, waited=True)
    return _refresh_token(site, answer, one)


async def spend_until_answered(site: Site, one: OneTime) -> OneTime | None:
    """Present it until it is accepted or refused, as a client repeats a request without an answer."""
    while (token := await spend(site, one)) is None:
        if one.attempts[-1].kind is Kind.REFUSED or not site.under_load:
            return None
        await site.pause()
    return token


_WORKS = {CODE: "redeem", DEVICE_CODE: "poll", AUTH_REQ_ID: "poll", REFRESH_TOKEN: "refresh"}


def _form(one: OneTime) -> dict[str, str]:
    if one.kind == REFRESH_TOKEN:
        return {"grant_type": "refresh_token", "refresh_token": one.value}
    if one.kind == DEVICE_CODE:
        return {"grant_type": polling.DEVICE_CODE, "device_code": one.value}
    if one.kind == AUTH_REQ_ID:
        return {"grant_type": CIBA, "auth_req_id": one.value}
    return {
        "grant_type": "authorization_code",
        "code": one.value,
        "redirect_uri": REDIRECT_URIS[one.client],
        "code_verifier": VERIFIER,
    }


def _refresh_token(site: Site, answer: Answer, spent: OneTime) -> OneTime:
    """Return the refresh token of an answer; a repeated answer has the same."""
    value, client = answer.content["refresh_token"], spent.client
    told = OneTime(
        REFRESH_TOKEN, value, client, spent.grant, answer.ended, lenient=client == LENIENT
    )
    return site.ledger.refresh_tokens.setdefault(value, told)


def new_polled_code(site: Site, kind: str, value: str, client: str) -> OneTime:
    """A device code or auth_req_id that the user has just allowed."""
    code = OneTime(kind, value, client, Life(), monotonic())
    site.ledger.codes.append(code)
    return code


def new_code(site: Site, answer: Answer, client: str) -> OneTime:
    """The code of an authorization response, with which a grant begins."""
    code = OneTime(CODE, answer.content["code"], client, Life(), answer.ended)
    site.ledger.codes.append(code)
    return code
