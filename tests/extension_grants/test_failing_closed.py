"""Any fault of a handler ends in an error response without tokens (RFC 6749 §5.2)."""

from __future__ import annotations

import pytest

from service.events.tokens import ExtensionGrantFailed
from service.model.handle import digest
from tests.driving.service import Answer, RunningService
from tests.extension_grants.misbehaving import WAYS

pytestmark = pytest.mark.rfc("6749#4.5", "6749#5.2", "8707#2")


async def misbehave(service: RunningService, way: str) -> Answer:
    """Let the handler go this way."""
    form = {"grant_type": "urn:example:misbehaving", "scope": "api1", "resource": "api1"}
    return await service.token("guest", **form, way=way)


@pytest.mark.parametrize("way", WAYS)
async def test_a_handler_that_goes_wrong_grants_nothing(service: RunningService, way: str) -> None:
    answer = await misbehave(service, way)
    assert answer.refusal == (400, "invalid_grant")
    assert answer.json.keys() == {"error", "error_description"}


@pytest.mark.parametrize(
    ("way", "cause"),
    [
        ("returns nothing", "the handler returned a NoneType"),
        ("raises", "RuntimeError in the handler"),
        ("sleeps", "no answer within 1.0 s"),
        ("grants a number", "the handler granted no user"),
        ("grants more than was asked", "the handler granted more than was asked for"),
        (
            "continues an authorization that does not exist",
            "the handler returned a ContinuedGrant",
        ),
        ("begins an authorization and uses a code up", "TypeError in the handler"),
        ("grants another resource", "the handler granted more than was asked for"),
        ("forgets the resource", "the handler left out the resources that were asked for"),
        ("grants to another client", "the handler granted more than was asked for"),
        ("claims what is no JSON", "the claims or members are not JSON"),
        ("answers what is no JSON", "the claims or members are not JSON"),
        ("refuses with what is no JSON", "the error's members are not JSON"),
        ("authorizes nothing", "AttributeError in the handler"),
        ("lives no time", "the lifetime is not a number of seconds"),
        ("lives for a word", "the lifetime is not a number of seconds"),
    ],
)
async def test_the_cause_is_for_the_operator_alone(
    service: RunningService, events: list[object], way: str, cause: str
) -> None:
    answer = await misbehave(service, way)
    assert answer.refusal == (400, "invalid_grant")
    assert cause not in answer["error_description"]
    grant_type = "urn:example:misbehaving"
    assert ExtensionGrantFailed(client_id="guest", grant_type=grant_type, cause=cause) in events


async def test_a_request_that_is_stopped_is_no_fault_of_its_handler(
    service: RunningService, events: list[object]
) -> None:
    assert (await misbehave(service, "is stopped")).status == 503
    assert not any(isinstance(event, ExtensionGrantFailed) for event in events)


async def test_trouble_with_the_store_stays_what_it_is(service: RunningService) -> None:
    answer = await misbehave(service, "loses the store")
    assert answer.refusal == (503, "temporarily_unavailable")
    assert int(answer.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    "way",
    [
        "continues an authorization that does not exist",
        "begins an authorization and uses a code up",
    ],
)
async def test_an_illegal_result_writes_no_authorization(service: RunningService, way: str) -> None:
    assert (await misbehave(service, way)).refusal == (400, "invalid_grant")
    listed = service.features.shared.stores.subject_authorizations
    (found,) = await service.features.shared.kv.write(listed.first(digest("818727"), count=1))
    assert list(found) == []
