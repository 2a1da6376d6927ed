"""A person's consents and grants are remembered, shown and taken back (OIDC Core §3.1.2.4)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import time_machine
from msgspec.structs import replace

from service.events.authorizations import AuthorizationEnded, ConsentWithdrawn
from service.identity.access import Authorizations, Consents, Wishes
from service.identity.users import FileUsers, Subjects
from service.model.authorization import Authorization
from service.model.client import Client
from service.model.handle import digest, new_selector
from service.store.stores import Stores
from tests.identity.people import ALICE, CAROL, Live, now, on_embedded

DAY = 24 * 3600


@pytest.fixture
def consents(stores: Stores, events: list[object]) -> Consents:
    return Consents(stores=stores, longest_access=lambda: 3600, emit=events.append)


@pytest.fixture
def authorizations(stores: Stores, events: list[object]) -> Authorizations:
    return Authorizations(stores=stores, longest_access=lambda: 3600, emit=events.append)


def client(client_id: str = "web", *, consent_lifetime: int | None = None) -> Client:
    known = SimpleNamespace(client_id=client_id, consent_lifetime=consent_lifetime)
    return cast("Client", known)


async def allow(
    consents: Consents, of: Client, asked: str, allowed: str | None = None, *, subject: str = "1"
) -> None:
    given = asked if allowed is None else allowed
    await consents.remember(
        subject, of, asked=wishes(asked), allowed=wishes(given), unverified_client_host=None
    )


def wishes(scope: str) -> Wishes:
    return Wishes(scope=frozenset(scope.split()), claims=frozenset())


async def scope(consents: Consents) -> set[str] | None:
    consent = await consents.find("1", "web", unverified_client_host=None)
    return None if consent is None else set(consent.scope)


async def test_consents_of_one_client_add_up(consents: Consents) -> None:
    await allow(consents, client(), "openid email")
    await allow(consents, client(), "openid api1")
    assert await scope(consents) == {"openid", "email", "api1"}


async def test_unticked_scope_is_removed_from_the_consent(consents: Consents) -> None:
    await allow(consents, client(), "openid email api1")
    await allow(consents, client(), "openid email", "openid")
    assert await scope(consents) == {"openid", "api1"}


async def test_a_consent_is_one_persons_for_one_client(consents: Consents) -> None:
    await allow(consents, client(), "openid")
    assert await consents.find("1", "other", unverified_client_host=None) is None
    assert await consents.find("2", "web", unverified_client_host=None) is None


async def test_a_withdrawn_consent_is_gone(consents: Consents, events: list[object]) -> None:
    await allow(consents, client(), "openid")
    await consents.withdraw("1", "web")
    await consents.stores.kv.write(*consents.prolong("1", client()))
    await consents.withdraw("1", "web")
    assert await scope(consents) is None
    assert await consents.find_all_of("1") == ()
    assert events == [ConsentWithdrawn(subject="1", client_id="web")]


async def test_withdrawal_of_all_consents_notes_the_end_for_each_client(
    consents: Consents, stores: Stores, events: list[object]
) -> None:
    await allow(consents, client(), "openid")
    await allow(consents, client("app"), "openid")
    assert await consents.withdraw_all("1") == 2
    assert await consents.find_all_of("1") == ()
    for client_id in ("web", "app"):
        (ended,) = await stores.kv.read(stores.access_ends.read(digest("1"), digest(client_id)))
        assert ended is not None
        assert ConsentWithdrawn(subject="1", client_id=client_id) in events


async def test_user_sees_only_the_own_consents(consents: Consents) -> None:
    await allow(consents, client(), "openid")
    await allow(consents, client("app"), "openid")
    await allow(consents, client(), "openid", subject="2")
    assert {consent.client_id for consent in await consents.find_all_of("1")} == {"web", "app"}


@on_embedded
async def test_a_consent_lasts_a_year_from_its_last_use(
    consents: Consents, stopped_clock: time_machine.Traveller
) -> None:
    await allow(consents, client(), "openid")
    stopped_clock.shift(364 * DAY)
    await consents.stores.kv.write(*consents.prolong("1", client()))
    stopped_clock.shift(364 * DAY)
    assert len(await consents.find_all_of("1")) == 1
    stopped_clock.shift(2 * DAY)
    assert (await scope(consents), await consents.find_all_of("1")) == (None, ())


@on_embedded
async def test_a_clients_own_consent_lifetime_is_not_renewed(
    consents: Consents, stopped_clock: time_machine.Traveller
) -> None:
    web = client(consent_lifetime=30 * DAY)
    await allow(consents, web, "openid")
    stopped_clock.shift(29 * DAY)
    assert consents.prolong("1", web) == []
    stopped_clock.shift(2 * DAY)
    assert await scope(consents) is None


async def grant(stores: Stores, subject: str | None = "1") -> Authorization:
    authorization = Authorization(
        id=new_selector(),
        client_id="web",
        scope=frozenset({"openid"}),
        subject=subject,
        idp="local",
        created_at=now(),
    )
    expiry: dict[str, Any] = {"expires_at": now() + DAY}
    await stores.kv.write(
        stores.authorizations.put(authorization, authorization.id, ttl=DAY),
        stores.subject_authorizations.add(digest(subject or ""), authorization.id, **expiry),
    )
    return authorization


async def test_user_sees_and_ends_the_own_authorizations(
    authorizations: Authorizations, stores: Stores, events: list[object]
) -> None:
    kept, ended, others = [await grant(stores, subject) for subject in ("1", "1", "2")]
    await authorizations.end(ended)
    assert await authorizations.find_all_of("1") == (kept,)
    assert await authorizations.find(ended.id) is None
    assert {one.id async for some in authorizations.walk_all() for one in some} == {
        kept.id,
        others.id,
    }
    assert events == [AuthorizationEnded(authorization_id=ended.id, client_id="web", subject="1")]


async def test_id_with_wildcards_finds_nothing(authorizations: Authorizations) -> None:
    assert await authorizations.find("*:{}") is None


@pytest.mark.parametrize("kv", ["embedded"], indirect=True)
async def test_claims_are_those_of_an_active_user(stores: Stores, registry: Live) -> None:
    subjects = Subjects(users=FileUsers(registry), registry=registry)
    alices, carols = await grant(stores, ALICE.sub), await grant(stores, CAROL.sub)
    strangers, nobodys = await grant(stores, "unknown"), await grant(stores, None)
    assert await subjects.find_claims(alices) == ALICE.claims
    assert await subjects.find_claims(carols) is None
    assert await subjects.find_claims(strangers) is None
    assert await subjects.find_claims(nobodys) == {}
    gone = replace(carols, idp="removed", user_claims={"email": "c@example.com"})
    assert await subjects.find_claims(gone) is None
