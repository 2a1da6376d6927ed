"""Checks the certificates and keys for TLS that config.yaml names."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from service.config.named_files import find_file_problem
from service.config.problem import Finding, Location, encrypted_key
from service.config.schema.file import ConfigurationFile
from service.config.schema.server import Tls
from service.model.admin import AdminTls
from service.tls import KeyIsEncrypted, show_certificate


def certificate_fits_its_key(file: ConfigurationFile) -> Iterator[Finding]:
    """The service's own certificates and private keys are pairs."""
    if file.server.tls is not None:
        yield from _judge_pair(("server", "tls"), file.server.tls, file.server.tls.client_ca)
    if file.admin is not None and file.admin.tls is not None:
        yield from _judge_pair(("admin", "tls"), file.admin.tls, None)


def _judge_pair(place: Location, tls: Tls | AdminTls, client_ca: Path | None) -> Iterator[Finding]:
    if any(find_file_problem(each) for each in (tls.certificate, tls.private_key)):
        return
    unfit = [
        Finding((*place, name), reason)
        for name, path in (("certificate", tls.certificate), ("client_ca", client_ca))
        if path is not None and (reason := _find_certificate_problem(path)) is not None
    ]
    if unfit:
        yield from unfit
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        show_certificate(context, tls.certificate, tls.private_key)
    except KeyIsEncrypted:
        yield encrypted_key((*place, "private_key"))
    except OSError as error:
        message = f"is no private key, PEM, of the certificate: {error.strerror}"
        yield Finding((*place, "private_key"), message)


def further_authorities_can_be_trusted(file: ConfigurationFile) -> Iterator[Finding]:
    """Otherwise requests of the service itself would fail one by one, long after the start."""
    authorities = file.outgoing.ca_file
    if authorities is not None and (reason := _find_certificate_problem(authorities)) is not None:
        yield Finding(("outgoing", "ca_file"), reason)


def client_authorities_can_be_trusted(file: ConfigurationFile) -> Iterator[Finding]:
    """Otherwise no client could authenticate by its certificate."""
    authorities = file.mtls.client_ca
    if authorities is not None and (reason := _find_certificate_problem(authorities)) is not None:
        yield Finding(("mtls", "client_ca"), reason)


def store_certificates_can_be_used(file: ConfigurationFile) -> Iterator[Finding]:
    """The files of the ssl_ options of store.url can be used; otherwise no connection to Redis could be opened."""
    location, files = ("store", "url"), dict(parse_qsl(urlsplit(file.store.url).query))
    names = [each for each in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile") if each in files]
    problems = [(each, find_file_problem(Path(files[each]))) for each in names]
    unreadable = [(name, problem) for name, problem in problems if problem is not None]
    for name, problem in unreadable:
        yield Finding(location, f"{name}: {problem}")
    if unreadable:
        return
    authorities = files.get("ssl_ca_certs")
    if authorities is not None and (reason := _find_certificate_problem(Path(authorities))):
        yield Finding(location, f"ssl_ca_certs: {reason}")
    if "ssl_certfile" in files:
        yield from _judge_store_certificate(files["ssl_certfile"], files.get("ssl_keyfile"))


def _judge_store_certificate(certificate: str, private_key: str | None) -> Iterator[Finding]:
    try:
        show_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, private_key)
    except KeyIsEncrypted:
        yield encrypted_key(("store", "url"))
    except OSError as error:
        message = f"ssl_certfile: {certificate} is no certificate, PEM, with its private key"
        yield Finding(("store", "url"), f"{message}: {error.strerror}")


def _find_certificate_problem(file: Path) -> str | None:
    """Return why the certificates in a file cannot be loaded; None if they can, or if the file cannot be read."""
    if find_file_problem(file) is not None:
        return None  # `named_files_can_be_read` says so
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError:
        return f"{file}: holds no certificates, PEM, or broken ones"
    except OSError as error:
        return f"{file}: {error.strerror or 'cannot be read'}"
    return None
