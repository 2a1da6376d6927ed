"""SIGHUP, or a change of a watched file, puts the whole registry in force, or nothing of it."""

from __future__ import annotations

import json
import signal
import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from service.keys.jose import Key
from tests.driving.certificate import certified
from tests.driving.mounted import Mounted
from tests.driving.program import Program, eventually, program_running
from tests.driving.redis_servers import RedisServer
from tests.driving.replicas import replicas_running
from tests.operations.conftest import (
    ANOTHER_CLIENT,
    CONFIG,
    MACHINE,
    Serve,
    token_from,
    wait_for_all,
)

ANOTHER = ("another", "another-secret-of-32-characters")
MORE_CLIENTS = f"clients:{ANOTHER_CLIENT}"
A_SECRET_FILE = CONFIG.replace(MACHINE[1], "'${file:secret}'")


def test_a_reload_makes_a_new_client_count(serve: Serve, config_file: Path) -> None:
    program = serve()
    url = program.url()
    assert token_from(url, ANOTHER).status_code == 401
    config_file.write_text(CONFIG + ANOTHER_CLIENT)
    program.send(signal.SIGHUP)
    assert program.event("registry_reloaded")["changes"] == ["+ clients[another]"]
    assert token_from(url, ANOTHER).status_code == 200


def test_a_file_with_errors_changes_nothing(serve: Serve, config_file: Path) -> None:
    program = serve()
    url = program.url()
    config_file.write_text(
        CONFIG.replace("client_id: machine", "client_id: renamed") + "\nsesion: 1\n"
    )
    program.send(signal.SIGHUP)
    assert "sesion" in str(program.event("registry_reload_refused")["problems"])
    assert token_from(url, MACHINE).status_code == 200


def test_change_that_needs_a_restart_is_reported(serve: Serve, config_file: Path) -> None:
    program = serve()
    program.url()
    config_file.write_text(CONFIG.replace("shutdown_grace: 2s", "shutdown_grace: 3s"))
    program.send(signal.SIGHUP)
    assert program.event("registry_reloaded")["need_restart"] == ["server.shutdown_grace"]


def test_a_watched_file_is_reloaded_by_itself(serve: Serve, config_file: Path) -> None:
    program = serve("--watch")
    url = program.url()
    config_file.write_text(CONFIG + ANOTHER_CLIENT)
    program.event("registry_reloaded")
    assert token_from(url, ANOTHER).status_code == 200


def test_a_flag_still_counts_after_a_reload(serve: Serve) -> None:
    program = serve("--host", "127.0.0.3")
    program.url()
    program.send(signal.SIGHUP)
    assert program.event("registry_reloaded")["need_restart"] == []


@pytest.fixture
def mounted(tmp_path: Path) -> Mounted:
    """A ConfigMap with the configuration, and a folder of clients that it includes."""
    (tmp_path / "clients").mkdir()
    config = f"include: [{tmp_path}/clients]\n{CONFIG}"
    return Mounted(tmp_path / "mounted", {"config.yaml": config})


@pytest.fixture
def watching(mounted: Mounted) -> Iterator[Program]:
    """A process that watches the mounted configuration."""
    with program_running(mounted / "config.yaml", ["--watch"], {}) as program:
        yield program


def test_an_updated_config_map_is_taken(mounted: Mounted, watching: Program) -> None:
    url = watching.url()
    mounted.update({"config.yaml": CONFIG + ANOTHER_CLIENT})
    assert watching.event("registry_reloaded")["changes"] == ["+ clients[another]"]
    assert token_from(url, ANOTHER).status_code == 200
    mounted.update({"config.yaml": CONFIG})
    assert watching.event("registry_reloaded")["changes"] == ["- clients[another]"]


def test_a_file_of_clients_comes_and_goes(watching: Program, tmp_path: Path) -> None:
    url = watching.url()
    (tmp_path / "clients" / "another.yaml").write_text(MORE_CLIENTS)
    watching.event("registry_reloaded")
    assert token_from(url, ANOTHER).status_code == 200
    (tmp_path / "clients" / "another.yaml").unlink()
    watching.event("registry_reloaded")
    assert token_from(url, ANOTHER).status_code == 401


def test_a_mounted_folder_of_clients_is_watched(serve: Serve, config_file: Path) -> None:
    folder = Mounted(config_file.parent / "clients", {"a.yaml": MORE_CLIENTS})
    config_file.write_text(f"include: [clients]\n{CONFIG}")
    program = serve("--watch")
    program.url()
    folder.update({"a.yaml": MORE_CLIENTS.replace("another", "third")})
    changes = program.event("registry_reloaded")["changes"]
    assert changes == ["- clients[another]", "+ clients[third]"]


def test_a_secret_file_alone_is_watched(serve: Serve, config_file: Path) -> None:
    secrets = Mounted(config_file.parent / "secrets", {"secret": MACHINE[1]})
    config_file.write_text(A_SECRET_FILE.replace("file:", "file:secrets/"))
    program = serve("--watch")
    url = program.url()
    assert token_from(url).status_code == 200
    secrets.update({"secret": "renewed-secret-of-32-characters"})
    program.event("registry_reloaded")
    assert token_from(url, ("machine", "renewed-secret-of-32-characters")).status_code == 200
    assert token_from(url).status_code == 401


def test_a_certificate_alone_is_watched(serve: Serve, config_file: Path) -> None:
    folder = Mounted(config_file.parent / "tls", {"tls.pem": _certificate(config_file.parent)})
    config_file.write_text(_with_tls("tls/tls.pem"))
    program = serve("--watch")
    address = urlsplit(program.url())
    renewed = _certificate(config_file.parent)
    folder.update({"tls.pem": renewed})
    program.event("registry_reloaded")
    shown = (address.hostname or "", address.port or 0)
    eventually(lambda: ssl.get_server_certificate(shown) in renewed)


def test_malformed_certificate_keeps_everything(serve: Serve, config_file: Path) -> None:
    certificate = certified(config_file.parent)
    good = certificate.read_text()
    config_file.write_text(_with_tls(certificate.name))
    program = serve("--watch")
    address = urlsplit(program.url())
    config_file.write_text(_with_tls(certificate.name) + ANOTHER_CLIENT)
    certificate.write_text("half of a certif")
    assert "server.tls" in str(program.event("registry_reload_refused")["problems"])
    shown = (address.hostname or "", address.port or 0)
    assert ssl.get_server_certificate(shown) in good
    certificate.write_text(good)
    assert program.event("registry_reloaded")["changes"] == ["+ clients[another]"]


def test_a_signing_key_file_alone_is_watched(serve: Serve, config_file: Path) -> None:
    keys = Mounted(config_file.parent / "keys", {"key.jwk": _signing_key("first")})
    signing = "signing: {algorithms: [ES256], source: files, keys: [{path: keys/key.jwk}]}"
    config_file.write_text(f"{CONFIG}{signing}\n")
    program = serve("--watch")
    url = program.url()
    keys.update({"key.jwk": "{"})
    assert "key.jwk" in str(program.event("registry_reload_refused")["problems"])
    keys.update({"key.jwk": _signing_key("second")})
    program.event("registry_reloaded")
    eventually(lambda: _kids(url) == {"first", "second"})


def test_half_written_file_is_refused_and_read_again_when_corrected(
    watching: Program, tmp_path: Path
) -> None:
    url = watching.url()
    more = tmp_path / "clients" / "another.yaml"
    more.write_text(MORE_CLIENTS[:-20])
    assert str(more) in str(watching.event("registry_reload_refused")["problems"])
    failures = "token_service_registry_reload_failures_total 1.0"
    assert failures in httpx2.get(f"{url}/metrics").text
    assert token_from(url).status_code == 200
    more.write_text(MORE_CLIENTS)
    watching.event("registry_reloaded")
    assert token_from(url, ANOTHER).status_code == 200


def test_a_file_that_was_missed_is_noticed_when_it_comes(serve: Serve, config_file: Path) -> None:
    program = serve("--watch")
    program.url()
    config_file.write_text(A_SECRET_FILE)
    program.event("registry_reload_refused")
    (config_file.parent / "secret").write_text(MACHINE[1])
    program.event("registry_reloaded")


def test_nothing_is_read_again_while_nothing_changes(mounted: Mounted, watching: Program) -> None:
    watching.url()
    for _ in range(2):
        mounted.update({"config.yaml": (mounted / "config.yaml").read_text()})
        assert watching.event("registry_reloaded")["changes"] == []
    assert not [line for line in watching.rest() if "registry_reload" in line]


@pytest.mark.needs("redis-server")
def test_every_worker_watches(serve: Serve, on_redis: RedisServer, config_file: Path) -> None:
    on_redis.start()
    program = serve("--workers", "2", "--watch")
    url = program.url()
    wait_for_all(url)
    changed = config_file.read_text().replace("clients:", f"clients:{ANOTHER_CLIENT}")
    config_file.write_text(changed)
    generations = {program.event("registry_reloaded")["generation"] for _ in range(2)}
    assert generations == {httpx2.get(f"{url}/health/ready").json()["registry"]}


def test_replicas_that_have_drifted_show_it(config_file: Path) -> None:
    with replicas_running(config_file, 1) as [older]:
        config_file.write_text(CONFIG + ANOTHER_CLIENT)
        with replicas_running(config_file, 1) as [newer]:
            assert len(_generations(older, newer)) == 2
            older.send(signal.SIGHUP)
            older.event("registry_reloaded")
            assert len(_generations(older, newer)) == 1


def _generations(*programs: Program) -> set[str]:
    """Return the registry generations of all workers, which readiness and metrics show alike."""
    generations: set[str] = set()
    for program in programs:
        url = _url_of(program)
        ready = httpx2.get(f"{url}/health/ready").json()
        shown = f'registry_info{{generation="{ready["registry"]}"}} 1.0'
        assert shown in httpx2.get(f"{url}/metrics").text
        generations.add(ready["registry"])
    return generations


def _url_of(program: Program) -> str:
    line = next(line for line in program.lines if "listening on" in line)
    return line.removeprefix("listening on ")


def _certificate(folder: Path) -> str:
    """A new one, with its key."""
    return certified(folder).read_text()


def _signing_key(kid: str) -> str:
    return json.dumps({**Key.generate("ES256").private_jwk, "kid": kid})


def _kids(url: str) -> set[str]:
    """The key ids of the keys that are published."""
    return {key["kid"] for key in httpx2.get(f"{url}/.well-known/jwks.json").json()["keys"]}


def _with_tls(file: str) -> str:
    tls = f"tls: {{certificate: {file}, private_key: {file}}}"
    return CONFIG.replace("server:", f"server:\n  {tls}")
