"""Each endpoint that takes authorization requests runs its own column of the checks (RFC 9126 §2.1, RFC 8628 §3.1, CIBA §7.1)."""

from __future__ import annotations

import pytest

from service.authorize.parameters import AUTHORIZE, CIBA, DEVICE, PAR, EndpointKind
from service.authorize.request import AuthorizeRequest
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9126#2.1", "8628#3.1")

EVERYWHERE = list(EndpointKind)
REDIRECTING = [AUTHORIZE, PAR]
BACK_CHANNEL = [DEVICE, CIBA]


def name_of(endpoint: EndpointKind) -> str:
    return endpoint.name


async def read(sender: Sender, endpoint: EndpointKind, **sent: str | None) -> AuthorizeRequest:
    """Return the client's request as the endpoint reads it."""
    reader = sender.app.service.features.arriving.reader
    client = await reader.clients.find(sender.app.client_id)
    assert client is not None
    params = Params({name: (value,) for name, value in sent.items() if value is not None})
    return await reader.read(
        await reader.arrive(params, client, endpoint, client_address="192.0.2.1")
    )


async def error_of(sender: Sender, endpoint: EndpointKind, **sent: str | None) -> str:
    with pytest.raises(OAuthError) as refused:
        await read(sender, endpoint, **sent)
    return refused.value.code


@pytest.mark.parametrize("endpoint", REDIRECTING, ids=name_of)
async def test_endpoints_that_redirect_accept_a_whole_request(
    web: Sender, endpoint: EndpointKind
) -> None:
    request = await read(web, endpoint, **web.app.parameters())
    assert (request.response_type.name, sorted(request.scope)) == ("code", ["api1", "openid"])


@pytest.mark.parametrize("endpoint", BACK_CHANNEL, ids=name_of)
async def test_endpoints_that_do_not_redirect_need_a_scope_only(
    web: Sender, endpoint: EndpointKind
) -> None:
    request = await read(web, endpoint, scope="openid api1 offline_access")
    assert request.scope == {"openid", "api1", "offline_access"}


@pytest.mark.parametrize("endpoint", BACK_CHANNEL, ids=name_of)
@pytest.mark.parametrize(
    "parameter", ["redirect_uri", "response_type", "prompt", "max_age", "registration", "claims"]
)
async def test_parameters_of_redirects_have_no_meaning_without_one(
    web: Sender, endpoint: EndpointKind, parameter: str
) -> None:
    request = await read(web, endpoint, scope="openid", **{parameter: "nonsense"})
    assert (request.response_type.name, request.prompt) == ("", frozenset())


@pytest.mark.parametrize("endpoint", REDIRECTING, ids=name_of)
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"redirect_uri": "https://other.example/"}, "invalid_request"),
        ({"redirect_uri": None}, "invalid_request"),
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "id_token"}, "unauthorized_client"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"registration": "{}"}, "registration_not_supported"),
    ],
    ids=str,
)
async def test_endpoints_that_redirect_refuse_what_the_redirect_needs(
    web: Sender, endpoint: EndpointKind, changes: dict[str, str | None], error: str
) -> None:
    sent: dict[str, str | None] = {**web.app.parameters(), **changes}
    assert await error_of(web, endpoint, **sent) == error


@pytest.mark.parametrize("endpoint", EVERYWHERE, ids=name_of)
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scope": None}, "invalid_scope"),
        ({"scope": "openid unknown"}, "invalid_scope"),
        ({"scope": "offline_access"}, "invalid_scope"),
        ({"resource": "unknown"}, "invalid_target"),
        ({"scope": "s" * 1001}, "invalid_request"),
    ],
    ids=["no scope", "unknown scope", "empty scope", "unknown resource", "too long"],
)
async def test_every_endpoint_refuses_what_a_client_may_not_have(
    web: Sender, endpoint: EndpointKind, changes: dict[str, str | None], error: str
) -> None:
    sent: dict[str, str | None] = {**web.app.parameters(), **changes}
    assert await error_of(web, endpoint, **sent) == error


@pytest.mark.parametrize("endpoint", EVERYWHERE, ids=name_of)
async def test_every_endpoint_refuses_a_parameter_that_is_sent_twice(
    web: Sender, endpoint: EndpointKind
) -> None:
    reader = web.app.service.features.arriving.reader
    client = await reader.clients.find(web.app.client_id)
    assert client is not None
    usual = {name: (value,) for name, value in web.app.parameters().items()}
    params = Params(usual | {"scope": ("openid", "openid")})
    arrival = await reader.arrive(params, client, endpoint, client_address="192.0.2.1")
    with pytest.raises(OAuthError, match="scope is sent more than once"):
        await reader.read(arrival)


@pytest.mark.parametrize("endpoint", REDIRECTING, ids=name_of)
async def test_a_request_object_counts_before_what_was_sent(
    web: Sender, endpoint: EndpointKind
) -> None:
    sent: dict[str, str | None] = {**web.app.parameters(), "scope": "openid"}
    signed = await web.signed(scope="openid email")
    request = await read(web, endpoint, **sent, request=signed)
    assert request.scope == {"openid", "email"}


@pytest.mark.parametrize("endpoint", REDIRECTING, ids=name_of)
async def test_a_wrong_request_object_is_refused(web: Sender, endpoint: EndpointKind) -> None:
    sent: dict[str, str | None] = {**web.app.parameters(), "request": "e30.e30.e30"}
    assert await error_of(web, endpoint, **sent) == "invalid_request_object"


async def test_the_device_endpoint_takes_no_request_object(web: Sender) -> None:
    signed = await web.signed(scope="openid email")
    request = await read(web, DEVICE, scope="openid", request=signed)
    assert request.scope == {"openid"}


@pytest.mark.parametrize("endpoint", [PAR, CIBA], ids=name_of)
async def test_request_uri_is_accepted_at_the_authorize_endpoint_only(
    web: Sender, endpoint: EndpointKind
) -> None:
    sent: dict[str, str | None] = {**web.app.parameters(), "request_uri": "https://web.example/r"}
    assert await error_of(web, endpoint, **sent) == "invalid_request"
