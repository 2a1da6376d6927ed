"""Accounts that a directory disables, locks or lets expire (draft-behera-ldap-password-policy-10, MS-ADTS §2.2.16)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import RunningService
from tests.driving.slapd import PEOPLE, Slapd
from tests.ldap.people import ACTIVE, DISABLED, PAST
from tests.ldap.test_sign_in import REFUSED, sign_in

pytestmark = pytest.mark.usefixtures("one_store")


class TestActiveDirectory:
    """The attributes of Active Directory."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"]["username"] = ["sAMAccountName"]
        return config

    @pytest.mark.parametrize(
        ("username", "status"),
        [("wendy", 200), ("disabled", 400), ("expired", 400), ("expires", 200)],
    )
    async def test_only_an_enabled_account_signs_in(
        self, service: RunningService, username: str, status: int
    ) -> None:
        assert (await sign_in(service, username)).status == status

    @pytest.mark.parametrize(
        ("attribute", "value"), [("userAccountControl", DISABLED), ("accountExpires", PAST)]
    )
    async def test_tokens_end_at_once_with_their_account(
        self, service: RunningService, directory: Slapd, attribute: str, value: str
    ) -> None:
        token = (await sign_in(service, "wendy"))["access_token"]
        assert await service.is_active(token)
        dn = f"cn=wendy,{PEOPLE}"
        directory.change(dn, attribute, value)
        try:
            assert not await service.is_active(token)
        finally:
            directory.change(dn, "userAccountControl", ACTIVE)
            directory.change(dn, "accountExpires")


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("nsAccountLock", "TRUE"), ("pwdAccountLockedTime", "000001010000Z")],
    ids=["389 Directory Server", "OpenLDAP"],
)
async def test_account_that_an_administrator_locks_is_disabled(
    service: RunningService, directory: Slapd, attribute: str, value: str
) -> None:
    token = (await sign_in(service, "carol"))["access_token"]
    dn = f"uid=carol,{PEOPLE}"
    directory.change(dn, "objectClass", "inetOrgPerson", "extensibleObject")
    directory.change(dn, attribute, value)
    try:
        assert not await service.is_active(token)
        assert (await sign_in(service, "carol")).refusal == REFUSED
    finally:
        directory.change(dn, attribute)
    assert await service.is_active(token)


async def test_lock_after_failures_refuses_the_right_password_and_ends_no_token(
    service: RunningService, directory: Slapd
) -> None:
    token = (await sign_in(service, "dave"))["access_token"]
    directory.change(f"uid=dave,{PEOPLE}", "pwdAccountLockedTime", "20261101000000Z")
    try:
        assert (await sign_in(service, "dave")).refusal == REFUSED
        assert await service.is_active(token)
    finally:
        directory.change(f"uid=dave,{PEOPLE}", "pwdAccountLockedTime")


async def test_password_that_has_to_be_changed_first_is_refused(
    service: RunningService, directory: Slapd
) -> None:
    assert (await sign_in(service, "erin")).status == 200
    directory.change(f"uid=erin,{PEOPLE}", "pwdReset", "TRUE")
    try:
        assert (await sign_in(service, "erin")).refusal == REFUSED
    finally:
        directory.change(f"uid=erin,{PEOPLE}", "pwdReset")


class TestFilter:
    """A filter that restricts the service to some users."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"]["filter"] = "(&(objectClass=person)(!(employeeType=left)))"
        return config

    async def test_user_that_no_longer_meets_it_is_unknown(
        self, service: RunningService, directory: Slapd
    ) -> None:
        token = (await sign_in(service, "frank"))["access_token"]
        directory.change(f"uid=frank,{PEOPLE}", "employeeType", "left")
        try:
            assert not await service.is_active(token)
            assert (await sign_in(service, "frank")).refusal == REFUSED
        finally:
            directory.change(f"uid=frank,{PEOPLE}", "employeeType")
