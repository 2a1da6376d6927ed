"""A handler may answer with every error, and each of them takes members, headers and a refused value (RFC 6749 §5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from service.protocol import errors
from service.protocol.errors import OAuthError, RefusedValue
from service.tokens.granting import GrantResult, GrantServices, TokenRequest
from tests.driving.registry import client_in
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#5.2")


def _with_subclasses(kind: type[OAuthError]) -> Iterator[type[OAuthError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _with_subclasses(each)


ERRORS = [each for each in _with_subclasses(OAuthError) if each.__module__ == errors.__name__]
MEMBERS: dict[str, Any] = {"hint": "later"}


class Failing:
    """Raises the error that the parameter names."""

    grant_type: ClassVar[str] = "urn:example:failing"

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take nothing."""

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Raise it."""
        kind = getattr(errors, request.params.require("error_class"))
        raise kind("not now", members=MEMBERS)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["extension_grants"].append({"handler": f"{__name__}:Failing"})
    client_in(config, "gateway")["allowed_grant_types"] = [Failing.grant_type]
    return config


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_takes_what_an_error_takes(kind: type[OAuthError]) -> None:
    refused = RefusedValue("scope", "x")
    error = kind("why", members=MEMBERS, headers={"X-A": "b"}, refused=refused, claimed="me")
    assert (error.members, error.refused, error.claimed) == (MEMBERS, refused, "me")
    assert error.headers["X-A"] == "b"


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
async def test_every_error_of_a_handler_is_answered_with_its_members(
    service: RunningService, kind: type[OAuthError]
) -> None:
    answer = await service.token(
        "gateway", grant_type=Failing.grant_type, scope="api2", error_class=kind.__name__
    )
    assert (answer.status, answer.error) == (kind.status, kind.code)
    assert answer["hint"] == "later"
