"""The requirements of an API of a guide: it accepts access tokens for it, and nothing else (RFC 6750, RFC 9068 §4)."""

from __future__ import annotations

from typing import Any

import httpx2

from tests.driving.dpop import DpopKey
from tests.guides.site import Site
from tests.interop.steps import Steps


async def check(site: Site, steps: Steps) -> None:
    """Ask the API with tokens of each kind."""
    machine = site.token("machine", grant_type="client_credentials", scope="api1")
    with steps.step("a token for this API is accepted, and the API knows its client"):
        answer = ask(site, machine["access_token"])
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"subject": "machine", "client": "machine"}
    person = site.token(
        "frontend", grant_type="password", username="alice", password="alice", scope="openid api1"
    )
    with steps.step("a person's token carries the person"):
        assert ask(site, person["access_token"]).json() == {
            "subject": "818727",
            "client": "frontend",
        }
    other = site.token("machine", grant_type="client_credentials", scope="api2")
    header, payload, signature = machine["access_token"].split(".")
    refused = {
        "without a token": None,
        "a token for another API": other["access_token"],
        "a token that was changed": f"{header}.{payload[:-2]}.{signature}",
        "text that is no token": "nonsense",
    }
    for name, token in refused.items():
        with steps.step(f"{name}: 401 with a challenge"):
            answer = ask(site, token)
            assert answer.status_code == 401, answer.text
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")


async def check_with_proofs(site: Site, steps: Steps) -> None:
    """Ask the API also with tokens that are bound to a key (RFC 9449 §7)."""
    await check(site, steps)
    key, stranger = DpopKey(site.issuer), DpopKey(site.url("3001"))
    form: dict[str, Any] = {"grant_type": "client_credentials", "scope": "api1"}
    token = site.token("machine", key.header(), **form)["access_token"]
    bearer = site.token("machine", **form)["access_token"]
    holder = DpopKey(site.url("3001"), key=key.key)

    def proof(maker: DpopKey = holder, shown: str = token) -> str:
        return maker.proof("/", "GET", access_token=shown)

    used = proof()
    with steps.step("a bound token is accepted with a proof of its key"):
        answer = ask(site, token, "DPoP", used)
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"subject": "machine", "client": "machine"}
    refused = {
        "a bound token as a bearer token": (token, "Bearer", proof()),
        "a bound token without a proof": (token, "DPoP", None),
        "a bound token with a proof of another key": (token, "DPoP", proof(stranger)),
        "a bound token with a proof that was used": (token, "DPoP", used),
        "a bound token with a proof for another token": (token, "DPoP", proof(shown=bearer)),
        "a bearer token as a bound one": (bearer, "DPoP", proof(shown=bearer)),
    }
    for name, (shown, scheme, sent) in refused.items():
        with steps.step(f"{name}: 401 with a challenge"):
            answer = ask(site, shown, scheme, sent)
            assert answer.status_code == 401, answer.text
            assert answer.headers["WWW-Authenticate"].startswith(scheme)


def ask(
    site: Site, token: str | None, scheme: str = "Bearer", proof: str | None = None
) -> httpx2.Response:
    """The response of the API."""
    headers = {"Authorization": f"{scheme} {token}"} if token else {}
    headers |= {"DPoP": proof} if proof else {}
    return httpx2.get(f"{site.url('3001')}/", headers=headers)
