"""Payments and accounts, as clients ask for them in authorization_details."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, hashed
from tests.driving.service import Answer

PAYMENT: dict[str, Any] = {
    "type": "payment_initiation",
    "actions": ["initiate", "status", "cancel"],
    "locations": ["https://bank.example/payments"],
    "instructedAmount": {"currency": "EUR", "amount": "123.50"},
    "creditorName": "Merchant A",
}
ACCOUNTS: dict[str, Any] = {"type": "account_information", "actions": ["list", "read"]}

WORDS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
PAYMENT_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["type", "instructedAmount"],
    "properties": {
        "type": {"const": "payment_initiation"},
        "actions": WORDS,
        "locations": WORDS,
        "instructedAmount": {
            "type": "object",
            "required": ["currency", "amount"],
            "properties": {
                "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "amount": {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$"},
            },
            "additionalProperties": False,
        },
        "creditorName": {"type": "string"},
        "remittanceInformation": {},
    },
    "additionalProperties": False,
}
TYPES = [
    {
        "type": "payment_initiation",
        "api_resource": "payments",
        "schema": PAYMENT_SCHEMA,
        "summary": {
            "en": "Pay {instructedAmount.amount} {instructedAmount.currency} to {creditorName}",
            "de": "{instructedAmount.amount} {instructedAmount.currency} an {creditorName} zahlen",
        },
    },
    {
        "type": "account_information",
        "api_resource": "accounts",
        "schema": {"type": "object", "properties": {"actions": WORDS}},
    },
]
NAMES = ["payment_initiation", "account_information"]
USERS_OF_DETAILS = ("web", "spa", "implicit", "machine", "robot", "frontend", "api1")


def add_types(config: dict[str, Any]) -> dict[str, Any]:
    """Let the usual clients of a registry ask for payments and accounts."""
    config["api_resources"] += [
        {"name": "payments", "display_name": "Your bank", "secrets": [{"sha256": hashed("payments")}]},
        {"name": "accounts", "scopes": [], "secrets": [{"sha256": hashed("accounts")}]},
    ]  # fmt: skip
    config["authorization_details_types"] = TYPES
    for client_id in USERS_OF_DETAILS:
        client_in(config, client_id)["authorization_details_types"] = NAMES
    return config


def encode(*details: object) -> str:
    """The parameter."""
    return json.dumps(details)


@dataclass(frozen=True)
class Asking:
    """A client that asks a person for details, and the person's answers."""

    app: ClientApp

    async def page(self, *details: object, **changes: str | None) -> Page:
        """The page after the sign-in."""
        return await self.app.login("alice", authorization_details=encode(*details), **changes)

    async def allow(self, page: Page) -> Page:
        """The page after the consent."""
        return await self.app.browser.submit(page, action="allow")

    async def code(self, *details: object, **changes: str | None) -> str:
        """A code for what the person has allowed."""
        return (await self.allow(await self.page(*details, **changes))).parameters["code"]

    async def tokens(self, *details: object, **changes: str | None) -> Answer:
        """The whole flow at once."""
        return await self.app.redeem(await self.code(*details, **changes))
