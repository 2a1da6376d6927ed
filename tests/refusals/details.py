"""Rows on authorization_details: what no schema, no client and no grant allows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.refusals.attempts import ClientCredentials, Redemption, Refresh
from tests.refusals.authorization import Authorize, Push
from tests.refusals.row import Attempt, Outcome, refused, with_each
from tests.rich_requests.details import ACCOUNTS, PAYMENT, encode

CODE = "invalid_authorization_details"
NAME = "authorization_details"
RIGHT = {NAME: encode(PAYMENT)}


def nested(levels: int) -> Any:
    """Return objects and arrays within one another."""
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


EUR = {"currency": "eur", "amount": "1"}
WRONG = {
    "no JSON": "[{",
    "not a number of JSON": '[{"type": "payment_initiation", "a": NaN}]',
    "a number that is too large": '[{"type": "payment_initiation", "a": 1e999}]',
    "an integer that is too large": '[{"type": "payment_initiation", "a": 99999999999999999999}]',
    "half a character": '[{"type": "payment_initiation", "creditorName": "\\ud800"}]',
    "an object": json.dumps(PAYMENT),
    "text": '"payment_initiation"',
    "null": "null",
    "an empty array": "[]",
    "an array of text": '["payment_initiation"]',
    "no type": encode({"actions": ["read"]}),
    "a type that is no text": encode(PAYMENT | {"type": 1}),
    "an unknown type": encode(PAYMENT, {"type": "unknown"}),
    "an unknown member": encode(PAYMENT | {"urgent": True}),
    "a missing member": encode({"type": "payment_initiation"}),
    "a member of another type": encode(PAYMENT | {"creditorName": 1}),
    "a value that does not fit": encode(PAYMENT | {"instructedAmount": EUR}),
    "one of several that does not fit": encode(PAYMENT, PAYMENT | {"actions": []}),
    "too long": encode(PAYMENT | {"creditorName": "x" * 8192}),
    "too long in bytes": json.dumps([PAYMENT | {"creditorName": "€" * 2700}], ensure_ascii=False),
    "too many": encode(*[{"type": "account_information"}] * 51),
    "too deep": encode(PAYMENT | {"remittanceInformation": nested(20)}),
    "a thousand deep": f'[{{"type": "payment_initiation", "a": {"[" * 1000 + "]" * 1000}}}]',
    "a member that is sent twice": '[{"type": "account_information", "type": "payment_initiation"}]',
    "a number that would be rounded": '[{"type": "payment_initiation", "a": 0.1000000000000000055}]',
    "an integer that some readers round": '[{"type": "payment_initiation", "a": 9007199254740993}]',
    "very deep": "[" * 4000 + "]" * 4000,
}
WIDER: dict[str, Sequence[dict[str, Any]]] = {
    "another element": [PAYMENT | {"actions": ["initiate", "refund"]}],
    "another location": [PAYMENT | {"locations": ["https://other.example"]}],
    "another amount": [PAYMENT | {"instructedAmount": {"currency": "EUR", "amount": "999.00"}}],
    "another member": [PAYMENT | {"remittanceInformation": "x"}],
    "without a member": [{k: v for k, v in PAYMENT.items() if k != "creditorName"}],
    "without the list, which may mean everything": [{"type": "account_information"}],
    "the same object twice": [PAYMENT, PAYMENT],
    "two parts of one object": [
        PAYMENT | {"actions": ["initiate"]},
        PAYMENT | {"actions": ["status"]},
    ],
    "a granted object and another one": [PAYMENT, ACCOUNTS, ACCOUNTS],
}
WIDENING = with_each(NAME, {name: encode(*asked) for name, asked in WIDER.items()})
PLACES: list[tuple[Attempt, Outcome]] = [
    (ClientCredentials(proven=False), (400, CODE)),
    (Push(usual=RIGHT), (400, CODE)),
    (Authorize(usual=RIGHT), (303, CODE)),
]
BOTH = (PAYMENT, ACCOUNTS)

ROWS = [
    *(
        row
        for place, refusal in PLACES
        for row in refused(
            place, refusal, with_each(NAME, WRONG), pytest.mark.rfc("9396#5", "9396#8")
        )
    ),
    *(
        row
        for place in (Redemption(details=BOTH), Refresh(details=BOTH))
        for row in refused(place, (400, CODE), WIDENING, pytest.mark.rfc("9396#6", "9396#6.1"))
    ),
    *(
        row
        for place in (Redemption(), Refresh())
        for row in refused(
            place, (400, CODE), {"details for a grant without": RIGHT}, pytest.mark.rfc("9396#6.1")
        )
    ),
    *refused(Redemption(details=BOTH), (400, CODE), {"no JSON": {NAME: "[{"}}),
    *(
        row
        for place, refusal in ((Push("plain-web"), 400), (Authorize("plain-web"), 303))
        for row in refused(
            place,
            (refusal, CODE),
            {"a type that is not the client's": RIGHT},
            pytest.mark.rfc("9396#5"),
        )
    ),
    *refused(
        ClientCredentials(proven=False),
        (400, "invalid_request"),
        {"details that are sent twice": {NAME: [encode(PAYMENT), encode(PAYMENT)]}},
    ),
    *(
        row
        for place, refusal in PLACES
        for row in refused(
            place,
            refusal,
            {
                "details for another resource": RIGHT | {"resource": "accounts"},
                "some details for another resource": {
                    NAME: encode(PAYMENT, ACCOUNTS),
                    "resource": "payments",
                },
            },
            pytest.mark.rfc("9396#5", "8707#2"),
        )
    ),
    *refused(
        ClientCredentials(proven=False),
        (400, "invalid_target"),
        {"details and an unknown resource": RIGHT | {"resource": "unknown"}},
    ),
    *refused(
        Authorize("implicit", {"response_type": "id_token", "scope": "openid"}),
        (303, "invalid_request"),
        {"details for an ID token alone": RIGHT},
    ),
]
