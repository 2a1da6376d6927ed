"""Rules on the section `admin`: a listener of its own, under a name of its own, with scope values of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from service.config.named_files import find_file_problem
from service.config.problem import Finding, Location
from service.config.registry import CONSOLE_CLIENT
from service.config.schema.file import ConfigurationFile
from service.model.admin import SCOPES
from service.protocol.uris import is_unencrypted, normalize_url, split_uri


def admin_has_a_place_of_its_own(file: ConfigurationFile) -> Iterator[Finding]:
    """The listener has a port that nothing else has, and an https URL of a host that only operators use."""
    admin, server = file.admin, file.server
    if admin is None:
        return
    others = {
        "server.port": server.port,
        "server.management_port": server.management_port,
        "server.tls.mtls_port": server.mtls_port,
    }
    if admin.port is None:
        yield Finding(("admin", "port"), "is required", "name a port that nothing else has")
    for name, port in others.items():
        if admin.port and admin.port == port:
            message = f"is the same as {name}; the admin API is never there"
            yield Finding(("admin", "port"), message, "take another one")
    if admin.url is None:
        hint = "write how operators reach the port, such as https://admin.internal.example"
        yield Finding(("admin", "url"), "is required", hint)
    else:
        yield from _judge_url(admin.url, file)


def _judge_url(url: str, file: ConfigurationFile) -> Iterator[Finding]:
    location, parts = ("admin", "url"), split_uri(url)
    if parts is None or normalize_url(url) is None:
        yield Finding(location, "is no URL of a host, with neither user information nor fragment")
        return
    if is_unencrypted(url):
        yield Finding(location, "must be https, except on loopback")
    if parts.path not in ("", "/") or parts.query:
        yield Finding(location, "has a path or a query", "end it behind the host and the port")
    taken = {"issuer": file.issuer, "server.mtls_base_url": file.server.mtls_base_url}
    for name, other in taken.items():
        if other and urlsplit(other).hostname == parts.hostname:
            message = f"has the host of {name}, and cookies are for all ports of a host"
            yield Finding(location, message, "take another host name")


def admin_url_is_its_own(file: ConfigurationFile) -> Iterator[Finding]:
    """No API resource has the audience of the admin API."""
    url = file.admin.url if file.admin else None
    for at, api in enumerate(file.api_resources if url else ()):
        for key, value in (("name", api.name), ("url", api.url)):
            if value and url and (normalize_url(value) or value) == normalize_url(url):
                message = "is admin.url, which is the audience of the admin API"
                yield Finding(("api_resources", at, key), message, "take another one")


def admin_scopes_are_its_own(file: ConfigurationFile) -> Iterator[Finding]:
    """The registry neither defines nor gives away what `admin` makes; only `allowed_scopes` of clients list it."""
    if file.admin is None:
        return
    for location, names in _find_scopes(file):
        for name in sorted(SCOPES.intersection(names)):
            message = f"{name} is a scope value of the admin API, which clients alone list"
            within = () if location[-1] == "name" else (name,)
            yield Finding((*location, *within), message, "take it out, or give it another name")


def _find_scopes(file: ConfigurationFile) -> Iterator[tuple[Location, frozenset[str]]]:
    for section in ("api_resources", "api_scopes", "identity_resources"):
        for at, entry in enumerate(getattr(file, section)):
            if entry.name in SCOPES:
                yield (section, at, "name"), frozenset({entry.name})
    for section in ("api_resources", "token_exchange", "trust_domains"):
        for at, entry in enumerate(getattr(file, section)):
            yield (section, at, "scopes"), entry.scopes or frozenset()
    for section in ("registration", "client_id_metadata"):
        yield (section, "allowed_scopes"), getattr(file, section).allowed_scopes


def console_client_is_its_own(file: ConfigurationFile) -> Iterator[Finding]:
    """No entry has the name of the client by which the console signs its users in."""
    if file.admin is None:
        return
    names = {"clients": "client_id", "api_resources": "name"}
    for section, key in names.items():
        for at, entry in enumerate(getattr(file, section)):
            if getattr(entry, key) == CONSOLE_CLIENT:
                message = f"{CONSOLE_CLIENT} is the client of the admin console"
                yield Finding((section, at, key), message, "take another name")


def admin_tls_files_can_be_read(file: ConfigurationFile) -> Iterator[Finding]:
    """The files of its TLS can be read."""
    tls = file.admin.tls if file.admin else None
    for name in ("certificate", "private_key"):
        path = getattr(tls, name, None)
        if isinstance(path, Path) and (problem := find_file_problem(path)) is not None:
            yield Finding(("admin", "tls", name), problem)


FILE_RULES = (
    admin_has_a_place_of_its_own,
    admin_url_is_its_own,
    admin_scopes_are_its_own,
    console_client_is_its_own,
    admin_tls_files_can_be_read,
)
