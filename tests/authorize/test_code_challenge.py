"""PKCE: clients that need no code challenge, and the syntax of one (RFC 7636 §4.2 to §4.4, RFC 9700 §2.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.protocol.pkce import s256
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7636#4.3", "7636#4.4.1", "9700#2.1.1")

VERIFIER = "v" * 43


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["allow_plain_text_pkce"] = True
    return configuration


@pytest.mark.rfc("10017")
@pytest.mark.parametrize("client_id", ["web", "spa", "native"])
async def test_a_code_challenge_is_required_by_default(
    app_of: Callable[[str], ClientApp], client_id: str
) -> None:
    page = await app_of(client_id).authorize(code_challenge=None, code_challenge_method=None)
    assert page.error == "invalid_request"


async def test_a_client_can_be_registered_to_send_no_code_challenge(
    app_of: Callable[[str], ClientApp],
) -> None:
    client = app_of("implicit")
    code = await client.code(code_challenge=None, code_challenge_method=None)
    assert (await client.redeem(code, code_verifier=None)).status == 200


async def test_a_challenge_counts_where_it_is_not_required(
    app_of: Callable[[str], ClientApp],
) -> None:
    client = app_of("implicit")
    code = await client.code()
    assert (await client.redeem(code, code_verifier=None)).refusal == (400, "invalid_grant")


async def test_a_token_alone_needs_no_challenge(
    app_of: Callable[[str], ClientApp], service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "implicit")["require_pkce"] = True
    service.reload(config)
    page = await app_of("implicit").login(
        response_type="token", scope="api1", code_challenge=None, code_challenge_method=None
    )
    assert "access_token" in page.parameters


@pytest.mark.parametrize("method", ["plain", None])
async def test_code_challenge_method_plain_is_refused_by_default(
    app: ClientApp, method: str | None
) -> None:
    page = await app.authorize(code_challenge=VERIFIER, code_challenge_method=method)
    assert page.error == "invalid_request"


@pytest.mark.parametrize("method", ["plain", None])
async def test_code_challenge_method_plain_works_for_a_client_that_may_use_it(
    app_of: Callable[[str], ClientApp], method: str | None
) -> None:
    spa = app_of("spa")
    code = await spa.code(code_challenge=VERIFIER, code_challenge_method=method)
    assert (await spa.redeem(code, code_verifier=VERIFIER)).status == 200


async def test_a_challenge_without_a_method_is_plain(app_of: Callable[[str], ClientApp]) -> None:
    spa = app_of("spa")
    code = await spa.code(code_challenge=s256(VERIFIER), code_challenge_method=None)
    assert (await spa.redeem(code, code_verifier=VERIFIER)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize(
    "changes",
    [
        {"code_challenge": "c" * 42},
        {"code_challenge": "c" * 129},
        {"code_challenge": "c" * 42 + "+"},
        {"code_challenge": "c" * 42 + "="},
        {"code_challenge": ""},
        {"code_challenge_method": "s256"},
        {"code_challenge_method": "S512"},
        {"code_challenge": None},
    ],
    ids=["short", "long", "plus", "padded", "empty", "case", "unknown method", "method alone"],
)
async def test_a_malformed_challenge_is_refused(app: ClientApp, changes: dict[str, str]) -> None:
    assert (await app.authorize(**changes)).error == "invalid_request"
