"""Users of a directory sign in by a bind (RFC 4511 §4.2, RFC 4513 §5.1.3)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.events.users import LoginFailed
from service.identity.dex_subjects import find_dex_subject
from service.identity.sources.guarded_requests import TOLERATED
from service.model.user import User
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, claims_in
from tests.driving.slapd import GROUPS, PEOPLE, Slapd
from tests.ldap.people import ALICE, GUID, SPECIAL

pytestmark = [pytest.mark.rfc("4513#5.1.3"), pytest.mark.usefixtures("one_store")]

REFUSED = (400, "invalid_grant")


async def sign_in(service: RunningService, username: str, password: str = "") -> Answer:
    password = password or f"{username}-password"
    form = {"grant_type": "password", "username": username, "password": password}
    return await service.token("frontend", **form, scope="api1")


async def subject(service: RunningService, username: str, password: str) -> str:
    answer = await sign_in(service, username, password)
    assert answer.status == 200, answer.body
    return str(claims_in(answer["access_token"])["sub"])


async def test_user_of_a_directory_signs_in_on_the_page(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope="openid profile email")
    assert claims_in(tokens["id_token"])["sub"] == ALICE
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await service.get("/connect/userinfo", headers=bearer)).json == {
        "sub": ALICE,
        "name": "Alice Smith",
        "given_name": "Alice",
        "family_name": "Smith",
        "preferred_username": "alice",
        "email": "alice@example.com",
    }


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("ALICE", "alice-password"),
        ("ａｌｉｃｅ", "alice-password"),
        ("müller", "müller-password"),
        (unicodedata.normalize("NFD", "MÜLLER"), "müller-password"),
        ("judy", "judy-password"),
    ],
    ids=["capitals", "full width", "umlaut", "umlaut in two", "DN with commas"],
)
async def test_right_password_signs_in(
    service: RunningService, username: str, password: str
) -> None:
    assert (await sign_in(service, username, password)).status == 200


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("alice", "bob-password"),
        ("nobody", "alice-password"),
        ("nopassword", "anything"),
        ("nopassword", " "),
        ("ali  ce", "alice-password"),
        ("al\u00adice", "alice-password"),
        ("alice@example.com", "alice-password"),
    ],
    ids=[
        *("another's password", "unknown", "no password", "blank"),
        *("spaces", "soft hyphen", "another attribute"),
    ],
)
async def test_what_the_directory_would_overlook_is_refused(
    service: RunningService, username: str, password: str
) -> None:
    """A name that has two spellings would have two counts of failures."""
    assert (await sign_in(service, username, password)).refusal == REFUSED


class TestDnOfEachName:
    """The DN of a user is made of the name."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"]["user_dn"] = f"uid={{username}},{PEOPLE}"
        return config

    @pytest.mark.usefixtures("never_probing")
    async def test_name_that_no_dn_can_have_is_a_failed_login_and_affects_no_other_user(
        self, service: RunningService, events: list[object]
    ) -> None:
        for _ in range(TOLERATED + 1):
            assert (await sign_in(service, "\ufe0f")).refusal == REFUSED
        failed = [event.reason for event in events if isinstance(event, LoginFailed)]
        assert failed == ["unknown"] * (TOLERATED + 1)
        assert (await sign_in(service, "alice")).status == 200


class TestNames:
    """Names in several attributes."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"] |= {
            "username": ["uid", "mail"],
            "fixed_claims": {"email_verified": True},
        }
        return config

    async def test_each_of_them_signs_in(self, service: RunningService) -> None:
        for name in ("alice", "alice@example.com", "Alice@Example.com"):
            assert await subject(service, name, "alice-password") == ALICE

    async def test_a_name_of_two_people_signs_in_neither(self, service: RunningService) -> None:
        for password in ("grace-password", "heidi-password"):
            with capture_logs() as logged:
                refused = await sign_in(service, "shared@example.com", password)
            assert refused.refusal == REFUSED
            (warned,) = [line for line in logged if line["log_level"] == "warning"]
            assert (warned["same"], "shared" in str(warned)) == ("user name", False)
        assert (await sign_in(service, "grace@example.com", "grace-password")).status == 200

    async def test_verified_address_finds_one_user(self, service: RunningService) -> None:
        users = service.features.shared.users
        found = await users.by_email("ALICE@example.com")
        assert isinstance(found, User)
        assert found.sub == ALICE
        assert await users.by_email("shared@example.com") == "several"


class TestSubjectsBeyondAscii:
    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"] |= {"sub": "uid"}
        return config

    @pytest.mark.rfc("openid-core#2")
    async def test_user_signs_in_nowhere_and_is_logged(self, service: RunningService) -> None:
        with capture_logs() as logged:
            assert (await sign_in(service, "müller", "müller-password")).refusal == REFUSED
        assert "ASCII" in str(logged)
        assert await service.features.shared.users.by_subject("müller") is None


class TestIdentities:
    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"] = config["users"]["ldap"] | {"identities": {"corp": "employeeType"}}
        provider = {"name": "corp", "issuer": "https://corp.example", "client_id": "us"}
        return config | {"identity_providers": [provider]}

    async def test_one_of_the_values_of_the_attribute_finds_the_user(
        self, service: RunningService
    ) -> None:
        users = service.features.shared.users
        for subject in ("engineer", "author"):
            found = await users.by_identity("corp", subject)
            assert found is not None
            assert found.sub == ALICE
        for provider, subject in (("corp", "Engineer"), ("corp", "*"), ("other", "engineer")):
            assert await users.by_identity(provider, subject) is None


async def test_address_that_is_not_verified_finds_no_user(service: RunningService) -> None:
    assert await service.features.shared.users.by_email("alice@example.com") is None


class TestTemplate:
    """The DN by the name."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"]["user_dn"] = f"uid={{username}},{PEOPLE}"
        return config

    async def test_user_is_found_without_a_search(self, service: RunningService) -> None:
        assert await subject(service, "Alice", "alice-password") == ALICE

    @pytest.mark.rfc("4514#2.4")
    @pytest.mark.parametrize(
        "username", ["alice+cn=x", f"alice,{PEOPLE}", "alice\\", '"alice"', "#616c", "alice,", ""]
    )
    async def test_name_cannot_change_the_dn(self, service: RunningService, username: str) -> None:
        assert await service.features.shared.users.by_username(username) is None


class TestSpecialCharacters:
    @pytest.fixture(params=["search", "template"])
    def config(self, config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
        config["users"]["ldap"]["groups"] = {"base": GROUPS, "attribute": None}
        if request.param == "template":
            config["users"]["ldap"]["user_dn"] = f"uid={{username}},{PEOPLE}"
        return config

    @pytest.mark.rfc("4514#2.4")
    async def test_user_with_them_in_the_dn_signs_in_and_is_in_the_groups(
        self, service: RunningService
    ) -> None:
        assert (await sign_in(service, SPECIAL)).status == 200
        assert (await sign_in(service, SPECIAL, "wrong")).refusal == REFUSED
        found = await service.features.shared.users.by_username(SPECIAL)
        assert found is not None
        assert found.claims["groups"] == ["odd"]


class TestStartTls:
    """Encryption that begins on the usual port (RFC 4511 §4.14)."""

    @pytest.fixture
    def config(self, config: dict[str, Any], directory: Slapd) -> dict[str, Any]:
        config["users"]["ldap"]["urls"] = [directory.url]
        return config

    @pytest.mark.rfc("4511#4.14")
    async def test_user_signs_in_by_start_tls(self, service: RunningService) -> None:
        assert await subject(service, "alice", "alice-password") == ALICE


class TestObjectGuid:
    """Subjects of Active Directory, whose bytes mean something in filters."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["ldap"] |= {"sub": "objectGUID", "username": ["sAMAccountName"]}
        return config

    async def test_subject_is_the_guid_as_text(self, service: RunningService) -> None:
        answer = await sign_in(service, "Wendy", "wendy-password")
        assert claims_in(answer["access_token"])["sub"] == str(GUID)
        assert await service.is_active(answer["access_token"])

    @pytest.mark.parametrize(
        "sub", ["*", "", str(GUID).upper(), f"{{{GUID}}}", GUID.hex, str(GUID)[:-1] + "9"]
    )
    async def test_other_spellings_are_other_subjects(
        self, service: RunningService, sub: str
    ) -> None:
        assert await service.features.shared.users.by_subject(sub) is None


class TestSubjectsOfDex:
    @pytest.fixture(params=["uid", "DN"])
    def config(self, config: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
        settings = {"sub": request.param, "subject_format": "dex", "connector_id": "corp"}
        config["users"]["ldap"] = config["users"]["ldap"] | settings
        return config

    async def test_user_has_the_subject_that_dex_has_given(
        self, service: RunningService, config: dict[str, Any]
    ) -> None:
        user_id = "alice" if config["users"]["ldap"]["sub"] == "uid" else f"uid=alice,{PEOPLE}"
        sub = find_dex_subject(user_id, "corp")
        assert await subject(service, "alice", "alice-password") == sub
        users = service.features.shared.users
        found = await users.by_subject(sub)
        assert found is not None
        assert found.username == "alice"
        for other in (
            find_dex_subject(user_id.upper(), "corp"),
            find_dex_subject(user_id, "other"),
            find_dex_subject("cn=reader,dc=example,dc=com", "corp"),
            find_dex_subject("é", "corp"),
            user_id,
            ALICE,
        ):
            assert await users.by_subject(other) is None

    async def test_wrong_password_and_unknown_user_are_refused_alike(
        self, service: RunningService
    ) -> None:
        for name in ("alice", "nobody"):
            assert (await sign_in(service, name, "wrong")).refusal == REFUSED
