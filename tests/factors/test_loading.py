"""Second factors of another server are loaded from a file, and work here (RFC 6238 §5.2, WebAuthn Level 3 §7.2)."""

from __future__ import annotations

import json
import time
from base64 import b32decode, b32encode
from pathlib import Path
from typing import Any

import pytest
from fido2 import cbor
from fido2.utils import websafe_encode
from pyotp.totp import TOTP

from service.events.factors import FactorEnrolled, PasskeyRejected
from service.identity.factors.stored import PasskeyOwners
from service.takeover.factors import FactorLoading, Tally
from service.takeover.factors_file import FactorsFile, LoadedUser
from tests.driving.authenticator import ELIGIBLE, PRESENT, VERIFIED, Authenticator
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in
from tests.factors.keyring import enrol, use
from tests.factors.phone import ALICE, Phone

pytestmark = pytest.mark.rfc("6238#5.2", "webauthn#7.2")

BOB = "88421113"


def passkey_entry(mine: Authenticator, **members: Any) -> dict[str, Any]:
    """The passkey as another server knows it."""
    return {
        "credential_id": websafe_encode(mine.credential_id),
        "public_key": websafe_encode(cbor.encode(mine.key)),
        "user_handle": mine.user_handle,
        "sign_count": 0,
        "transports": ["internal"],
    } | members


def document(*users: dict[str, Any], **header: Any) -> dict[str, Any]:
    return {"version": 1, "rp_id": "localhost", **header, "users": [*users]}


class Loader:
    """Loads documents into a running service."""

    def __init__(self, service: RunningService, folder: Path) -> None:
        self.shared, self.file = service.features.shared, folder / "factors.json"

    def read(self, content: Any, **settings: Any) -> list[LoadedUser | str]:
        self.file.write_text(content if isinstance(content, str) else json.dumps(content))
        defaults: dict[str, Any] = {"rp_id": "localhost", "with_passkeys": True}
        return [*FactorsFile(path=self.file, **{**defaults, **settings}).read()]

    async def load(self, *users: dict[str, Any], replaces: bool = False) -> dict[str, int]:
        loading = FactorLoading(
            enrolled=self.shared.factors,
            owners=PasskeyOwners(self.shared.stores),
            replaces=replaces,
            emit=self.shared.emit,
        )
        total = Tally()
        for user in self.read(document(*users)):
            assert isinstance(user, LoadedUser), user
            total += await loading.load(user)
        return {f"{method} {outcome}": count for (method, outcome), count in total.items() if count}


@pytest.fixture
def loader(service: RunningService, tmp_path: Path) -> Loader:
    return Loader(service, tmp_path)


@pytest.fixture
def theirs(service: RunningService) -> Authenticator:
    """A passkey that Alice has used at the other server."""
    return Authenticator(origin=service.issuer, user_handle=websafe_encode(b"old id of alice"))


async def amr_of(app: ClientApp, page: Page) -> Any:
    return claims_in((await app.redeem(page.parameters["code"]))["id_token"])["amr"]


async def test_code_of_a_loaded_app_signs_in(app: ClientApp, loader: Loader) -> None:
    phone = Phone()
    assert await loader.load({"sub": ALICE, "totp": {"seed": phone.secret}}) == {"otp added": 1}
    half = await app.login()
    assert half.path == "/account/second-factor"
    refused = await app.browser.submit(half, 0, otp=phone.wrong_code())
    assert refused.path == "/account/second-factor"
    page = await app.browser.submit(refused, 0, otp=phone.code(steps_ahead=1))
    assert await amr_of(app, page) == ["pwd", "otp", "mfa"]


async def test_code_that_was_shown_before_the_load_does_not_count(
    app: ClientApp, loader: Loader
) -> None:
    phone = Phone()
    shown = phone.code()
    await loader.load({"sub": ALICE, "totp": {"seed": phone.secret}})
    page = await app.browser.submit(await app.login(), 0, otp=shown)
    assert page.path == "/account/second-factor"


async def test_loaded_passkey_signs_in_alone(
    app: ClientApp, loader: Loader, theirs: Authenticator
) -> None:
    loaded = await loader.load({"sub": ALICE, "passkeys": [passkey_entry(theirs)]})
    assert loaded == {"passkey added": 1}
    page = await use(app.browser, await app.authorize(), theirs)
    assert await amr_of(app, page) == ["hwk", "user", "mfa"]


@pytest.mark.parametrize(("flags", "key"), [(0, "hwk"), (ELIGIBLE, "swk")], ids=["bound", "synced"])
async def test_first_use_tells_whether_a_loaded_passkey_can_be_copied(
    app: ClientApp, loader: Loader, theirs: Authenticator, flags: int, key: str
) -> None:
    await loader.load({"sub": ALICE, "passkeys": [passkey_entry(theirs)]})
    theirs.flags = PRESENT | VERIFIED | flags
    assert await amr_of(app, await use(app.browser, await app.login(), theirs)) == [
        "pwd", key, "user", "mfa",
    ]  # fmt: skip
    theirs.flags = PRESENT | VERIFIED | (ELIGIBLE - flags)
    assert (await use(app.browser, await app.authorize(prompt="login"), theirs)).has("login-error")


async def test_passkey_that_the_other_server_has_bound_is_refused_once_it_can_be_copied(
    app: ClientApp, loader: Loader, theirs: Authenticator
) -> None:
    entry = passkey_entry(theirs, backup_eligible=False)
    await loader.load({"sub": ALICE, "passkeys": [entry]})
    theirs.flags = PRESENT | VERIFIED | ELIGIBLE
    assert (await use(app.browser, await app.authorize(), theirs)).has("login-error")


async def test_counter_of_the_other_server_counts(
    app: ClientApp, loader: Loader, theirs: Authenticator, events: list[object]
) -> None:
    await loader.load({"sub": ALICE, "passkeys": [passkey_entry(theirs, sign_count=41)]})
    theirs.count = 41
    assert (await use(app.browser, await app.authorize(), theirs)).has("login-error")
    assert [each.reason for each in events if isinstance(each, PasskeyRejected)] == ["counter"]
    theirs.count = 42
    assert "code" in (await use(app.browser, await app.authorize(), theirs)).parameters


async def test_loading_again_changes_nothing(
    app: ClientApp, loader: Loader, theirs: Authenticator, events: list[object]
) -> None:
    phone = Phone()
    entry = passkey_entry(theirs, sign_count=4)
    user = {"sub": ALICE, "totp": {"seed": phone.secret}, "passkeys": [entry]}
    assert await loader.load(user) == {"otp added": 1, "passkey added": 1}
    theirs.count = 5
    await use(app.browser, await app.authorize(), theirs)
    before = await loader.shared.factors.find(ALICE)
    assert await loader.load(user) == {"otp unchanged": 1, "passkey unchanged": 1}
    assert await loader.shared.factors.find(ALICE) == before
    added = [each.method for each in events if isinstance(each, FactorEnrolled)]
    assert added == ["otp", "passkey"]


async def test_factor_that_was_enrolled_here_is_kept_unless_it_shall_be_replaced(
    service: RunningService, loader: Loader
) -> None:
    here, there = Phone(), Phone()
    await here.enrol(service)
    user = {"sub": ALICE, "totp": {"seed": there.secret, "name": "Old phone"}}
    assert await loader.load(user) == {"otp kept": 1}
    kept = await loader.shared.factors.find(ALICE)
    assert kept.totp is not None
    assert kept.totp.secret == here.secret
    assert await loader.load(user, replaces=True) == {"otp replaced": 1}
    replaced = await loader.shared.factors.find(ALICE)
    assert replaced.totp is not None
    assert (replaced.totp.secret, replaced.totp.name) == (there.secret, "Old phone")
    assert replaced.recovery_codes == kept.recovery_codes


async def test_passkey_of_another_user_is_kept_there(
    service: RunningService, loader: Loader, app: ClientApp
) -> None:
    mine = await enrol(service)
    loaded = await loader.load({"sub": BOB, "passkeys": [passkey_entry(mine)]})
    assert loaded == {"passkey kept": 1}
    assert not (await loader.shared.factors.find(BOB)).is_enrolled
    page = await use(app.browser, await app.authorize(), mine)
    assert (await app.redeem(page.parameters["code"]))["id_token"]


async def test_seed_may_be_in_a_file_of_its_own(loader: Loader, tmp_path: Path) -> None:
    phone = Phone()
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "7").write_text(f"{phone.secret}\n")
    await loader.load({"sub": ALICE, "totp": {"seed": "${file:secrets/7}"}})
    found = await loader.shared.factors.find(ALICE)
    assert found.totp is not None
    assert found.totp.secret == phone.secret


@pytest.mark.parametrize("length", [16, 17, 20, 33, 128])
async def test_seed_of_any_usual_length_gives_the_codes_of_its_app(
    loader: Loader, length: int
) -> None:
    content = bytes(range(length))
    padded = b32encode(content).decode()
    (user,) = loader.read(document({"sub": ALICE, "totp": {"seed": padded.lower()}}))
    assert isinstance(user, LoadedUser)
    assert user.totp is not None
    secret = user.totp.secret
    assert b32decode(secret + "=" * (-len(secret) % 8)) == content
    now = int(time.time()) // 30
    assert TOTP(secret).generate_otp(now) == TOTP(padded).generate_otp(now)


SEED = "NONSENSENONSENSENONSENSENO"


@pytest.mark.parametrize(
    ("user", "place", "message"),
    [
        ({"totp": {"seed": SEED}}, "users[0]", "missing required field `sub`"),
        ({"sub": "", "totp": {"seed": SEED}}, "users[0].sub", "length >= 1"),
        ({"sub": "a\nb", "totp": {"seed": SEED}}, "users[0].sub", "cannot be printed"),
        ({"sub": "1", "totp": {}}, "users[0].totp", "missing required field `seed`"),
        ({"sub": "1", "totp": {"seed": 8}}, "users[0].totp.seed", "expected `str`"),
        ({"sub": "1", "totp": {"seed": f"{SEED}1"}}, "users[0].totp.seed", "is neither base32"),
        ({"sub": "1", "totp": {"seed": SEED[:25]}}, "users[0].totp.seed", "whole bytes"),
        ({"sub": "1", "totp": {"seed": SEED[:8]}}, "users[0].totp.seed", "from 16 to 128"),
        ({"sub": "1", "totp": {"seed": "${file:gone}"}}, "users[0].totp.seed", "no such file"),
        ({"sub": "1", "totp": {"seed": "${file:../x}"}}, "users[0].totp.seed", "below the folder"),
        ({"sub": "1", "totp": {"seed": "${file:/x}"}}, "users[0].totp.seed", "below the folder"),
        ({"sub": "1", "totp": {"seed": SEED, "digits": 8}}, "users[0].totp", "only 6 digits"),
        ({"sub": "1", "totp": {"seed": SEED, "period": 60}}, "users[0].totp", "only 6 digits"),
        ({"sub": "1", "totp": {"seed": SEED, "algorithm": "SHA256"}}, "users[0].totp", "SHA1"),
        ({"sub": "1", "totp": {"seed": SEED, "name": "a\x07"}}, "users[0].totp.name", "printed"),
        ({"sub": "1", "totp": {"seed": SEED, SEED: 1}}, "users[0].totp", "unknown member"),
        ({"sub": "1", "hotp": {"seed": SEED}}, "users[0]", "unknown member hotp"),
    ],
)  # fmt: skip
async def test_what_cannot_be_loaded_has_a_place_and_no_seed(
    loader: Loader, user: dict[str, Any], place: str, message: str
) -> None:
    (problem,) = loader.read(document(user))
    assert isinstance(problem, str)
    assert problem.startswith(f"{loader.file}: {place}: ")
    assert message in problem
    assert SEED[:8] not in problem


@pytest.mark.parametrize(
    ("members", "place", "message"),
    [
        ({"public_key": "AAAA"}, ".public_key", "no COSE key"),
        ({"public_key": websafe_encode(cbor.encode({1: 2, 3: -35}))}, ".public_key", "no COSE key"),
        ({"credential_id": "a+b/"}, ".credential_id", "no base64url"),
        ({"credential_id": "a"}, ".credential_id", "no base64url"),
        ({"user_handle": "A" * 90}, ".user_handle", "at most 64 bytes"),
        ({"sign_count": -1}, ".sign_count", ">= 0"),
        ({"sign_count": 2**32}, ".sign_count", "<= 4294967295"),
        ({"transports": ["Usb"]}, ".transports[0]", "matching regex"),
    ],
)
async def test_passkey_that_cannot_be_verified_is_refused(
    loader: Loader, theirs: Authenticator, members: dict[str, Any], place: str, message: str
) -> None:
    user = {"sub": "1", "passkeys": [passkey_entry(theirs) | members]}
    (problem,) = loader.read(document(user))
    assert isinstance(problem, str)
    assert place in problem
    assert message in problem


async def test_users_after_a_wrong_one_are_read_too(loader: Loader) -> None:
    good = {"sub": "1", "totp": {"seed": SEED}}
    found = loader.read(document(good, {"sub": ""}, good, {"sub": "2"}))
    assert [type(each) for each in found] == [LoadedUser, str, str, LoadedUser]
    assert "the user has an entry before" in str(found[2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is no JSON"),
        ("[]", "users: is missing"),
        ('{"version": 1}', "users: is missing"),
        ('{"version": 2, "users": []}', "version: this release reads version 1"),
        ('{"users": []}', "missing required field `version`"),
        ('{"version": 1, "users": [], "users": []}', "users: the key is there twice"),
        ('{"version": 1, "users": [{"sub": "1"}], "rp_id": "localhost"}', "is not the last member"),
        ('{"version": 1, "users": [{}', "is no JSON"),
        ('{"version": 1, "users": {"sub": []}}', "users.sub: expected `str`"),
        ('{"version": 1, "other": 2, "users": []}', "unknown member other"),
        ('{"version": 1, "rp_id": "old.example", "users": []}', "rp_id: browsers use these"),
    ],
)
async def test_document_of_another_form_is_refused(
    loader: Loader, content: str, message: str
) -> None:
    assert message in str(loader.read(content)[-1])


async def test_passkeys_need_the_domain_that_they_are_for(
    loader: Loader, theirs: Authenticator
) -> None:
    user = {"sub": "1", "totp": {"seed": SEED}, "passkeys": [passkey_entry(theirs)]}
    (problem,) = loader.read({"version": 1, "users": [user]})
    assert "does not say for which rp_id" in str(problem)
    foreign = document(user, rp_id="old.example")
    assert "here it is localhost" in str(loader.read(foreign)[0])
    assert "here it is none" in str(loader.read(foreign, rp_id=None)[0])
    (apps,) = loader.read(foreign, with_passkeys=False)
    assert isinstance(apps, LoadedUser)
    assert (apps.totp is not None, apps.passkeys) == (True, ())
