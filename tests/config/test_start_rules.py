"""`check`, a start and a reload find the same problems in named files, in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from argon2 import PasswordHasher

from service.app import create_app
from service.config.problem import ConfigError, Finding
from service.config.schema.file import ConfigurationFile
from service.events.operations import RegistryReloadRefused
from service.keys.jose import Key
from service.start.checks import START_RULES
from service.start.load import inspect, load
from service.web.pages.locales import known_languages
from service.web.pages.looks import BUILT_IN
from tests.driving.certificate import certified, with_passphrase

SOUND = "issuer: https://auth.example.com\n"
TLS = "server: {tls: {certificate: %s, private_key: %s}}"
SEALED = "signing: {encryption_key: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY}\n"
HTTP_USERS = "users: {source: http, http: {find_url: 'https://u.example/f', verify_url: 'https://u.example/v', %s}}"
FILES = "signing: {source: files, keys: [%s]}"


@pytest.fixture(autouse=True)
def folder(file: Path) -> Path:
    """Next to the configuration: a key, its copy, and what is nothing at all."""
    folder = file.parent
    (folder / "none.pem").write_text("none")
    key = orjson.dumps(Key.generate("ES256").private_jwk)
    for name in ("key.jwk", "copy.jwk"):
        (folder / name).write_bytes(key)
    with_passphrase(certified(folder))
    (folder / "broken").mkdir()
    (folder / "broken/login.html").write_text("<p>\n{{ oops")
    return folder


CASES = {
    "key_files_hold_keys": (
        FILES % "{path: key.jwk, algorithm: ES256}, {path: none.pem}",
        "signing.keys[1].path",
        "holds no unencrypted PEM or JWK key",
    ),
    "key_files_are_different_ones": (
        FILES % "{path: key.jwk, algorithm: ES256}, {path: copy.jwk, algorithm: ES256}",
        "signing.keys[1].path",
        "holds a key that is listed already, first at",
    ),
    "certificate_is_one": (
        TLS % ("none.pem", "none.pem"),
        "server.tls.certificate",
        "holds no certificates",
    ),
    "certificate_fits_its_key": (
        TLS % ("loopback.pem", "key.jwk"),
        "server.tls.private_key",
        "is no private key, PEM, of the certificate",
    ),
    "private_key_is_not_encrypted": (
        TLS % ("loopback.pem", "locked.pem"),
        "server.tls.private_key",
        "the private key is encrypted",
    ),
    "users_private_key_is_not_encrypted": (
        HTTP_USERS % "certificate: loopback.pem, private_key: locked.pem",
        "users.http.private_key",
        "the private key is encrypted",
    ),
    "languages_have_messages": (
        "ui: {locales: [en, eo]}",
        "ui.locales[1]",
        "there are no messages for eo",
    ),
    "the_only_language_has_messages": (
        "ui: {locales: [xx]}",
        "ui.locales[0]",
        "there are no messages for xx",
    ),
    "default_language_is_listed": (
        "ui: {default_locale: de}",
        "ui.default_locale",
        "is de, which ui.locales does not list",
    ),
    "own_templates_are_sound": (
        "ui: {templates: broken}",
        "ui.templates",
        "broken/login.html:2: unexpected end of template",
    ),
    "users_block": ("users: {source: sql}", "users.source", "sql needs the block users.sql"),
    "users_database": (
        "users: {source: sql, sql: {table: people, url: 'nonsense'}}",
        "users.sql.url",
        "is not a database URL",
    ),
    "users_database_name": (
        "users: {source: sql, sql: {table: people, url: 'nodb+nothing://host/x'}}",
        "users.sql.url",
        "is not a database URL",
    ),
    "users_driver": (
        "users: {source: sql, sql: {table: people, url: 'sqlite:///people.db'}}",
        "users.sql.url",
        "sqlite+pysqlite is no asynchronous driver",
    ),
    "users_driver_that_is_missing": (
        "users: {source: sql, sql: {table: people, url: 'mysql+aiomysql://host/x'}}",
        "users.source",
        "sql needs the package aiomysql, which is not installed",
    ),
    "users_table": (
        "users: {source: sql, sql: {url: 'sqlite+aiosqlite:///people.db'}}",
        "users.sql",
        "needs a table, or the queries by_subject and by_username",
    ),
    "users_query": (
        "users: {source: sql, sql: {table: t, url: 'sqlite+aiosqlite:///x', queries: {by_email: SELECT 1}}}",
        "users.sql.queries.by_email",
        "has no parameter :email",
    ),
    "users_to_be_written": (
        """users: {source: sql, sql: {url: 'sqlite+aiosqlite:///x', writable: true,
          queries: {by_subject: 'SELECT :sub', by_username: 'SELECT :username'}}}""",
        "users.sql.writable",
        "needs a table; queries can write without it",
    ),
    "further_authorities_can_be_trusted": (
        "outgoing: {ca_file: none.pem}",
        "outgoing.ca_file",
        "holds no certificates, PEM, or broken ones",
    ),
}


STORE_FILES = {
    "missing": ("ssl_ca_certs=gone.pem", "ssl_ca_certs: there is no file gone.pem"),
    "no-authorities": ("ssl_ca_certs=none.pem", "ssl_ca_certs: none.pem: holds no certificates"),
    "no-certificate": ("ssl_certfile=none.pem", "ssl_certfile: none.pem is no certificate"),
    "encrypted": (
        "ssl_certfile=loopback.pem&ssl_keyfile=locked.pem",
        "the private key is encrypted",
    ),
}


@pytest.mark.parametrize(("options", "message"), STORE_FILES.values(), ids=list(STORE_FILES))
def test_files_that_the_store_url_names_are_judged(
    file: Path, options: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    file.write_text(f"{SOUND}{SEALED}store: {{url: 'rediss://h?{options}'}}\n")
    (found,) = inspect(file, {}, START_RULES)
    assert (found.line, found.path) == (3, "store.url")
    assert found.message.startswith(message)


def test_files_that_the_store_url_names_may_be_sound(file: Path) -> None:
    pem = file.parent / "loopback.pem"
    url = f"rediss://h?ssl_ca_certs={pem}&ssl_certfile={pem}&ssl_keyfile={pem}"
    file.write_text(f"{SOUND}{SEALED}store: {{url: '{url}'}}\n")
    assert not inspect(file, {}, START_RULES)


@pytest.fixture(params=list(CASES.values()), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """A text, the place of its problem, and the message."""
    made: tuple[str, str, str] = request.param
    return made


def test_a_start_rule_is_judged_alike_by_check_start_and_reload(
    case: tuple[str, str, str], file: Path
) -> None:
    text, path, message = case
    file.write_text(SOUND)
    events: list[object] = []
    service = create_app(load(file, {}, START_RULES), events.append, environ={})
    file.write_text(SOUND + text)
    (found,) = [each for each in inspect(file, {}, START_RULES) if each.severity == "error"]
    assert (found.path, found.file) == (path, str(file))
    assert message in found.message
    with pytest.raises(ConfigError) as refused:
        load(file, {}, START_RULES)
    assert str(refused.value) == str(found)
    assert not service.features.shared.registry.reload()
    assert events == [RegistryReloadRefused(problems=(str(found),))]


def test_a_database_file_is_shown_how_to_be_written(file: Path) -> None:
    file.write_text(SOUND + CASES["users_driver"][0])
    (found,) = inspect(file, {}, START_RULES)
    assert found.hint == "write it as sqlite+aiosqlite:////folder/file.db"


def test_users_whose_hashes_need_a_missing_package_are_warned_of_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bcrypt, usual = "$2b$12$" + "a" * 53, PasswordHasher(2, 19456, 1).hash("x")
    listed = [
        f"{{sub: '{at}', username: u{at}, password: '{stored}'}}"
        for at, stored in enumerate((usual, bcrypt, bcrypt))
    ]
    file.write_text(f"{SOUND}users: {{list: [{', '.join(listed)}]}}")
    assert inspect(file, {}, START_RULES) == ()
    monkeypatch.setattr("service.identity.hashing.find_spec", lambda _: None)
    (found,) = inspect(file, {}, START_RULES)
    assert (found.severity, found.path) == ("warning", "users.list[u1].password")
    assert "package bcrypt" in found.message
    assert "nor can 1 more" in found.message
    file.write_text(
        f"{SOUND}users: {{list: [{{sub: '1', username: u1, ciba_user_code: '{bcrypt}'}}]}}"
    )
    (found,) = inspect(file, {}, START_RULES)
    assert (found.severity, found.path) == ("warning", "users.list[u1].ciba_user_code")
    assert "this user cannot allow a CIBA request" in found.message


def test_a_client_secret_whose_hash_needs_a_missing_package_is_warned_of(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bcrypt = "$2b$12$" + "a" * 53
    secrets = f"client_secrets: [{{hash: '{bcrypt}', expires_at: '2099-01-01T00:00:00Z'}}]"
    file.write_text(
        f"{SOUND}clients: [{{client_id: web, redirect_uris: ['https://w/cb'], {secrets}}}]"
    )
    (usual,) = inspect(file, {}, START_RULES)
    monkeypatch.setattr("service.identity.hashing.find_spec", lambda _: None)
    found = [each for each in inspect(file, {}, START_RULES) if each.message != usual.message]
    assert [(each.severity, each.path) for each in found] == [
        ("warning", "clients[web].client_secrets[0].hash")
    ]
    assert "package bcrypt" in found[0].message


@pytest.mark.parametrize("name", ["eo", "dk", "DE", "de-XX", "../de", "en-foo"])
def test_languages_have_messages_or_the_known_ones_are_named(file: Path, name: str) -> None:
    file.write_text(f"{SOUND}ui: {{locales: [en, {name}]}}")
    (found,) = inspect(file, {}, START_RULES)
    assert (found.path, found.line, found.column) == ("ui.locales[1]", 2, 20)
    known = ", ".join(known_languages([BUILT_IN]))
    assert found.hint == f"known: {known}; a catalogue in ui.templates adds one"


def test_a_language_with_a_name_of_any_length_is_refused(file: Path) -> None:
    (file.parent / "mine/locales").mkdir(parents=True)
    file.write_text(f"{SOUND}ui: {{templates: mine, locales: [en, {'x' * 300}]}}")
    assert [found.path for found in inspect(file, {}, START_RULES)] == ["ui.locales[1]"]


def test_languages_have_messages_in_the_operators_folder_too(file: Path) -> None:
    catalogue = file.parent / "mine/locales/eo/LC_MESSAGES/messages.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text('msgid "Sign in"\nmsgstr "Kirjaudu"\n')
    file.write_text(f"{SOUND}ui: {{templates: mine, locales: [en, eo, de-AT, en_GB]}}")
    assert inspect(file, {}, START_RULES) == ()


def test_own_templates_are_sound_or_each_that_is_not_is_named(file: Path) -> None:
    mine = file.parent / "mine"
    (mine / "parts").mkdir(parents=True)
    (mine / "login.html").write_text("{{ since | ago }}{{ since | long_ago }}")
    (mine / "parts/foot.html").write_bytes(b"\xff")
    (mine / "deep.html").write_text("{% if 1 %}" * 3000 + "{% endif %}" * 3000)
    (mine / "consent.html").write_text('{% extends "builtin/consent.html" %}')
    file.write_text(f"{SOUND}ui: {{templates: mine}}")
    assert [found.message for found in inspect(file, {}, START_RULES)] == [
        f"{mine}/deep.html: is nested too deep",
        f"{mine}/login.html:1: No filter named 'long_ago'.",
        f"{mine}/parts/foot.html: is not UTF-8 text",
    ]


def test_own_messages_can_be_read(file: Path) -> None:
    catalogue = file.parent / "mine/locales/de/LC_MESSAGES/messages.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_bytes(b'msgid "Sign in"\nmsgstr "\xff"\n')
    file.write_text(f"{SOUND}ui: {{templates: mine, locales: [en, de-AT, de]}}")
    (found,) = inspect(file, {}, START_RULES)
    assert found.message.startswith(f"{catalogue}: 'utf-8' codec can't decode")


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("outgoing: {ca_file: none.pem}", "none.pem"),
        ("ui: {templates: broken}", "broken/login.html"),
    ],
)
def test_mending_what_a_start_rule_refused_is_noticed(file: Path, text: str, mended: str) -> None:
    file.write_text(SOUND + text)
    with pytest.raises(ConfigError) as refused:
        load(file, {}, START_RULES)
    before = refused.value.files.now()
    (file.parent / mended).write_text("mended, or so")
    after = refused.value.files.now()
    assert before[file.parent / mended] != after[file.parent / mended]
    assert refused.value.files.differ_from(after)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("outgoing: {ca_file: none.pem}", "none.pem"),
        ("server: {tls: {certificate: none.pem, private_key: none.pem}}", "none.pem"),
    ],
)
def test_a_change_that_falls_between_judging_and_noting_is_noticed(
    file: Path, text: str, read: str
) -> None:
    def replaced_when_it_has_been_judged(_: ConfigurationFile) -> Iterator[Finding]:
        (file.parent / read).write_text("another, longer than before")
        return iter(())

    file.write_text(SOUND + text)
    with pytest.raises(ConfigError) as refused:
        load(file, {}, (*START_RULES, replaced_when_it_has_been_judged))
    assert refused.value.files.differ_from(refused.value.files.now())


NAMED_FILES = {
    "outgoing.ca_file": "outgoing: {ca_file: %s}",
    "mtls.client_ca": "mtls: {client_ca: %s}",
    "signing.keys[0].path": FILES % "{path: %s}",
    "signing.verify_only[0].jwks": "signing: {verify_only: [{jwks: %s, until: 2100-01-01T00:00:00Z}]}",
    "ui.logo": "ui: {logo: %s}",
    "tenants[a].logo": "tenants: [{name: a, logo: %s}]",
    "server.tls.certificate": "server: {tls: {certificate: %s, private_key: key.jwk}}",
    "admin.tls.private_key": "admin: {port: 9, url: 'https://b.example', tls: {certificate: loopback.pem, private_key: %s}}",
    "workload_issuers[a].token_file": """clients: [{client_id: m, allowed_grant_types: [client_credentials]}]
workload_issuers: [{name: a, kind: kubernetes, issuer: 'https://x.example', token_file: %s,
          rules: [{subject: 'system:serviceaccount:a:b', client_id: m}]}]""",
    "identity_providers[a].private_key": """identity_providers: [{name: a, issuer: 'https://x.example', client_id: x, private_key: %s,
          token_endpoint_auth_method: private_key_jwt, token_endpoint_auth_signing_alg: RS256}]""",
    "store.url": SEALED + "store: {url: 'rediss://h?ssl_ca_certs=%s'}",
}


@pytest.mark.parametrize(("path", "text"), NAMED_FILES.items(), ids=list(NAMED_FILES))
def test_a_named_file_that_cannot_be_looked_up_is_a_problem(
    file: Path, path: str, text: str
) -> None:
    file.write_text(f"{SOUND}{text % ('long' * 100)}\n")
    found = [each.message for each in inspect(file, {}, START_RULES) if each.path == path]
    assert any("cannot be read: File name too long" in message for message in found)


def test_a_folder_of_templates_that_cannot_be_looked_up_is_a_problem(file: Path) -> None:
    file.write_text(f"{SOUND}ui: {{templates: {'long' * 100}}}\n")
    (found,) = inspect(file, {}, START_RULES)
    assert (found.path, "File name too long" in found.message) == ("ui.templates", True)


def test_a_logo_that_may_not_be_read_is_a_problem(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_file = Path.open

    def refuse(path: Path, *arguments: Any, **named: Any) -> object:
        if path.name == "logo.png":
            raise PermissionError(13, "Permission denied")
        return open_file(path, *arguments, **named)

    (file.parent / "logo.png").touch()
    file.write_text(f"{SOUND}ui: {{logo: logo.png}}\n")
    monkeypatch.setattr(Path, "open", refuse)
    (found,) = inspect(file, {}, START_RULES)
    assert found.message.endswith("logo.png cannot be read: Permission denied")


NAMELESS = {"blank": r"\u00a0 ", "control": r"a\u0000b", "line": r"a\nb"}


@pytest.mark.parametrize("name", NAMELESS.values(), ids=list(NAMELESS))
def test_a_user_name_that_cannot_be_entered_is_warned_of(file: Path, name: str) -> None:
    file.write_text(f'{SOUND}users: {{list: [{{sub: "1", username: "{name}"}}]}}\n')
    (found,) = inspect(file, {}, START_RULES)
    assert (found.severity, found.path.endswith(".username")) == ("warning", True)
    assert found.message.startswith("nobody can sign in with a name")


SECRETS = {
    "api": "api_resources: [{name: a, secrets: [{value: %s}]}]",
    "scope": "api_resources: [{name: b, scopes: [a], secrets: []}]\napi_scopes: [{name: a, secrets: [{value: %s}]}]",
    "client": "clients: [{client_id: a, allowed_grant_types: [client_credentials], client_secrets: [{value: %s}]}]",
}


@pytest.mark.parametrize(
    ("length", "message"), [(256, "needs the"), (257, "is longer than the 256 characters")]
)
@pytest.mark.parametrize("text", SECRETS.values(), ids=list(SECRETS))
def test_a_plain_secret_that_no_request_may_send_is_warned_of(
    file: Path, text: str, length: int, message: str
) -> None:
    file.write_text(f"{SOUND}{text % ('s' * length)}\n")
    found = [each for each in inspect(file, {}, START_RULES) if each.path.endswith(".value")]
    assert [(each.severity, message in each.message) for each in found] == [("warning", True)]
