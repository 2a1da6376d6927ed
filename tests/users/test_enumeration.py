"""No answer discloses which accounts exist: not its text, its status, nor the hashes computed for it (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from service.identity import passwords
from service.model import password_hash
from service.model.password_hash import PasswordHash, parse_hash
from service.model.user import User
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.registry import fresh_configuration, password_of
from tests.driving.service import RunningService
from tests.identity.test_password_formats import KNOWN, ab64
from tests.users.database import SETTINGS, Database
from tests.users.switched import SwitchedUsers

pytestmark = pytest.mark.usefixtures("one_store")

DJANGO = "pbkdf2_sha256$20000$seasalt$r+55pyxmKjbZk4zzvs8GbpOTmHjIJNePoTng7oOmX04="
"""Counts as the slowest here, and is computed in some milliseconds."""
FORMATS = {
    name: KNOWN[name][1]
    for name in (
        *("argon2i", "bcrypt", "PBKDF2", "Keycloak, PBKDF2"),
        *("Keycloak, Argon2", "ASP.NET v2", "ASP.NET v3, SHA-512"),
    )
}
SCRYPT = f"$scrypt$ln=10,r=8,p=1${ab64(b'a-salt-of-16-byt')}${ab64(b'x' * 32)}"
"""As another system writes it, of a password that nobody knows, and computed in some milliseconds."""
FORMATS["scrypt"] = SCRYPT
HASHES = {name: [stored] * 3 for name, stored in FORMATS.items()}
MIXED = [FORMATS["bcrypt"], DJANGO, password_of("carol")]
HASHES |= {
    "Django": [DJANGO] * 3,
    "mixed formats": MIXED,
    "scrypt and cheaper ones": [FORMATS["PBKDF2"], SCRYPT, FORMATS["ASP.NET v2"]],
}
"""Those of alice, bob, and carol, who is disabled."""

ATTEMPTS = [
    *(("alice", "wrong"), ("bob", "wrong"), ("carol", "wrong"), ("mallory", "wrong")),
    *(("dave", "wrong"), ("carol", "carol-password"), ("mallory", "x" * 200), ("bob", "x" * 200)),
]
"""A name and a password; dave has an account without a password."""

Make = Callable[[Start, list[str], Path], Awaitable[RunningService]]


def people(hashes: list[str]) -> list[User]:
    """The three with a password, and dave."""
    names = ("alice", "bob", "carol", "dave")
    return [
        User(sub=str(at), username=name, password=stored, enabled=name != "carol")
        for at, (name, stored) in enumerate(zip(names, [*hashes, None], strict=True))
    ]


async def from_file(start: Start, hashes: list[str], _: Path) -> RunningService:
    listed = [
        {
            "sub": each.sub,
            "username": each.username,
            "password": each.password,
            "enabled": each.enabled,
        }
        for each in people(hashes)
    ]
    return await start(fresh_configuration() | {"users": {"list": listed}})


async def from_sql(start: Start, hashes: list[str], folder: Path) -> RunningService:
    database = Database(f"sqlite+aiosqlite:///{folder}/people.db")
    await database.fill()
    await database.add("4", "dave")
    for each in people(hashes):
        await database.execute(
            "UPDATE people SET secret = :secret WHERE LOWER(login) = :login",
            secret=each.password,
            login=each.username,
        )
    sql = {**SETTINGS, "url": database.url}
    return await start(
        fresh_configuration() | {"users": {"source": "sql", "sql": sql, "timeout": "30s"}}
    )


async def from_own_class(start: Start, hashes: list[str], _: Path) -> RunningService:
    source = f"{SwitchedUsers.__module__}:{SwitchedUsers.__name__}"
    service = await start(fresh_configuration() | {"users": {"source": source, "timeout": "30s"}})
    SwitchedUsers.made[-1].users = people(hashes)
    return service


class Recorder:
    """The work of one attempt after the other: the hashes that were computed, and whether it then waited for the rest."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.work: list[object] = []
        matches, sleep = vars(passwords)["matches"], asyncio.sleep

        def record_hash(password: str, stored: PasswordHash) -> bool:
            self.work.append(stored.shape)
            return bool(matches(password, stored))

        async def record_wait(_: float) -> None:
            self.work.append("the time of a refusal at the full cost")
            await sleep(0)

        monkeypatch.setattr(passwords, "matches", record_hash)
        monkeypatch.setattr("service.identity.passwords.asyncio.sleep", record_wait)

    def take(self) -> list[object]:
        """The effects of the last attempt."""
        work, self.work = self.work, []
        return work


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    monkeypatch.setitem(password_hash.MICROSECONDS, "sha256", 10)
    return Recorder(monkeypatch)


@pytest.mark.parametrize(
    ("make", "hashes"),
    [
        *(pytest.param(from_file, HASHES[name], id=f"from_file-{name}") for name in HASHES),
        *(
            pytest.param(make, MIXED, id=f"{make.__name__}-mixed")
            for make in (from_sql, from_own_class)
        ),
    ],
)
async def test_every_refusal_is_the_same_and_as_slow_as_the_slowest_hash(
    start: Start, recorder: Recorder, make: Make, hashes: list[str], tmp_path: Path
) -> None:
    service = await make(start, hashes, tmp_path)
    decoy, seen = "the time of a refusal at the full cost", set[tuple[int, bytes]]()
    for username, password in ATTEMPTS:
        form = {"grant_type": "password", "scope": "api1", "username": username}
        answer = await service.token("frontend", **form, password=password)
        seen.add((answer.status, answer.body))
        work = recorder.take()
        slowest = service.features.local_sign_in.passwords.decoy.shape
        assert work[-1] in {slowest, decoy}, (username, work)
    assert len(seen) == 1
    assert max(parse_hash(each).work for each in hashes) <= (
        service.features.local_sign_in.passwords.decoy.work
    )


@pytest.mark.parametrize(
    "make", [from_file, from_sql, from_own_class], ids=lambda make: make.__name__
)
async def test_every_failed_login_page_reads_alike(
    start: Start, make: Make, tmp_path: Path
) -> None:
    service = await make(start, MIXED, tmp_path)
    seen = set[tuple[int, str]]()
    for username, password in ATTEMPTS:
        browser = Browser(service.issuer)
        login = await browser.get(f"{service.issuer}/account")
        page = await browser.log_in(login, username, password=password)
        text = page.text.replace(username, "NAME").replace(page.headers["X-Request-ID"], "")
        for value in {value for form in page.forms for _, value in form.fields if value}:
            text = text.replace(value, "")
        seen.add((page.status, re.sub(r'(nonce=|"challenge": ?)"[^"]*"', "", text)))
        await browser.close()
    assert len(seen) == 1
