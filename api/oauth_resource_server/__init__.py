"""Protects an API (an OAuth 2.0 resource server): reads access tokens of any issuer, and answers with the right challenge."""

from __future__ import annotations

from oauth_resource_server.caller import Caller, Demand
from oauth_resource_server.credentials import ClientAssertion, ClientSecret, private_key_jwt
from oauth_resource_server.onward import ExchangeRefused
from oauth_resource_server.refusals import Refusal
from oauth_resource_server.request import Request
from oauth_resource_server.server import ResourceServer

__all__ = [
    "Caller",
    "ClientAssertion",
    "ClientSecret",
    "Demand",
    "ExchangeRefused",
    "Refusal",
    "Request",
    "ResourceServer",
    "private_key_jwt",
]
