"""`explain` says why an assertion is refused, and does not use it up."""

from __future__ import annotations

from typing import Any

from tests.cli.conftest import Command, command
from tests.cli.test_explain import explained
from tests.driving.service import claims_in
from tests.jwt_bearer.foreign import Partner

__all__ = ["command"]

KIND = "assertion (JWT) of a trusted issuer"


async def test_an_assertion_that_holds_is_explained(partner: Partner, command: Any) -> None:
    assertion = await partner.assertion()
    facts = await explained(command, assertion)
    told = {name: facts[name] for name in ("kind", "issuer", "subject", "state")}
    assert told == {
        "kind": KIND,
        "issuer": "partner",
        "subject": "partner:their-alice",
        "state": "holds",
    }
    assert (await partner.present(assertion)).status == 200
    assert "used before" in (await explained(command, assertion))["state"]


async def test_a_refused_assertion_is_explained(partner: Partner, command: Any) -> None:
    facts = await explained(command, await partner.assertion(iat=None))
    assert (facts["kind"], facts["issuer"]) == (KIND, "partner")
    assert facts["state"] == "refused: exp or iat is missing"


async def test_jwt_of_an_untrusted_issuer_is_just_a_jwt(partner: Partner, command: Any) -> None:
    facts = await explained(command, await partner.assertion(iss="https://stranger.example"))
    assert facts["kind"] == "JWT"


async def test_a_token_by_an_assertion_is_explained(partner: Partner, command: Command) -> None:
    token = (await partner.present())["access_token"]
    facts = await explained(command, token)
    assert (facts["subject"], facts["state"]) == (claims_in(token)["sub"], "active")
