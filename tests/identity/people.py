"""The users of the tests of identity, and their addresses."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest
from argon2 import PasswordHasher
from msgspec.structs import replace

from service.identity.throttle import Throttle
from service.model.authentication_context import Mfa
from service.model.registry import Registry
from service.model.tenant import Tenancy
from service.model.user import User

on_embedded = pytest.mark.parametrize("kv", ["embedded"], indirect=True)
"""For a test that moves time: a real Redis has a clock of its own."""

ADDRESS = "192.0.2.7"
PASSWORD = "correct horse"

ALICE = User(
    sub="818727",
    username="alice",
    password=PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD),
    enabled=True,
    claims={"name": "Alice Smith"},
)
BOB = replace(ALICE, sub="2", username="Bob", claims={"name": "Bob"})
CAROL = replace(ALICE, sub="3", username="carol", enabled=False)
DAVE = replace(ALICE, sub="4", username="dave", password=None)

REGISTRY = Registry(
    clients={},
    api_resources={},
    api_scopes={},
    identity_resources={},
    identity_providers={},
    trusted_issuers={},
    workload_issuers={},
    tenants={},
    tenants_required=False,
    tenancy=Tenancy.of({}, providers={}),
    authorization_details_types={},
    authentication_contexts=(),
    extension_grants=(),
    token_exchange=(),
    trust_domains={},
    mfa=Mfa(),
    admin=None,
    users=(ALICE, BOB, CAROL, DAVE),
    client_authorities=None,
    apis_by_identifier={},
    resources_by_scope={},
    demands_acr=False,
    admin_scopes=frozenset(),
    clients_by_mark={},
    permissions={},
    longest_token=0,
    lines={},
    generation="1",
)


@dataclass(slots=True)
class Live:
    """A registry that a test may replace."""

    current: Registry = REGISTRY


def now() -> int:
    """The time, which time-machine moves."""
    return int(time.time())


async def is_locked(throttle: Throttle, username: str, address: str) -> bool:
    """Whether no attempt is allowed any more."""
    failures, _ = await throttle.find(username, address)
    return failures.are_too_many
