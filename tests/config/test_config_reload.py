"""A reload puts another registry in force whole, or leaves the present one."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.config.configuration import Configuration
from service.config.problem import CannotServe, Finding
from service.config.reload import ReloadableRegistry
from service.events.operations import RegistryReloaded, RegistryReloadRefused
from service.start.load import load

API = "api_resources: [{name: api}]\n"


@pytest.fixture
def events() -> Any:
    return []


@pytest.fixture
def again(file: Path) -> Callable[[], Configuration]:
    """Read the file as it is now."""
    return lambda: load(file, {})


@pytest.fixture
def registry(read: Callable[..., Any], again: Callable[[], Any], events: Any) -> Any:
    return ReloadableRegistry(read(API), read=again, emit=events.append)


def rewrite(file: Path, text: str) -> None:
    file.write_text(f"issuer: https://auth.example.com\n{text}")


def test_a_reload_puts_the_new_registry_in_force(registry: Any, file: Path, events: Any) -> None:
    rewrite(file, "api_resources: [{name: other}]")
    assert registry.reload()
    assert list(registry.current.api_resources) == ["other"]
    assert isinstance(events[-1], RegistryReloaded)
    assert "+ api_resources[other]" in events[-1].changes


def test_a_reload_with_a_problem_changes_nothing(registry: Any, file: Path, events: Any) -> None:
    rewrite(file, "api_resources: [{name: other}, {name: other}]")
    assert not registry.reload()
    assert list(registry.current.api_resources) == ["api"]
    assert isinstance(events[-1], RegistryReloadRefused)


def test_a_file_that_has_gone_changes_nothing(registry: Any, file: Path) -> None:
    file.unlink()
    assert not registry.reload()
    assert list(registry.current.api_resources) == ["api"]


def test_what_cannot_be_made_of_it_changes_nothing(
    again: Callable[[], Any], read: Callable[..., Any], file: Path, events: Any
) -> None:
    def prepare(_: Any) -> None:
        raise CannotServe(Finding(("users", "source"), "it cannot be made", "mend it"))

    registry = ReloadableRegistry(read(API), read=again, emit=events.append)
    registry.prepare = prepare
    rewrite(file, "")
    assert not registry.reload()
    assert list(registry.current.api_resources) == ["api"]
    assert events == [
        RegistryReloadRefused(
            problems=(f"{file}:1:1: error: users.source: it cannot be made (mend it)",)
        )
    ]


def test_a_change_elsewhere_is_reported(registry: Any, file: Path, events: Any) -> None:
    rewrite(file, API + "server: {port: 9090}\npairwise_salt: a-salt-of-enough-letters")
    assert registry.reload()
    assert events[-1].need_restart == ("server.port", "pairwise_salt")
    assert events[-1].changes == ()


def test_a_secret_file_is_read_again(
    again: Callable[[], Any], read: Callable[..., Any], file: Path
) -> None:
    secret = file.parent / "hash"
    secret.write_text("0" * 64)
    text = "api_resources: [{name: api, secrets: [{sha256: '${file:hash}'}]}]"
    registry = ReloadableRegistry(read(text), read=again, emit=lambda _: None)
    secret.write_text("1" * 64)
    registry.reload()
    assert registry.current.api_resources["api"].secrets[0].sha256 == bytes.fromhex("1" * 64)


def test_a_client_that_stays_as_it_is_stays_the_same_object(
    again: Callable[[], Any], read: Callable[..., Any], file: Path
) -> None:
    text = "clients: [{client_id: one, require_client_secret: false}]"
    registry = ReloadableRegistry(read(text), read=again, emit=lambda _: None)
    before = registry.current.clients["one"]
    rewrite(file, text.replace("}]", "}, {client_id: two, require_client_secret: false}]"))
    registry.reload()
    assert registry.current.clients["one"] is before
    rewrite(file, text.replace("}]", ", client_name: First}]"))
    registry.reload()
    assert registry.current.clients["one"].client_name == "First"


@pytest.mark.parametrize("text", [API, "clients: 7"], ids=["taken", "refused"])
def test_a_reload_leaves_switching_and_collecting_as_they_were(
    registry: Any, file: Path, text: str
) -> None:
    rewrite(file, text)
    before = sys.getswitchinterval(), gc.isenabled()
    registry.reload()
    assert (sys.getswitchinterval(), gc.isenabled()) == before
