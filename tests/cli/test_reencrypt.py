"""`keys reencrypt` encrypts anew what a retired encryption key encrypts, and `check --store` finds it, next to running replicas."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from service.cli.program import program
from service.identity.factors.stored import StoredFactors
from service.keys.reencryption import Reencryption
from service.keys.sealing import Seal
from service.model.factors import Factors
from tests.conftest import ENCRYPTION_KEY, Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registering import RegisteredApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.factors.phone import ALICE, Phone

NEW_KEY = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"
NEW, OLD = b"\1" * 32, b"0123456789abcdef0123456789abcdef"
KINDS = ("signing keys", "second factors", "client secrets")


def configuration(*encryption_keys: str) -> dict[str, Any]:
    changed = fresh_configuration()
    changed["signing"]["encryption_key"] = [*encryption_keys]
    changed["registration"] = {
        "enabled": True,
        "allowed_scopes": ["openid"],
        "client_lifetime": "30d",
    }
    return changed


@pytest.fixture
def config() -> dict[str, Any]:
    return configuration(ENCRYPTION_KEY)


@pytest.fixture
async def registered(service: RunningService, browser: Browser) -> RegisteredApp:
    return await RegisteredApp.register(service, browser, id_token_signed_response_alg="HS256")


@pytest.fixture
async def next_release(start: Start, registered: RegisteredApp, phone: Phone) -> RunningService:
    """A replica that has a newer key in the first place, after people and clients came with the old one."""
    assert registered.client_id != phone.secret
    return await start(configuration(NEW_KEY, ENCRYPTION_KEY))


@pytest.fixture
async def phone(service: RunningService) -> Phone:
    phone = Phone()
    await phone.enrol(service)
    return phone


async def run(*arguments: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, program, [*arguments])


def file_of(service: RunningService) -> str:
    return str(service.features.shared.configuration.file)


async def reencrypt(service: RunningService) -> Result:
    return await run("keys", "reencrypt", "--config", file_of(service), "--format", "json")


async def check(service: RunningService, store_url: str) -> Result:
    return await run("check", file_of(service), "--store", store_url)


def rows(result: Result) -> dict[str, tuple[int, int, int]]:
    return {
        row["kind"]: (row["reencrypted"], row["current"], row["unreadable"])
        for row in json.loads(result.stdout)
    }


@pytest.mark.usefixtures("command")
async def test_the_retired_key_can_go_after_it(
    next_release: RunningService, start: Start, phone: Phone, registered: RegisteredApp
) -> None:
    done = await reencrypt(next_release)
    assert done.exit_code == 0, done.stderr
    # A replica encrypts the signing keys when it starts.
    assert rows(done) == dict(zip(KINDS, [(0, 1, 0), (1, 0, 0), (1, 0, 0)], strict=True))
    later = await start(configuration(NEW_KEY))
    browser = Browser(later.issuer)
    half = await ClientApp(later, browser).login()
    assert "code" in (await browser.submit(half, otp=phone.code())).parameters
    await browser.close()
    found = await later.features.clients.find(registered.client_id)
    assert found is not None
    assert found.client_secrets[0].value == registered.registered["client_secret"]
    assert rows(await reencrypt(later)) == dict.fromkeys(KINDS, (0, 1, 0))


@pytest.mark.usefixtures("command", "next_release")
async def test_without_it_people_with_a_factor_are_not_let_in_by_the_password(
    start: Start, store_url: str
) -> None:
    later = await start(configuration(NEW_KEY))
    browser = Browser(later.issuer)
    page = await ClientApp(later, browser).login()
    assert "code" not in page.parameters
    assert "sid" not in browser.cookies
    await browser.close()
    refused = await reencrypt(later)
    assert (refused.exit_code, rows_unreadable(refused)) == (
        1,
        {"second factors", "client secrets"},
    )
    found = await check(later, store_url)
    assert found.exit_code == 1
    assert "1 records of second factors in the store can be decrypted with none" in found.stdout


def rows_unreadable(result: Result) -> set[str]:
    return {kind for kind, counts in rows(result).items() if counts[2]}


@pytest.mark.usefixtures("command")
async def test_check_warns_where_it_was_not_run(
    next_release: RunningService, store_url: str
) -> None:
    before = await check(next_release, store_url)
    assert before.exit_code == 0
    assert "signing.encryption_key[1]: is retired" in before.stdout
    assert "still encrypts 1 records of second factors" in before.stdout
    assert rows(await reencrypt(next_release))["second factors"] == (1, 0, 0)
    assert "still encrypts" not in (await check(next_release, store_url)).stdout


def test_check_does_not_look_into_the_store_of_an_invalid_file(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("issuer: 1\n")
    result = CliRunner().invoke(program, ["check", str(file), "--store", "redis://127.0.0.1:1"])
    assert result.exit_code == 1
    file.write_text(f"issuer: http://localhost:8080\nsigning: {{encryption_key: {NEW_KEY}}}\n")
    result = CliRunner().invoke(program, ["check", str(file), "--store", "redis://127.0.0.1:1"])
    assert result.exit_code == 3


class TestOnBothStores:
    """The command re-encrypts while users change their factors at the same moment."""

    @pytest.fixture
    def reencryption(self, service: RunningService) -> Reencryption:
        shared = service.features.shared
        return Reencryption(stores=shared.stores, seal=Seal([NEW, OLD]), prefix=shared.prefix)

    async def test_change_of_a_person_in_between_is_kept(
        self,
        service: RunningService,
        reencryption: Reencryption,
        phone: Phone,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        enrolled, kv = service.features.shared.factors, service.features.shared.kv
        read, changed = kv.read, list[str]()

        async def read_then_change(*reads: Any) -> Any:
            values = await read(*reads)
            if not changed and reads[0].key.endswith(":fa"):
                changed.append(reads[0].key)
                await enrolled.change(ALICE, _without_codes)
            return values

        monkeypatch.setattr(kv, "read", read_then_change)
        tallies = {each.kind: each.retired for each in await reencryption.renew()}
        assert (tallies["second factors"], len(changed)) == (1, 1)
        monkeypatch.undo()
        found = await StoredFactors(service.features.shared.stores, Seal([NEW])).find_factors(ALICE)
        assert found.totp is not None
        assert (found.totp.secret, found.recovery_codes) == (phone.secret, ())

    async def test_record_keeps_its_expiry_and_what_the_next_release_wrote(
        self, service: RunningService, registered: RegisteredApp, reencryption: Reencryption
    ) -> None:
        stores = service.features.shared.stores
        key = stores.registered_clients.key(registered.client_id.removeprefix("dc_"))
        before = await stores.kv.get(key) or b""
        newer = b"v2 " + before[:-1] + b',"of_the_next_release":true}'
        await stores.kv.write(("SET", key, newer, "KEEPTTL"))
        assert [each.retired for each in await reencryption.renew()] == [1, 0, 1]
        after = await stores.kv.get(key) or b""
        assert after.startswith(b"v2 ")
        assert after.endswith(b',"of_the_next_release":true}')
        assert after != newer
        (ttl,) = await stores.kv.write(("TTL", key))
        assert 0 < ttl <= 30 * 86400

    async def test_many_people_are_encrypted_batch_by_batch(
        self, service: RunningService, reencryption: Reencryption, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("service.keys.reencryption.BATCH", 7)
        for number in range(20):
            await Phone().enrol(service, f"person {number}")
        counted = {each.kind: each.retired for each in await reencryption.count()}
        assert counted["second factors"] == 20
        renewed = {each.kind: each for each in await reencryption.renew()}
        assert renewed["second factors"].retired == 20
        again = {each.kind: each for each in await reencryption.renew()}
        assert (again["second factors"].retired, again["second factors"].current) == (0, 20)


def _without_codes(factors: Factors) -> Factors:
    return replace(factors, recovery_codes=())
