"""`explain` says which types a token is for, and how to mend a refused one (RFC 9396 §5)."""

from __future__ import annotations

from typing import Any

import pytest

from service.admin.explain.request import explain_value
from service.admin.explain.token import explain_token
from service.protocol.errors import RefusedValue
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.rich_requests.details import PAYMENT, Asking

pytestmark = [pytest.mark.rfc("9396#5"), pytest.mark.usefixtures("one_store")]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "spa")["authorization_details_types"] = ["payment_initiation"]
    return config


async def test_a_token_and_its_grant_name_the_types_and_nothing_else(asking: Asking) -> None:
    tokens = await asking.tokens(PAYMENT, scope="api1 offline_access")
    for name in ("access_token", "refresh_token"):
        facts = await explain_token(asking.app.service.features, tokens[name])
        assert facts["details"] == "payment_initiation"
        assert "Merchant A" not in str(facts)


async def test_a_refused_type_is_mended_in_the_registration(service: RunningService) -> None:
    refused = RefusedValue("authorization_details", "account_information", "spa")
    rows = dict(await explain_value(service.features, refused))
    assert rows["registered"] == "payment_initiation"
    assert rows["mend"] == (
        "send the type payment_initiation in authorization_details or "
        "add account_information to authorization_details_types of the client spa"
    )
