"""SIGHUP, or a change of a watched file, puts the whole registry in force, or nothing of it."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.operations.conftest import ANOTHER_CLIENT, CONFIG, MACHINE, Serve, token_from

ANOTHER = ("another", "another-secret-of-32-characters")


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


def test_what_needs_a_restart_is_said(serve: Serve, config_file: Path) -> None:
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
