"""Two instances of this service, each the provider of the other: sign-ins and logouts go both ways (OIDC Back-Channel Logout §2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.providers import ProviderLogoutReceived
from service.events.users import SessionEnded
from tests.account.account_page import account, end_session, sessions_on
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.fake_provider import BACKCHANNEL_LOGOUT
from tests.identity_providers.journey import Journey, arrived, provider_entry
from tests.logout.relying_party import RelyingParty

pytestmark = pytest.mark.rfc("openid-backchannel#2.5", "openid-backchannel#2.7")


@pytest.fixture
async def both(start: Start, party: RelyingParty) -> tuple[Upstream, Upstream]:
    """The two, each registered at the other, with back-channel logout."""
    instances = []
    for prefix in ("first", "second"):
        configuration = fresh_configuration() | {"store": {"key_prefix": prefix}}
        client = client_in(configuration, "web")
        client["backchannel_logout_uri"] = party.backchannel_logout_uri
        instances.append(Upstream(await start(configuration), configuration))
    first, second = instances
    for here, there in ((first, second), (second, first)):
        here.configuration["identity_providers"] = [provider_entry(there.issuer)]
        uri = there.issuer + BACKCHANNEL_LOGOUT
        here.register(there.service, backchannel_logout_uri=uri)
    return first, second


def ended(service: RunningService) -> int:
    """The number of ended sessions."""
    return sum(isinstance(event, SessionEnded) for event in service.events)


@pytest.mark.parametrize("turn", [1, -1], ids=["from the first to the second", "and back"])
async def test_logout_at_one_ends_the_session_at_the_other_and_tells_its_clients(
    both: tuple[Upstream, Upstream], party: RelyingParty, turn: int
) -> None:
    provider, service = both[::turn][0], both[::turn][1].service
    here = Browser(service.issuer)
    async with Journey.beginning(ClientApp(service, here), provider.issuer) as journey:
        assert arrived(await journey.and_back())
        (session,) = sessions_on(await account(journey.there))
        await end_session(journey.there, session)
        (told,) = await party.claims()
        assert told["iss"] == service.issuer
        assert (await journey.app.authorize(prompt="none")).error == "login_required"
    await here.close()
    assert ProviderLogoutReceived(provider="upstream", sessions=1) in service.events
    assert (ended(provider.service), ended(service)) == (1, 1)


async def test_user_without_a_password_field_comes_by_the_address(
    both: tuple[Upstream, Upstream],
) -> None:
    provider, downstream = both
    downstream.configuration["identity_providers"] = [
        provider_entry(provider.issuer, domains=["example.com"], **LINKED)
    ]
    downstream.service.reload(downstream.configuration)
    here = Browser(downstream.issuer)
    async with Journey.beginning(ClientApp(downstream.service, here), provider.issuer) as journey:
        first = await journey.app.authorize()
        sent = await here.submit(first, username="alice@example.com", action="login")
        page = await journey.there.get(sent.url)
        assert page.element("username")["value"] == "alice@example.com"
        back = await journey.there.log_in(page, "alice")
        tokens = await journey.app.redeem((await here.get(back.url)).parameters["code"])
        introspected = await downstream.service.introspect(tokens["access_token"])
        assert (introspected["sub"], introspected["idp"]) == ("818727", "upstream")
    await here.close()


LINKED: dict[str, Any] = {"link_by": "verified_email", "trust_email": True}
