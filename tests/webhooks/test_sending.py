"""Audit events go to webhooks as CloudEvents 1.0, signed after Standard Webhooks, with no more than their operator wants."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.webhooks.conftest import sign_in
from tests.webhooks.receiver import NEXT_SECRET, SECRET, Receiver, receiving


async def test_an_event_is_a_cloud_event_that_the_sdk_reads(
    app: ClientApp, receiver: Receiver, service: RunningService
) -> None:
    await app.login()
    await receiver.events()
    (received,) = receiver.received
    event = from_http_event(HTTPMessage(dict(received.headers), received.body))
    assert event.get_type() == "session_started"
    assert event.get_source() == service.issuer
    assert event.get_subject() == "818727"
    assert event.get_id() == received.id
    data: Any = event.get_data()
    assert data["subject"] == "818727"
    assert data["amr"] == ["pwd"]
    assert received.headers["Content-Type"] == "application/cloudevents+json"


async def test_signature_is_verified_by_the_public_library(
    app: ClientApp, receiver: Receiver
) -> None:
    await app.login()
    await receiver.events()
    (received,) = receiver.received
    assert Webhook(SECRET).verify(received.body.decode(), dict(received.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(NEXT_SECRET).verify(received.body.decode(), dict(received.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(received.body.decode() + " ", dict(received.headers))


class TestWhileSecretsRotate:
    @pytest.fixture
    def webhook(self, receiver: Receiver) -> dict[str, Any]:
        secrets = [NEXT_SECRET, SECRET]
        return {"url": receiver.url, "secrets": secrets, "kinds": ["session_started"]}

    async def test_each_secret_makes_a_signature(self, app: ClientApp, receiver: Receiver) -> None:
        await app.login()
        await receiver.events()
        (received,) = receiver.received
        assert len(received.headers["webhook-signature"].split(" ")) == 2
        for secret in (SECRET, NEXT_SECRET):
            assert Webhook(secret).verify(received.body.decode(), dict(received.headers))


class TestPersonal:
    @pytest.fixture
    def webhook(self, receiver: Receiver) -> dict[str, Any]:
        kinds = ["login_succeeded", "login_failed"]
        return {"url": receiver.url, "secrets": [SECRET], "kinds": kinds}

    async def test_names_and_addresses_are_left_out(
        self, app: ClientApp, receiver: Receiver
    ) -> None:
        await app.login()
        (event,) = await receiver.events()
        assert event["type"] == "login_succeeded"
        assert event["data"] == {"subject": "818727"}
        assert b"alice" not in receiver.received[0].body

    async def test_names_and_addresses_are_sent_where_the_operator_wants_them(
        self, start: Start, config: dict[str, Any], webhook: dict[str, Any], receiver: Receiver
    ) -> None:
        webhook["personal"] = True
        service = await start(config)
        await sign_in(service)
        (event,) = await receiver.events()
        assert event["data"]["username"] == "alice"
        assert event["data"]["address"] == "127.0.0.1"

    async def test_problems_of_a_configuration_name_no_user(
        self, start: Start, config: dict[str, Any], webhook: dict[str, Any], receiver: Receiver
    ) -> None:
        webhook["kinds"] = ["registry_reload_refused"]
        service = await start(config)
        config["users"]["list"][0]["password"] = "none"
        service.features.shared.configuration.file.write_text(json.dumps(config))
        assert not service.features.shared.registry.reload()
        assert "users.list[alice]" in str(service.events[-1])
        (event,) = await receiver.events()
        assert (event["type"], event["data"]) == ("registry_reload_refused", {})


async def test_events_of_other_kinds_are_not_sent(app: ClientApp, receiver: Receiver) -> None:
    await app.tokens()
    assert {event["type"] for event in await receiver.events()} == {"session_started"}


class TestTwoWebhooks:
    async def test_each_gets_what_it_asked_for(
        self, start: Start, config: dict[str, Any], receiver: Receiver
    ) -> None:
        async with receiving() as other:
            config["events"]["webhooks"].append(
                {"url": other.url, "secrets": [NEXT_SECRET], "kinds": ["login_succeeded"]}
            )
            await sign_in(await start(config))
            assert (await receiver.events())[0]["type"] == "session_started"
            assert [event["type"] for event in await other.events()] == ["login_succeeded"]
