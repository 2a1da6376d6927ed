"""Checks the files that config.yaml names, for `check`, start and reload alike.

What a rule needs of the service is imported where a file has something for the rule to look at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from service.config.judge import FileRule
from service.config.problem import Finding, encrypted_key, warning
from service.config.schema.file import ConfigurationFile
from service.config.schema.server import SigningKey
from service.distribution import how_to_install


def key_files_hold_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own signing keys can be read, fit their algorithms, and are different ones."""
    if file.signing.source != "files":
        return
    from service.keys.key_source import read_key_files  # noqa: PLC0415
    from service.keys.schedule import KeyFileError  # noqa: PLC0415

    holders: dict[str, int] = {}
    for at, key in enumerate(file.signing.keys):
        location = ("signing", "keys", at, "path")
        if not key.path.is_file():
            continue
        try:
            (times,) = read_key_files([key], file.signing.algorithms)
        except KeyFileError as error:
            yield Finding(location, str(error))
            continue
        if times.kid in holders:
            first = ("signing", "keys", holders[times.kid], "path")
            yield Finding(location, "holds a key that is listed already", first=first)
        holders.setdefault(times.kid, at)


def keys_to_verify_by_are_public(file: ConfigurationFile) -> Iterator[Finding]:
    """The keys of the server before are public, fit their algorithms, have ids of their own, and are needed still."""
    holders: dict[str, int] = {}
    for at, entry in enumerate(file.signing.verify_only):
        from service.keys.schedule import KeyFileError  # noqa: PLC0415
        from service.keys.verify_only import read_verify_only  # noqa: PLC0415

        place = ("signing", "verify_only", at)
        if entry.until <= time.time():
            message = "this time has passed: the keys are not published, and verify nothing"
            yield warning((*place, "until"), message, "remove the entry")
        if not entry.jwks.is_file():
            continue
        try:
            keys = read_verify_only(entry)
        except KeyFileError as error:
            yield Finding((*place, "jwks"), str(error))
            continue
        for kid in [key.kid for key in keys if key.kid in holders]:
            first = ("signing", "verify_only", holders[kid], "jwks")
            message = f"{entry.jwks}: another file has a key with the key id {kid}"
            yield Finding((*place, "jwks"), message, first=first)
        holders |= {key.kid: at for key in keys if key.kid not in holders}


def provider_keys_can_sign(file: ConfigurationFile) -> Iterator[Finding]:
    """The keys by which this service authenticates at identity providers can be read."""
    for at, provider in enumerate(file.identity_providers):
        path, alg = provider.private_key, provider.token_endpoint_auth_signing_alg
        if path is None or alg is None or not path.is_file():
            continue
        from service.keys.key_source import read_key_file  # noqa: PLC0415
        from service.keys.schedule import KeyFileError  # noqa: PLC0415

        try:
            read_key_file(SigningKey(path=path, algorithm=alg))
        except KeyFileError as error:
            yield Finding(("identity_providers", at, "private_key"), str(error))


def certificate_fits_its_key(file: ConfigurationFile) -> Iterator[Finding]:
    """The service's own certificate and private key are a pair."""
    tls = file.server.tls
    if tls is None or not (tls.certificate.is_file() and tls.private_key.is_file()):
        return
    unfit = [
        Finding(("server", "tls", name), reason)
        for name, path in (("certificate", tls.certificate), ("client_ca", tls.client_ca))
        if path is not None and (reason := _find_certificate_problem(path)) is not None
    ]
    if unfit:
        yield from unfit
        return
    from service.tls import KeyIsEncrypted  # noqa: PLC0415
    from service.web.server.accepting import ServerTls  # noqa: PLC0415

    try:
        ServerTls(tls)
    except KeyIsEncrypted:
        yield encrypted_key(("server", "tls", "private_key"))
    except OSError as error:
        message = f"is no private key, PEM, of the certificate: {error.strerror}"
        yield Finding(("server", "tls", "private_key"), message)


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
    missing = [each for each in names if not Path(files[each]).is_file()]
    for name in missing:
        yield Finding(location, f"{name}: there is no file {files[name]}")
    if missing:
        return
    authorities = files.get("ssl_ca_certs")
    if authorities is not None and (reason := _find_certificate_problem(Path(authorities))):
        yield Finding(location, f"ssl_ca_certs: {reason}")
    if "ssl_certfile" in files:
        yield from _judge_store_certificate(files["ssl_certfile"], files.get("ssl_keyfile"))


def _judge_store_certificate(certificate: str, private_key: str | None) -> Iterator[Finding]:
    import ssl  # noqa: PLC0415 - few files name certificates

    from service.tls import KeyIsEncrypted, show_certificate  # noqa: PLC0415

    try:
        show_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), certificate, private_key)
    except KeyIsEncrypted:
        yield encrypted_key(("store", "url"))
    except OSError as error:
        message = f"ssl_certfile: {certificate} is no certificate, PEM, with its private key"
        yield Finding(("store", "url"), f"{message}: {error.strerror}")


def languages_have_messages(file: ConfigurationFile) -> Iterator[Finding]:
    """A page in a language has words to show; those of the templates themselves are English."""
    if set(file.ui.locales) == {"en"}:
        return
    from service.web.pages.locales import has_messages, known_languages  # noqa: PLC0415
    from service.web.pages.looks import folders_of  # noqa: PLC0415

    folders = folders_of(file.ui.templates)
    for at, name in enumerate(file.ui.locales):
        if not has_messages(folders, name):
            known = ", ".join(known_languages(folders))
            hint = f"known: {known}; a catalogue in ui.templates adds one"
            yield Finding(("ui", "locales", at), f"there are no messages for {name}", hint)


def own_templates_are_sound(file: ConfigurationFile) -> Iterator[Finding]:
    """Templates and messages in the operator's folder can be read and compiled."""
    folder = file.ui.templates
    if folder is None or not folder.is_dir():
        return
    from service.web.pages.locales import why_not_read  # noqa: PLC0415
    from service.web.pages.templates import why_not_compiled  # noqa: PLC0415

    for reason in (*why_not_compiled(folder), *why_not_read(folder, file.ui.locales)):
        yield Finding(("ui", "templates"), reason)


def colours_are_readable(file: ConfigurationFile) -> Iterator[Finding]:
    """Text in the accent colour, on it, and on the background can be read (WCAG 2.2 §1.4.3)."""
    tenants = [(("tenants", at), tenant) for at, tenant in enumerate(file.tenants)]
    for location, look in ((("ui",), file.ui), *tenants):
        for name in ("accent", "background"):
            if (text := getattr(look, name)) is not None:
                yield from [each.below(*location, name) for each in _judge_colour(name, text)]


def _judge_colour(name: str, text: str) -> Iterator[Finding]:
    from service.web.pages import colours  # noqa: PLC0415

    try:
        colour = colours.parse_colour(text)
    except ValueError:
        yield Finding((), "is not an opaque colour of CSS, such as #0c6b62 or rebeccapurple")
        return
    if name == "accent":
        contrast, of = colours.contrast_of_accent(colour), "its contrast with light pages"
        hint = f"a darker colour reaches {colours.READABLE}:1 (WCAG 2.2)"
    else:
        contrast, of = colours.contrast_of_background(colour), "the contrast of text on it"
        hint = f"a lighter or a darker colour reaches {colours.READABLE}:1 (WCAG 2.2)"
    if contrast < colours.READABLE:
        yield warning((), f"is hard to read: {of} is {contrast:.1f}:1", hint)


def users_can_be_asked(file: ConfigurationFile) -> Iterator[Finding]:
    """The packages of users.source are installed, and its settings are complete."""
    if file.users.source == "file":
        return
    from service.identity import sources  # noqa: PLC0415

    yield from sources.find_problems(file.users)


def hashes_can_be_verified(file: ConfigurationFile) -> Iterator[Finding]:
    """The package is installed by which the users of the file sign in, and give their user codes."""
    from service.identity.hashing import can_verify  # noqa: PLC0415
    from service.model.password_hash import UnusableHash, parse_hash  # noqa: PLC0415

    for name, cannot in (("password", "sign in"), ("ciba_user_code", "allow a CIBA request")):
        unusable = list[int]()
        for at, user in enumerate(file.users.list):
            stored: str | None = getattr(user, name)
            with suppress(UnusableHash):  # another rule says so
                if stored is not None and not can_verify(parse_hash(stored)):
                    unusable.append(at)
        if unusable:
            others = f", nor can {len(unusable) - 1} more" if unusable[1:] else ""
            needs = "needs the package bcrypt, which is not installed"
            message = f"{needs}: this user cannot {cannot}{others}"
            location = ("users", "list", unusable[0], name)
            yield warning(location, message, how_to_install("bcrypt"))


def _find_certificate_problem(file: Path) -> str | None:
    """Return why the certificates in a file cannot be loaded; None if they can, or no file is given."""
    import ssl  # noqa: PLC0415 - few files name certificates

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except FileNotFoundError:
        return None
    except ssl.SSLError:
        return f"{file}: holds no certificates, PEM, or broken ones"
    except OSError as error:
        return f"{file}: {error.strerror or 'cannot be read'}"
    return None


START_RULES: tuple[FileRule, ...] = (
    key_files_hold_keys,
    keys_to_verify_by_are_public,
    provider_keys_can_sign,
    certificate_fits_its_key,
    further_authorities_can_be_trusted,
    client_authorities_can_be_trusted,
    store_certificates_can_be_used,
    languages_have_messages,
    own_templates_are_sound,
    colours_are_readable,
    users_can_be_asked,
    hashes_can_be_verified,
)
