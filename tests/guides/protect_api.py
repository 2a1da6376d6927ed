"""What an API of a guide has to do: accept access tokens for it, and nothing else (RFC 6750, RFC 9068 §4)."""

from __future__ import annotations

import httpx2

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


def ask(site: Site, token: str | None) -> httpx2.Response:
    """What the API answers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.get(f"{site.url('3001')}/", headers=headers)
