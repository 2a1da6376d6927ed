"""Two instances of this service: an ID-JAG of one is a grant at the other (draft-ietf-oauth-identity-chaining)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import fresh_configuration, hashed
from tests.driving.service import Answer, RunningService, claims_in
from tests.id_jag.issuing import ask, target
from tests.jwt_bearer.foreign import BEARER, presenter_entry

pytestmark = pytest.mark.rfc("8693#2.1", "7523#2.1", "8414#3")

REFUSED = (400, "invalid_grant")


@dataclass
class Chain:
    """The user's service, and the one of the API that the user wants to reach."""

    home: RunningService
    away: RunningService
    id_token: str

    async def ask(self, **form: Any) -> str:
        """An ID-JAG of the first for the second."""
        usual = {"audience": self.away.issuer, "resource": "api1", "scope": "api1"}
        answer = await ask(self.home, self.id_token, **usual | form)
        return str(answer["access_token"])

    async def present(self, jag: str, client: str = "web-over-there", **form: Any) -> Answer:
        """Bring it to the second."""
        return await self.away.token(client, grant_type=BEARER, assertion=jag, **form)


@pytest.fixture
async def chain(
    start: Start, service: RunningService, config: dict[str, Any], app: ClientApp
) -> Chain:
    """The second trusts the first, whose metadata it reads; the first has a rule for the second."""
    elsewhere = fresh_configuration() | {"store": {"key_prefix": "away"}}
    elsewhere["trusted_issuers"] = [{"name": "home", "issuer": service.issuer, "id_jag": True}]
    for name in ("web-over-there", "somebody-else"):
        elsewhere["clients"].append(presenter_entry(name, hashed(name)))
    away = await start(elsewhere)
    there = target(issuer=away.issuer, resources=["api1", "api2"], scopes=["api1", "api2"])
    config["token_exchange"][0]["targets"] = [there]
    service.reload(config)
    return Chain(service, away, (await app.tokens(scope="openid"))["id_token"])


async def test_a_user_of_one_reaches_an_api_of_the_other(chain: Chain) -> None:
    answer = await chain.present(await chain.ask())
    claims = (await chain.away.introspect(answer["access_token"])).json
    assert (claims["sub"], claims["idp"]) == ("home:818727", "home")
    assert (claims["aud"], claims["scope"]) == ("api1", "api1")
    assert claims["client_id"] == "web-over-there"


async def test_a_chain_keeps_the_time_of_the_authentication(chain: Chain) -> None:
    answer = await chain.present(await chain.ask())
    claims, signed_in = claims_in(answer["access_token"]), claims_in(chain.id_token)
    assert claims["auth_time"] == signed_in["auth_time"]


async def test_an_id_jag_is_good_for_one_token(chain: Chain) -> None:
    jag = await chain.ask()
    answers = await asyncio.gather(*(chain.present(jag) for _ in range(10)))
    assert sorted(answer.status for answer in answers) == [200] + [400] * 9


async def test_only_the_client_that_is_named_may_present_it(chain: Chain) -> None:
    jag = await chain.ask()
    assert (await chain.present(jag, "somebody-else")).refusal == REFUSED
    assert (await chain.present(jag)).status == 200


async def test_no_more_is_granted_than_the_first_has_allowed(chain: Chain) -> None:
    jag = await chain.ask()
    assert (await chain.present(jag, scope="api1 api2")).refusal == (400, "invalid_scope")
    assert (await chain.present(jag, resource="api2")).refusal == (400, "invalid_target")


async def test_the_id_token_itself_is_no_assertion(chain: Chain) -> None:
    assert (await chain.present(chain.id_token)).refusal == REFUSED


@pytest.mark.rfc("9449#5", "9449#6.1")
async def test_a_key_is_bound_from_end_to_end(chain: Chain) -> None:
    at_home, over_there = DpopKey(chain.home.issuer), DpopKey(chain.away.issuer)
    over_there.key = at_home.key
    jag = await chain.ask(headers=at_home.header())
    assert (await chain.present(jag)).refusal == REFUSED
    answer = await chain.present(jag, headers=over_there.header())
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": at_home.thumbprint}


async def test_the_logout_ends_the_chain_at_its_beginning(chain: Chain, browser: Browser) -> None:
    await browser.submit(await browser.get("/connect/endsession"))
    asked = {"audience": chain.away.issuer, "resource": "api1", "scope": "api1"}
    assert (await ask(chain.home, chain.id_token, **asked)).refusal == (400, "invalid_request")


async def test_the_chain_ends_where_the_trust_does(chain: Chain) -> None:
    token = (await chain.present(await chain.ask()))["access_token"]
    file = chain.away.features.shared.configuration.file
    chain.away.reload(json.loads(file.read_text()) | {"trusted_issuers": []})
    assert not await chain.away.is_active(token)
    assert (await chain.present(await chain.ask())).refusal == REFUSED
