"""The answers to a well-behaved client."""

from __future__ import annotations

import secrets

import pytest

from tests.certification.fapi2 import resource
from tests.certification.fapi2.client import FapiClient
from tests.certification.fapi2.flow import complete, finish
from tests.certification.fapi2.rules.marks import mirrors


class Flows:
    """Flows that succeed, or that the user ends, whatever the variants."""

    @mirrors("happy-flow")
    @pytest.mark.rfc("fapi2#5.3.2.2", "9126#2.2", "9207#2")
    async def test_a_flow_gives_a_bound_token(self, client: FapiClient) -> None:
        await complete(client)

    @mirrors("happy-flow")
    @pytest.mark.rfc("6749#3.1.2", "fapi2#5.3.2.2")
    async def test_a_redirect_uri_may_have_a_query_and_a_state_128_characters(
        self, second_client: FapiClient
    ) -> None:
        assert "dummy1" in second_client.redirect_uri
        await complete(second_client, state=secrets.token_hex(64))

    @mirrors("happy-flow")
    @pytest.mark.rfc("9449#7.1", "8705#3", "fapi2#5.3.4")
    async def test_a_token_is_refused_for_the_key_of_another_client(
        self, client: FapiClient, second_client: FapiClient
    ) -> None:
        flow = await complete(second_client)
        assert not await resource.admits(client, flow.access_token)

    @mirrors("par-without-duplicate-parameters")
    @pytest.mark.rfc("9101#5", "9126#4")
    async def test_client_id_and_request_uri_are_enough_at_the_authorize_endpoint(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        pushed = await client.push(request)
        only = {"client_id": client.client_id}
        page = await client.visit(only, pushed["request_uri"])
        await finish(client, await client.follow(request, page))

    @mirrors("ensure-authorization-request-without-state-success")
    @pytest.mark.rfc("6749#4.1.2")
    async def test_a_request_without_a_state_gets_none_back(self, client: FapiClient) -> None:
        flow = await complete(client, state=None)
        assert "state" not in flow.response.parameters

    @mirrors("ensure-authorization-request-with-long-state")
    @pytest.mark.rfc("6749#4.1.2")
    async def test_a_state_of_1000_characters_comes_back_whole(self, client: FapiClient) -> None:
        await complete(client, state=secrets.token_hex(500))

    @mirrors("ensure-different-state-inside-and-outside-request-object")
    @pytest.mark.rfc("9126#4", "fapi2#5.3.2.2")
    async def test_another_state_outside_the_request_uri_is_ignored(
        self, client: FapiClient
    ) -> None:
        request = client.request()
        pushed = await client.push(request)
        page = await client.visit(request, pushed["request_uri"], state="another")
        await finish(client, await client.follow(request, page))

    @mirrors("state-only-outside-request-object-not-used")
    @pytest.mark.rfc("9126#4", "fapi2#5.3.2.2")
    async def test_a_state_that_was_not_pushed_is_ignored(self, client: FapiClient) -> None:
        request = client.request(state=None)
        pushed = await client.push(request)
        page = await client.visit(request, pushed["request_uri"], state="another")
        flow = await finish(client, await client.follow(request, page))
        assert "state" not in flow.response.parameters

    @mirrors("user-rejects-authentication")
    @pytest.mark.rfc("6749#4.1.2.1", "openid-core#3.1.2.6")
    @pytest.mark.parametrize("which", ["client", "second_client"])
    async def test_a_user_may_cancel(
        self, client: FapiClient, second_client: FapiClient, which: str
    ) -> None:
        asking = client if which == "client" else second_client
        request = asking.request(state=secrets.token_hex(64))
        page = await asking.begin(request)
        cancelled = await asking.browser.submit(page, action="cancel")
        (await asking.open(request, cancelled)).check_error("access_denied")
