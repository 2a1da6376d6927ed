"""users.source: sql: people of a real PostgreSQL, MariaDB and SQLite sign in, and are asked for at every use of a token."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.users import LoginFailed, PasswordHashReplaced
from service.identity import passwords
from service.identity.users import Directory
from service.model import password_hash
from service.model.password_hash import PasswordHash
from service.model.user import User
from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.database_servers import DatabaseServer, PostgresServer
from tests.driving.service import Answer, RunningService
from tests.users.database import CHANGED, Database

pytestmark = [pytest.mark.rfc("openid-connect-core-1_0#5.3"), pytest.mark.usefixtures("one_store")]

BOBS_UUID = "0f0d0b09-0000-4000-8000-00000000000b"
WRONG = (400, "invalid_grant")


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    return database.configuration()


async def sign_in(service: RunningService, username: str, password: str | None = None) -> Answer:
    """Ask for tokens by the password grant."""
    password = f"{username.lower()}-password" if password is None else password
    return await service.token(
        "frontend",
        grant_type="password",
        username=username,
        password=password,
        scope="openid profile email api1 offline_access",
    )


async def test_a_person_signs_in_and_has_the_claims_of_the_row(
    service: RunningService, app: ClientApp
) -> None:
    token = (await sign_in(service, "ALICE"))["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert (await service.get("/connect/userinfo", headers=headers)).json == {
        "sub": "1",
        "name": "Alice Smith",
        "email": "alice@example.com",
        "email_verified": True,
        "updated_at": int(CHANGED.timestamp()),
    }
    assert "code" in (await app.login("bob")).parameters


async def test_a_person_who_is_disabled_loses_every_token_at_once(
    service: RunningService, database: Database
) -> None:
    issued = await sign_in(service, "alice")
    assert await service.is_active(issued["access_token"])
    await database.execute("UPDATE people SET active = :no WHERE id = '1'", no=False)
    assert not await service.is_active(issued["access_token"])
    refresh = {"grant_type": "refresh_token", "refresh_token": issued["refresh_token"]}
    assert (await service.token("frontend", **refresh)).refusal == WRONG
    assert (await sign_in(service, "alice")).refusal == WRONG


@pytest.mark.parametrize(
    "username",
    [
        *("mallory", "carol", "ali ce", "álice", "al_ce", "alice%", "' OR '1'='1"),
        *("ali\tce", "alice'; DROP TABLE people; --", "1"),
    ],
)
async def test_no_other_name_is_a_persons(service: RunningService, username: str) -> None:
    assert (await sign_in(service, username, "alice-password")).refusal == WRONG


async def test_an_identifier_is_compared_letter_by_letter(
    service: RunningService, database: Database
) -> None:
    await database.add("a", "dave")
    users = service.features.shared.users
    found = await users.by_subject("a")
    assert found is not None
    assert found.username == "dave"
    assert [await users.by_subject(sub) for sub in ("A", "a ", "á", "01", "\0")] == [None] * 5


async def test_only_a_verified_address_of_one_user_finds_the_user(
    service: RunningService, database: Database
) -> None:
    users = service.features.shared.users
    found = await users.by_email("Alice@Example.com")
    assert isinstance(found, User)
    assert found.sub == "1"
    assert await users.by_email("bob@example.com") is None
    await database.execute("UPDATE people SET mail = 'alice@example.com', confirmed = active")
    assert await users.by_email("alice@example.com") == "several"


QUERY = """
SELECT id AS sub, login AS username, secret AS password, active AS enabled,
       provider AS identity_provider, subject AS identity_subject
FROM people JOIN logins ON logins.person = people.id WHERE provider = :provider AND subject = :subject"""


@pytest.fixture(params=["column", "query"])
async def users_with_identities(
    request: pytest.FixtureRequest, config: dict[str, Any], database: Database, start: Start
) -> Directory:
    """Alice is `A-1` at the provider corp."""
    config["identity_providers"] = [
        {"name": "corp", "issuer": "https://corp.example", "client_id": "us"}
    ]
    if request.param == "column":
        config["users"]["sql"]["identities"] = {"corp": "there"}
        await database.execute("ALTER TABLE people ADD there VARCHAR(100)")
        await database.execute("UPDATE people SET there = 'A-1' WHERE id = '1'")
    else:
        config["users"]["sql"]["queries"] = {"by_identity": QUERY}
        await database.execute("DROP TABLE IF EXISTS logins")
        await database.execute(
            "CREATE TABLE logins (provider VARCHAR(100), subject VARCHAR(100), person VARCHAR(100))"
        )
        await database.execute("INSERT INTO logins VALUES ('corp', 'A-1', '1')")
    return (await start(config)).features.shared.users


async def test_identity_finds_the_user_by_the_exact_subject(
    users_with_identities: Directory,
) -> None:
    found = await users_with_identities.by_identity("corp", "A-1")
    assert found is not None
    assert (found.sub, "identity_subject" in found.claims) == ("1", False)
    for provider, subject in (
        ("corp", "a-1"),
        ("corp", "A-1 "),
        ("corp", "\u00c1-1"),
        ("Corp", "A-1"),
    ):
        assert await users_with_identities.by_identity(provider, subject) is None


async def test_database_without_identities_knows_none(service: RunningService) -> None:
    assert await service.features.shared.users.by_identity("corp", "A-1") is None


async def test_a_name_that_two_people_have_signs_in_neither_of_them(
    service: RunningService, database: Database
) -> None:
    await database.add("4", "ALICE")
    assert (await sign_in(service, "alice")).refusal == (400, "invalid_grant")


async def test_queries_of_the_operator_find_people_and_their_claims(
    start: Start, config: dict[str, Any], database: Database
) -> None:
    select = (
        "SELECT id AS sub, login AS username, secret AS password, active AS enabled, mail, "
        '\'{"email": "from-json@example.com", "groups": ["staff"]}\' AS claims FROM people WHERE '
    )
    config["users"]["sql"] = {
        "url": database.url,
        "queries": {
            "by_subject": f"{select} id = :sub",
            "by_username": f"{select} LOWER(login) = :username OR mail = :username",
        },
    }
    service = await start(config)
    token = (await sign_in(service, "bob@example.com", "bob-password"))["access_token"]
    user = await service.features.shared.users.by_subject("2")
    assert user is not None
    assert user.claims == {
        "mail": "bob@example.com",
        "email": "from-json@example.com",
        "groups": ["staff"],
    }
    assert await service.is_active(token)


BCRYPT = "$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe"
"""Of the password `password`."""


async def set_hash(database: Database, sub: str, stored: str) -> None:
    await database.execute(
        "UPDATE people SET secret = :stored WHERE id = :sub", stored=stored, sub=sub
    )


async def read_hash(database: Database, sub: str) -> str:
    ((stored,),) = await database.execute("SELECT secret FROM people WHERE id = :sub", sub=sub)
    return str(stored)


async def test_an_old_hash_is_replaced_after_the_right_password_only(
    service: RunningService, database: Database, events: list[object]
) -> None:
    await set_hash(database, "1", BCRYPT)
    assert (await sign_in(service, "alice", "wrong")).refusal == WRONG
    assert await read_hash(database, "1") == BCRYPT
    assert (await sign_in(service, "alice", "password")).status == 200
    written = await read_hash(database, "1")
    assert written.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert PasswordHashReplaced(subject="1", scheme="bcrypt") in events
    assert (await sign_in(service, "alice", "password")).status == 200
    assert await read_hash(database, "1") == written
    assert (await sign_in(service, "alice", "wrong")).refusal == WRONG


async def test_a_hash_that_was_changed_meanwhile_is_not_replaced(
    service: RunningService, database: Database
) -> None:
    users = service.features.shared.users
    assert not await users.replace_password("1", old="another hash", new=BCRYPT)
    assert await read_hash(database, "1") != BCRYPT


async def test_an_unknown_name_costs_as_much_as_the_slowest_hash_from_the_first_request_on(
    service: RunningService, database: Database, hashed: list[str]
) -> None:
    for sub in ("1", "2", "3"):
        await set_hash(database, sub, BCRYPT)
    for username in ("mallory", "bob", "carol"):
        assert (await sign_in(service, username, "guess")).refusal == WRONG
    assert hashed == ["bcrypt"] * (1 + 3)  # the first one measures how long a refusal takes


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The schemes of all hashes that were computed; a cheap bcrypt counts as dear here."""
    schemes, matches = list[str](), vars(passwords)["matches"]

    def record(password: str, stored: PasswordHash) -> bool:
        schemes.append(stored.scheme)
        return bool(matches(password, stored))

    monkeypatch.setattr(passwords, "matches", record)
    monkeypatch.setitem(password_hash.MICROSECONDS, "bcrypt", 7000)
    return schemes


class TestReadOnly:
    """A database that must not be written."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["sql"]["writable"] = False
        return config

    async def test_an_old_hash_stays(self, service: RunningService, database: Database) -> None:
        await set_hash(database, "1", BCRYPT)
        assert (await sign_in(service, "alice", "password")).status == 200
        assert await read_hash(database, "1") == BCRYPT


class TestNumbers:
    """Identifiers that are numbers in the database, and texts in tokens."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["sql"]["columns"]["sub"] = "CAST(id AS DECIMAL(10))"
        config["users"]["sql"]["sub_type"] = "integer"
        return config

    async def test_number_is_found_and_other_texts_match_no_user(
        self, service: RunningService
    ) -> None:
        assert await service.is_active((await sign_in(service, "bob"))["access_token"])
        users = service.features.shared.users
        assert [await users.by_subject(sub) for sub in ("02", "2x", "٢", "9" * 30)] == [None] * 4


@pytest.fixture
async def postgres(servers: dict[type[DatabaseServer], DatabaseServer]) -> Database:
    """A PostgreSQL with people."""
    database = Database(servers[PostgresServer].url)
    await database.fill()
    return database


@pytest.mark.needs("postgres", "initdb")
class TestUuids:
    """Identifiers of a type that only some databases have."""

    @pytest.fixture
    async def database(self, postgres: Database) -> Database:
        await postgres.execute("DELETE FROM people WHERE login <> 'bob'")
        await postgres.execute("UPDATE people SET id = :sub", sub=BOBS_UUID)
        await postgres.execute("ALTER TABLE people ALTER id TYPE UUID USING id::UUID")
        return postgres

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["users"]["sql"]["sub_type"] = "uuid"
        return config

    async def test_a_uuid_is_found_as_it_is_written_in_tokens_and_not_otherwise(
        self, service: RunningService
    ) -> None:
        assert await service.is_active((await sign_in(service, "bob"))["access_token"])
        users = service.features.shared.users
        others = (BOBS_UUID.upper(), BOBS_UUID.replace("-", ""), "2")
        assert [await users.by_subject(sub) for sub in others] == [None] * 3


@pytest.mark.needs("postgres", "initdb")
class TestClaims:
    """Numbers of a type that only some databases have."""

    @pytest.fixture
    async def database(self, postgres: Database) -> Database:
        await postgres.execute("ALTER TABLE people ALTER height TYPE NUMERIC")
        await postgres.execute("UPDATE people SET height = 'Infinity' WHERE login = 'bob'")
        return postgres

    async def test_a_number_that_json_cannot_say_disables_its_user_alone(
        self, service: RunningService
    ) -> None:
        assert (await sign_in(service, "bob")).refusal == WRONG
        assert (await sign_in(service, "alice")).status == 200


@pytest.mark.needs("postgres", "initdb")
class TestRestart:
    """Connections that the database has closed."""

    @pytest.fixture
    def database(self, postgres: Database) -> Database:
        return postgres

    async def test_a_database_that_was_restarted_in_between_costs_no_request(
        self, service: RunningService, servers: dict[type[DatabaseServer], DatabaseServer]
    ) -> None:
        token = (await sign_in(service, "alice"))["access_token"]
        server = servers[PostgresServer]
        server.stop()
        server.start()
        assert await service.is_active(token)

    async def test_a_database_that_is_down_is_503_and_no_failed_login(
        self,
        service: RunningService,
        servers: dict[type[DatabaseServer], DatabaseServer],
        events: list[object],
    ) -> None:
        server = servers[PostgresServer]
        server.kill()
        try:
            assert (await sign_in(service, "alice")).refusal == (503, "temporarily_unavailable")
        finally:
            server.start()
        assert (await sign_in(service, "alice")).status == 200
        assert not any(isinstance(event, LoginFailed) for event in events)


@pytest.mark.needs("postgres", "initdb")
async def test_password_outside_the_url_is_taken_as_it_is(
    postgres: Database, start: Start, config: dict[str, Any]
) -> None:
    await postgres.execute("CREATE ROLE asks LOGIN PASSWORD 'p@ss/w%rd'")
    await postgres.execute("GRANT SELECT ON people TO asks")
    sql = config["users"]["sql"] | {
        "writable": False,
        "url": postgres.url.replace("tester", "asks"),
    }
    for password, status in (("p@ss/w%rd", 200), ("p%40ss/w%25rd", 503)):
        config["users"]["sql"] = sql | {"password": password}
        assert (await sign_in(await start(config), "bob")).status == status
    await postgres.execute("DROP OWNED BY asks")
    await postgres.execute("DROP ROLE asks")
