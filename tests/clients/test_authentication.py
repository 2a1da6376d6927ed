"""A client authenticates by exactly one method (RFC 6749 §2.3, §3.2.1, §5.2)."""

from __future__ import annotations

import base64
import hmac
from functools import partial
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import pytest
from multidict import CIMultiDict

from service.events.clients import ClientRefused
from service.events.tokens import TokenRefused
from service.model import secret as secret_model
from tests.driving.registering import register
from tests.driving.registry import add_client, client_in
from tests.driving.service import Answer, RunningService, basic

pytestmark = pytest.mark.rfc("6749#2.3", "6749#5.2")

STRANGE, STRANGE_SECRET = "strange: %2B+client", "s\u00e9cret: %2B+&=\U0001f511"
MACHINE_PATHS = ("/connect/token", "/connect/introspect", "/connect/revocation")
PAIRS = [("machine", "machine-secret"), (STRANGE, STRANGE_SECRET)]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Besides the usual clients: strange names, and what is disabled or wants more than a secret."""
    usual = client_in(config, "machine")

    add = partial(add_client, config, usual)

    strange = sha256(STRANGE_SECRET.encode()).hexdigest()
    add(STRANGE, client_secrets=[{"sha256": strange}])
    add("switched-off", enabled=False)
    add("only-basic", token_endpoint_auth_method="client_secret_basic")
    add("only-post", token_endpoint_auth_method="client_secret_post")
    config["registration"] = {"enabled": True}
    return config


async def by_basic(service: RunningService, name: str, secret: str | None = None) -> Answer:
    pair = (name, f"{name}-secret" if secret is None else secret)
    return await service.token(pair, grant_type="client_credentials", scope="api1")


async def by_post(service: RunningService, **form: str | None) -> Answer:
    return await service.token(None, grant_type="client_credentials", scope="api1", **form)


@pytest.mark.rfc("6749#2.3.1")
@pytest.mark.parametrize("pair", PAIRS)
async def test_a_secret_is_sent_in_the_header_form_encoded(
    service: RunningService, pair: tuple[str, str]
) -> None:
    assert (await by_basic(service, *pair)).status == 200


@pytest.mark.rfc("6749#2.3.1")
@pytest.mark.parametrize("pair", PAIRS)
async def test_a_secret_is_sent_in_the_body(service: RunningService, pair: tuple[str, str]) -> None:
    answer = await by_post(service, client_id=pair[0], client_secret=pair[1])
    assert answer.status == 200


async def test_the_scheme_is_written_in_any_case(service: RunningService) -> None:
    header = basic("machine", "machine-secret").replace("Basic", "bAsIc")
    answer = await service.post(
        "/connect/token", headers={"Authorization": header}, grant_type="client_credentials"
    )
    assert answer.status == 200


async def test_client_id_may_be_sent_with_the_header(service: RunningService) -> None:
    answer = await service.token(
        "machine", grant_type="client_credentials", client_id="machine", scope="api1"
    )
    assert answer.status == 200


async def test_two_different_client_ids_are_refused(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", client_id="robot")
    assert answer.refusal == (401, "invalid_client")


@pytest.mark.rfc("6749#2.3")
@pytest.mark.parametrize(
    "second",
    [{"client_secret": "api1-secret"}, {"client_assertion": "eyJ.eyJ.AA"}],
    ids=["secret", "assertion"],
)
async def test_two_methods_in_one_request_are_refused(
    service: RunningService, second: dict[str, Any]
) -> None:
    for path in MACHINE_PATHS:
        answer = await service.post(path, auth="api1", client_id="api1", token="x", **second)
        assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("7521#4.2")
@pytest.mark.parametrize("client_id", ["spa", "machine", None])
async def test_a_malformed_assertion_is_refused(
    service: RunningService, client_id: str | None
) -> None:
    for path in MACHINE_PATHS:
        form: dict[str, Any] = {
            "client_id": client_id,
            "client_assertion": "eyJ.eyJ.AA",
            "token": "x",
        }
        assert (await service.post(path, **form)).refusal == (401, "invalid_client")


async def test_two_authorization_headers_are_refused(service: RunningService) -> None:
    header = ("Authorization", basic("machine", "machine-secret"))
    kind = ("Content-Type", "application/x-www-form-urlencoded")
    answer = await service.request(
        "POST",
        "/connect/token",
        headers=CIMultiDict([header, header, kind]),
        data="grant_type=client_credentials",
    )
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.parametrize("secret", ["wrong", "", "machine-secret ", "MACHINE-SECRET"])
@pytest.mark.parametrize("name", ["machine", "nobody", "switched-off"])
async def test_every_failed_authentication_has_the_same_answer(
    service: RunningService, name: str, secret: str
) -> None:
    answer = await by_basic(service, name, secret)
    assert answer.refusal == (401, "invalid_client")
    assert answer["error_description"] == "the client is unknown or its credentials are wrong"
    assert answer.headers["WWW-Authenticate"].startswith('Basic realm="')


async def test_a_disabled_client_is_refused_with_its_own_secret(service: RunningService) -> None:
    answer = await by_basic(service, "switched-off")
    assert answer.refusal == (401, "invalid_client")


@pytest.mark.rfc("6749#5.2")
async def test_the_challenge_is_sent_only_to_a_request_with_the_header(
    service: RunningService,
) -> None:
    answer = await by_post(service, client_id="machine", client_secret="wrong")
    assert answer.refusal == (401, "invalid_client")
    assert "WWW-Authenticate" not in answer.headers


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"client_id": "machine"},
        {"client_secret": "machine-secret"},
        {"client_id": "machine", "client_secret": ""},
        {"client_id": "nobody"},
    ],
    ids=["nothing", "no secret", "no name", "empty secret", "unknown"],
)
async def test_a_confidential_client_has_to_prove_itself(
    service: RunningService, form: dict[str, str]
) -> None:
    assert (await by_post(service, **form)).refusal == (401, "invalid_client")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer abc",
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + base64.b64encode(b"%ff:x").decode(),
        "Basic é",
        "Negotiate YII=",
        "machine:machine-secret",
    ],
)
async def test_a_header_without_valid_basic_credentials_is_challenged(
    service: RunningService, header: str
) -> None:
    for path in MACHINE_PATHS:
        answer = await service.post(path, headers={"Authorization": header}, token="x")
        assert answer.refusal == (401, "invalid_client")
        assert answer.headers["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.rfc("7591#2")
async def test_a_client_uses_the_method_it_is_registered_for(service: RunningService) -> None:
    assert (await by_basic(service, "only-basic")).status == 200
    assert (await by_basic(service, "only-post")).refusal == (401, "invalid_client")
    for name, status in (("only-basic", 401), ("only-post", 200)):
        answer = await by_post(service, client_id=name, client_secret=f"{name}-secret")
        assert answer.status == status


@pytest.mark.rfc("6749#2.1")
async def test_a_public_client_sends_its_client_id_alone(service: RunningService) -> None:
    answer = await service.token(
        None, client_id="spa", grant_type="refresh_token", refresh_token="x"
    )
    assert answer.refusal == (400, "invalid_grant")


@pytest.mark.rfc("6749#2.1")
async def test_a_public_client_cannot_use_a_secret(service: RunningService) -> None:
    for auth, form in ((("spa", ""), {}), (None, {"client_id": "spa", "client_secret": "any"})):
        answer = await service.token(auth, grant_type="refresh_token", refresh_token="x", **form)
        assert answer.refusal == (401, "invalid_client")


@pytest.mark.rfc("9700#2.5")
@pytest.mark.parametrize(
    "ask",
    [by_basic, lambda service, name, _: by_post(service, client_id=name)],
    ids=["secret", "client_id alone"],
)
@pytest.mark.parametrize("name", ["machine", "nobody", "spa"])
async def test_an_unknown_client_is_compared_like_any_other(
    service: RunningService, ask: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is if the request holds a client_id alone."""
    compared: list[int] = []

    def counting(one: bytes, other: bytes) -> bool:
        compared.append(len(one))
        return hmac.compare_digest(one, other)

    monkeypatch.setattr(secret_model, "hmac", SimpleNamespace(compare_digest=counting))
    await ask(service, name, "wrong")
    assert compared == [32]


def told_of(events: list[object]) -> list[str | None]:
    """Return the client that the log names for each failed authentication."""
    kinds = (TokenRefused, ClientRefused)
    return [one.client_id for one in events if isinstance(one, kinds)]


async def test_the_log_names_the_client_whose_credentials_were_wrong(
    service: RunningService, events: list[object]
) -> None:
    await by_basic(service, "machine", "wrong")
    await by_post(service, client_id="machine", client_secret="wrong")
    await by_basic(service, "switched-off")
    await by_basic(service, "only-post")
    assert told_of(events) == ["machine", "machine", "switched-off", "only-post"]


async def test_the_log_does_not_name_a_client_that_does_not_exist(
    service: RunningService, events: list[object]
) -> None:
    await by_basic(service, "made-up", "wrong")
    await by_post(service, client_id="made-up", client_secret="wrong")
    await by_post(service, client_id="made-up")
    await service.token("machine", grant_type="client_credentials", client_id="web")
    assert told_of(events) == [None] * 4


async def test_the_log_names_a_registered_client_whose_secret_was_wrong(
    service: RunningService, events: list[object]
) -> None:
    client_id = (await register(service)).json["client_id"]
    await by_basic(service, client_id, "wrong")
    assert told_of(events) == [client_id]


async def test_the_log_names_a_caller_that_could_not_introspect_or_revoke(
    service: RunningService, events: list[object]
) -> None:
    for name in ("machine", "api2", "made-up"):
        await service.post("/connect/introspect", auth=(name, "wrong"), token="t")
    await service.post("/connect/introspect", client_id="spa", token="t")
    await service.post("/connect/revocation", auth=("machine", "wrong"), token="t")
    assert told_of(events) == ["machine", "api2", None, "spa", "machine"]
