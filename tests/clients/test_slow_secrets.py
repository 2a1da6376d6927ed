"""Client secrets of which another server has kept slow hashes, or SHA-512 (RFC 6749 §2.3.1, OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Callable
from hashlib import pbkdf2_hmac, sha512
from typing import Any

import bcrypt
import pytest
import yaml
from argon2 import PasswordHasher

from service.identity import hashing, slow_secrets
from service.model.password_hash import PasswordHash
from service.start.load import inspect
from tests.conftest import Start
from tests.driving.registry import client_in, hashed, secret_of
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("6749#2.3.1")


def unpadded(content: bytes) -> str:
    return base64.b64encode(content).decode().rstrip("=")


def of_hydra(name: str, iterations: int = 1000) -> str:
    """The hash of `<name>-secret` as Hydra writes it."""
    digest = pbkdf2_hmac("sha256", secret_of(name).encode(), b"salt-of-16-bytes", iterations, 32)
    return f"$pbkdf2-sha256$i={iterations},l=32${unpadded(b'salt-of-16-bytes')}${unpadded(digest)}"


def of_bcrypt(name: str) -> str:
    return bcrypt.hashpw(secret_of(name).encode(), bcrypt.gensalt(4)).decode()


def of_argon2(name: str) -> str:
    return PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(secret_of(name))


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Machine has two slow secrets, robot and the API one each; web has a fast one as ever."""
    client_in(config, "machine")["client_secrets"] = [
        {"hash": of_hydra("machine")},
        {"hash": of_hydra("next")},
    ]
    client_in(config, "robot")["client_secrets"] = [{"hash": of_hydra("robot")}]
    config["api_resources"][0]["secrets"] = [{"hash": of_hydra("api1")}]
    return config


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The secrets for which a slow hash was computed."""
    given: list[str] = []

    def matches(secret: str, stored: PasswordHash) -> bool:
        given.append(secret)
        return hashing.matches(secret, stored)

    monkeypatch.setattr(slow_secrets, "matches", matches)
    return given


async def token(service: RunningService, name: str, secret: str | None = None) -> Answer:
    """A token of a client for itself."""
    auth = (name, secret or secret_of(name))
    return await service.token(auth, grant_type="client_credentials", scope="api1")


async def test_an_api_resource_comes_before_a_scope_of_its_name_whose_secret_is_fast(
    start: Start, config: dict[str, Any]
) -> None:
    """Both have the same secret; the scope would learn nothing of a token for the resource's other scope."""
    config["api_scopes"] = [
        {"name": "api1", "secrets": [{"sha256": hashed("api1")}]},
        *({"name": name} for name in ("api1.read", "other")),
    ]
    resource = {
        "name": "api1",
        "scopes": ["api1", "other"],
        "secrets": [{"hash": of_hydra("api1")}],
    }
    config["api_resources"][0] = resource
    client_in(config, "machine")["client_secrets"] = [{"sha256": hashed("machine")}]
    client_in(config, "machine")["allowed_scopes"].append("other")
    service = await start(config)
    answer = await service.token("machine", grant_type="client_credentials", scope="other")
    told = await service.introspect(answer["access_token"], caller="api1")
    assert (told["active"], told["scope"]) == (True, "other")


async def test_a_client_authenticates_by_either_of_its_slow_secrets(
    service: RunningService,
) -> None:
    for secret in ("machine-secret", "next-secret"):
        assert (await token(service, "machine", secret)).status == 200
        form = {"client_id": "machine", "client_secret": secret, "scope": "api1"}
        answer = await service.token(None, grant_type="client_credentials", **form)
        assert answer.status == 200


@pytest.mark.parametrize("make", [of_bcrypt, of_argon2], ids=["bcrypt", "Argon2id"])
async def test_slow_secrets_have_the_formats_of_passwords(
    start: Start, config: dict[str, Any], make: Callable[[str], str]
) -> None:
    client_in(config, "machine")["client_secrets"] = [{"hash": make("machine")}]
    service = await start(config)
    assert (await token(service, "machine")).status == 200
    assert (await token(service, "machine", "wrong")).refusal == (401, "invalid_client")


@pytest.mark.parametrize("as_text", [bytes.hex, lambda digest: base64.b64encode(digest).decode()])
async def test_a_secret_is_given_by_its_sha_512(
    start: Start, config: dict[str, Any], as_text: Callable[[bytes], str]
) -> None:
    digest = sha512(b"machine-secret").digest()
    fast = {"sha256": hashed("next")}
    client_in(config, "machine")["client_secrets"] = [{"sha512": as_text(digest)}, fast]
    service = await start(config)
    for secret in ("machine-secret", "next-secret"):
        assert (await token(service, "machine", secret)).status == 200
    assert (await token(service, "machine", "wrong")).refusal == (401, "invalid_client")


async def test_an_api_introspects_by_its_slow_secret(service: RunningService) -> None:
    issued = (await token(service, "machine"))["access_token"]
    assert await service.is_active(issued)
    wrong = await service.post("/connect/introspect", auth=("api1", "wrong"), token=issued)
    assert wrong.refusal == (401, "invalid_client")


async def test_the_client_of_an_apis_name_has_a_secret_of_its_own(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    form = {"grant_type": "delegation", "token": source, "scope": "api2"}
    assert (await service.token("api1", **form)).status == 200
    assert (await service.post("/connect/introspect", auth="api1", token=source))["active"]


@pytest.mark.parametrize("secret", ["wrong", "", "ä" * 100, "x" * 256])
async def test_a_wrong_secret_is_refused(service: RunningService, secret: str) -> None:
    answer = await service.token(("machine", secret), grant_type="client_credentials")
    assert answer.refusal == (401, "invalid_client")


async def test_a_right_secret_is_hashed_once(service: RunningService, computed: list[str]) -> None:
    form = {"client_id": "robot", "client_secret": "robot-secret", "scope": "api1"}
    for _ in range(3):
        assert (await service.token(None, grant_type="client_credentials", **form)).status == 200
        assert (await token(service, "robot")).status == 200
    assert len(computed) == 2 + 1  # to know how long a refusal takes, and its own


@pytest.mark.parametrize("name", ["machine", "robot", "web", "nobody", "api1"])
@pytest.mark.parametrize("path", ["token", "introspect", "revocation"])
async def test_a_wrong_secret_costs_the_same_for_every_client_id(
    service: RunningService, computed: list[str], name: str, path: str
) -> None:
    await token(service, "nobody", "first")
    computed.clear()
    form: dict[str, Any] = {"token": "x"}
    if path == "token":
        form = {"grant_type": "client_credentials"}
    answer = await service.post(f"/connect/{path}", auth=(name, "wrong"), **form)
    assert answer.refusal == (401, "invalid_client")
    assert computed == ["wrong"] * 2


async def test_no_slow_hash_is_computed_for_who_has_a_fast_one_or_none(
    service: RunningService, computed: list[str]
) -> None:
    assert (await service.user_token()).status == 200
    form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "spa"}
    assert (await service.token(None, **form)).refusal == (400, "invalid_grant")
    unknown = await service.token(None, **form | {"client_id": "nobody"})
    assert unknown.refusal == (401, "invalid_client")
    assert computed == []


async def test_a_quicker_hash_than_the_slowest_is_refused_no_sooner(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client_in(config, "machine")["client_secrets"] = [{"hash": of_hydra("machine", 50_000)}]
    service = await start(config)

    def matches(_: str, stored: PasswordHash) -> bool:
        time.sleep(stored.cost[0] / 100_000)
        return False

    monkeypatch.setattr(slow_secrets, "matches", matches)
    for name in ("robot", "machine", "nobody", "robot"):
        began = time.monotonic()
        assert (await token(service, name)).refusal == (401, "invalid_client")
        assert time.monotonic() - began >= 0.49


async def test_an_expired_slow_secret_is_refused(
    start: Start, config: dict[str, Any], computed: list[str]
) -> None:
    expired = {"hash": of_hydra("robot"), "expires_at": "2026-01-01T00:00:00Z"}
    client_in(config, "robot")["client_secrets"] = [expired, {"sha256": hashed("next")}]
    service = await start(config)
    assert (await token(service, "robot")).refusal == (401, "invalid_client")
    assert (await token(service, "robot", "next-secret")).status == 200
    assert len(computed) == 4


async def test_a_network_with_too_many_wrong_secrets_is_refused_at_once(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await token(service, "robot")).status == 200
    monkeypatch.setattr("service.identity.passwords.PER_NETWORK", 0)
    assert (await token(service, "robot", "wrong")).refusal == (429, "temporarily_unavailable")
    assert (await token(service, "nobody", "wrong")).refusal == (429, "temporarily_unavailable")
    assert (await token(service, "robot")).status == 200


async def test_a_reload_brings_and_removes_slow_secrets(
    start: Start, config: dict[str, Any], computed: list[str]
) -> None:
    slow = config["clients"], config["api_resources"]
    config["clients"] = [each for each in slow[0] if each["client_id"] not in {"machine", "robot"}]
    config["api_resources"] = [slow[1][0] | {"secrets": [{"sha256": hashed("api1")}]}, *slow[1][1:]]
    service = await start(config)
    assert (await token(service, "machine")).refusal == (401, "invalid_client")
    assert computed == []
    config["clients"] = slow[0]
    service.reload(config)
    assert (await token(service, "machine")).status == 200
    client_in(config, "machine")["client_secrets"] = [{"sha256": hashed("new")}]
    service.reload(config)
    assert (await token(service, "machine")).refusal == (401, "invalid_client")


SHA512 = sha512(b"secret").hexdigest()
FINDINGS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "a hash without an end": (
        {"hash": of_hydra("web")},
        "warning",
        "hash",
        "nothing says until when",
    ),
    "a hash with an end": (
        {"hash": of_hydra("web"), "expires_at": "2099-03-01T00:00:00Z"},
        "warning",
        "hash",
        "needs a secret with sha256 until 2099-03-01",
    ),
    "a hash that takes too long": (
        {"hash": of_hydra("web").replace("i=1000,", "i=99999999,")},
        "error",
        "hash",
        "takes more than a few seconds",
    ),
    "no hash": ({"hash": "$1$salt$qJH7"}, "error", "hash", "is no hash in a known format"),
    "two forms": (
        {"hash": of_hydra("web"), "sha512": SHA512, "expires_at": "2099-03-01T00:00:00Z"},
        "error",
        "",
        "expected one of sha256, sha512, hash, value",
    ),
    "no form": ({"description": "x"}, "error", "", "expected one of sha256, sha512, hash, value"),
    "half of a SHA-512": ({"sha512": SHA512[:64]}, "error", "sha512", "the SHA-512 hash of a secr"),
}


@pytest.mark.parametrize(("secret", "severity", "key", "message"), FINDINGS.values(), ids=FINDINGS)
def test_check_says_what_is_wrong_with_a_secret_and_until_when_to_replace_it(
    tmp_path: Any, secret: dict[str, Any], severity: str, key: str, message: str
) -> None:
    client = {"client_id": "web", "redirect_uris": ["https://w/cb"], "client_secrets": [secret]}
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump({"issuer": "https://id.example", "clients": [client]}))
    found = {f"{each.severity} {each.path}": each.message for each in inspect(file, {})}
    path = f"clients[web].client_secrets[0]{key and f'.{key}'}"
    assert message in found[f"{severity} {path}"]
    assert "pbkdf2" not in str(found)


async def test_a_reload_while_a_secret_is_hashed_changes_no_answer(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client_in(config, "robot")["client_secrets"] = [{"hash": of_hydra("robot", 2000)}]
    service = await start(config)
    begun, may_end = [threading.Event(), threading.Event()], [threading.Event(), threading.Event()]

    def matches(secret: str, stored: PasswordHash) -> bool:
        if secret in {"wrong0", "wrong1"}:
            begun[int(secret[-1])].set()
            may_end[int(secret[-1])].wait(20)
        return hashing.matches(secret, stored)

    assert (await token(service, "machine", "wrong")).status == 401
    monkeypatch.setattr(slow_secrets, "matches", matches)
    first = asyncio.create_task(token(service, "machine", "wrong0"))
    await asyncio.to_thread(begun[0].wait, 20)
    assert service.features.shared.registry.reload()
    second = asyncio.create_task(token(service, "machine", "wrong1"))
    await asyncio.to_thread(begun[1].wait, 2)  # one core has no turn for it yet
    may_end[0].set()
    assert (await first).refusal == (401, "invalid_client")
    may_end[1].set()
    assert (await second).refusal == (401, "invalid_client")
