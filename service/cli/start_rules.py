"""What a start would stumble over in the files that config.yaml names."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding
from service.config.rules.rule import FileRule
from service.config.schema.file import ConfigurationFile
from service.keys.key_files import KeyFileError, read_key_files
from service.web.tls import ServerTls


def key_files_hold_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own signing keys can be read and fit their algorithms."""
    for at, key in enumerate(file.signing.keys):
        try:
            if key.path.is_file():
                read_key_files([key], file.signing.algorithms)
        except KeyFileError as error:
            yield Finding(("signing", "keys", at, "path"), error.reason)


def certificate_fits_its_key(file: ConfigurationFile) -> Iterator[Finding]:
    """The service's own certificate and private key are a pair."""
    tls = file.server.tls
    if tls is None or not (tls.certificate.is_file() and tls.private_key.is_file()):
        return
    try:
        ServerTls(tls)
    except OSError as error:
        message = f"certificate, private_key and client_ca do not work together: {error.strerror}"
        yield Finding(("server", "tls"), message)


START_RULES: tuple[FileRule, ...] = (key_files_hold_keys, certificate_fits_its_key)
