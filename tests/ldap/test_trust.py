"""Passwords go to the right directory only, and nobody reads them on the way (RFC 4513 §3.1.3)."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from structlog.testing import capture_logs

from tests.conftest import Start
from tests.driving.authority import root
from tests.driving.slapd import Slapd
from tests.ldap.people import EVERYBODY
from tests.ldap.test_away import AWAY
from tests.ldap.test_sign_in import sign_in

pytestmark = [
    pytest.mark.rfc("4513#3.1.3"),
    pytest.mark.usefixtures("one_store", "always_probing"),
]


async def refusal(start: Start, config: dict[str, Any], **ldap: object) -> tuple[int, str | None]:
    config["users"]["ldap"] |= ldap
    return (await sign_in(await start(config), "alice")).refusal


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
async def test_certificate_of_another_authority_is_refused(
    start: Start, config: dict[str, Any], directory: Slapd, tmp_path: Path, scheme: str
) -> None:
    stranger = root().write(tmp_path / "stranger.pem")
    url = {"ldap": directory.url, "ldaps": directory.tls_url}[scheme]
    assert await refusal(start, config, urls=[url], ca_file=str(stranger)) == AWAY


async def test_system_s_authorities_alone_are_trusted_without_a_file(
    start: Start, config: dict[str, Any]
) -> None:
    assert await refusal(start, config, ca_file=None) == AWAY


@pytest.mark.usefixtures("strict_python")
async def test_certificate_without_every_extension_is_trusted_if_its_authority_is(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    authority, ca_file = root(), tmp_path / "ca.pem"
    ca_file.write_text(authority.pem)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    shown = authority.issue("CN=directory", extensions=[names], names_keys=False)
    file = shown.write(tmp_path / "directory.pem")
    with Slapd(tmp_path / "private", EVERYBODY, shown=file) as private:
        config["users"]["ldap"] = private.settings | {"ca_file": str(ca_file)}
        assert (await sign_in(await start(config), "alice")).status == 200


async def test_certificate_of_another_host_is_refused(
    start: Start, config: dict[str, Any], directory: Slapd
) -> None:
    assert await refusal(start, config, urls=[directory.other_url]) == AWAY


async def test_certificate_with_a_common_name_only_is_refused_with_the_reason_in_the_log(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    authority, ca_file = root(), tmp_path / "ca.pem"
    ca_file.write_text(authority.pem)
    file = authority.issue("CN=127.0.0.1", extensions=[]).write(tmp_path / "directory.pem")
    with Slapd(tmp_path / "private", EVERYBODY, shown=file) as private, capture_logs() as logged:
        config["users"]["ldap"] = private.settings | {"ca_file": str(ca_file)}
        assert (await sign_in(await start(config), "alice")).refusal == AWAY
    assert "subjectAltName" in str(logged)
    assert "127.0.0.1" in str(logged)


async def test_environment_cannot_switch_verification_off(
    start: Start, config: dict[str, Any], directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LDAPTLS_REQCERT", "never")
    assert await refusal(start, config, urls=[directory.other_url]) == AWAY


@pytest.mark.rfc("4511#4.14")
async def test_directory_without_start_tls_gets_no_password(
    start: Start, config: dict[str, Any], tmp_path: Path
) -> None:
    with Slapd(tmp_path / "plain", EVERYBODY, tls=False) as plain:
        assert await refusal(start, config, urls=[plain.url]) == AWAY
        assert (await sign_in(await start(config), "alice")).refusal == AWAY
        # It is the encryption that is missing: without it the directory would do.
        config["users"]["ldap"]["starttls"] = False
        assert (await sign_in(await start(config), "alice")).status == 200


async def test_next_server_is_asked_where_one_is_unavailable(
    start: Start, config: dict[str, Any], directory: Slapd
) -> None:
    urls = ["ldaps://127.0.0.1:1", directory.tls_url]
    config["users"]["ldap"]["urls"] = urls
    assert (await sign_in(await start(config), "alice")).status == 200


async def test_wrong_password_of_the_service_is_an_absence_and_is_logged_without_it(
    start: Start, config: dict[str, Any]
) -> None:
    config["users"]["ldap"]["bind_password"] = "not the reader's"
    service = await start(config)
    with capture_logs() as logged:
        for _ in range(3):
            assert (await sign_in(service, "alice")).refusal == AWAY
    assert "refuses bind_dn or bind_password" in str(logged)
    assert "not the reader's" not in str(logged)
