"""Rules on how the service itself is set up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from service.config.problem import Finding, Location, warning
from service.config.registry import longest_token
from service.config.rules.uris import is_loopback
from service.config.schema.file import ConfigurationFile


def issuer_is_a_secure_base(file: ConfigurationFile) -> Iterator[Finding]:
    """The issuer is https, but on loopback, without query and fragment (RFC 8414 §2)."""
    url = urlsplit(file.issuer)
    if url.scheme != "https" and not is_loopback(url.hostname or ""):
        yield Finding(("issuer",), "must be https, except on loopback (RFC 8414 §2)")
    if "?" in file.issuer or "#" in file.issuer:
        yield Finding(("issuer",), "has neither query nor fragment (RFC 8414 §2)")
    if "@" in url.netloc:
        yield Finding(("issuer",), "has user information before its host")
    if file.issuer.endswith("/"):
        message = "ends in /, and clients compare it character by character (RFC 8414 §3.3)"
        yield warning(("issuer",), message, f"write {file.issuer.rstrip('/')}")


def shared_store_keeps_keys_encrypted(file: ConfigurationFile) -> Iterator[Finding]:
    """Who reads the shared store must not learn the signing keys."""
    shared = not file.store.url.startswith("memory:")
    if shared and file.signing.source == "store" and not file.signing.encryption_key:
        message = "is required with a shared store, which keeps the signing keys"
        yield Finding(
            ("signing", "encryption_key"), message, "`python -m service new-key` makes one"
        )


def embedded_store_has_one_process(file: ConfigurationFile) -> Iterator[Finding]:
    """memory:// lives in one process; another one would know nothing of its tokens."""
    if file.store.url.startswith("memory:") and file.server.workers > 1:
        message = "memory:// belongs to one process"
        yield Finding(("server", "workers"), message, "set workers: 1, or use a Redis store")


def key_files_are_there(file: ConfigurationFile) -> Iterator[Finding]:
    """Keys of the operator's own are listed where they are used."""
    signing = file.signing
    if signing.source == "files" and not any(key.use == "sig" for key in signing.keys):
        yield Finding(("signing", "keys"), "source: files needs a key with use: sig")
    if signing.source == "store" and signing.keys:
        message = "are not used with source: store"
        yield warning(("signing", "keys"), message, "set source: files")


def keys_outlive_tokens(file: ConfigurationFile) -> Iterator[Finding]:
    """A key is known before it signs and as long as a token that it signed."""
    signing = file.signing
    if signing.announce_before >= signing.rotate_every:
        message = "should be shorter than rotate_every"
        yield warning(("signing", "announce_before"), message)
    if signing.retire_after < max(map(longest_token, file.clients), default=0):
        message = "is shorter than the longest token lifetime; such a token would outlive its key"
        yield warning(("signing", "retire_after"), message)


def sessions_end(file: ConfigurationFile) -> Iterator[Finding]:
    """A session slides below its absolute end, and its cookie is one that browsers keep."""
    session = file.session
    if session.lifetime > session.max_lifetime:
        yield Finding(("session", "lifetime"), "is longer than max_lifetime")
    if session.cookie_same_site == "none" and not file.issuer.startswith("https:"):
        message = "none needs an https issuer; browsers drop the cookie otherwise"
        yield Finding(("session", "cookie_same_site"), message, "set lax")


def proxies_are_few(file: ConfigurationFile) -> Iterator[Finding]:
    """Only from a known proxy is a forwarded header believed (RFC 7239 §8.1)."""
    for at, network in enumerate(file.server.trusted_proxies):
        if network.prefixlen == 0:
            message = "everyone is trusted to say where a request comes from"
            hint = "name the proxies' own networks"
            yield warning(("server", "trusted_proxies", at), message, hint)
    if file.server.client_certificate_header and not file.server.trusted_proxies:
        message = "is not believed from anyone while trusted_proxies is empty"
        yield warning(("server", "client_certificate_header"), message)


def ports_differ(file: ConfigurationFile) -> Iterator[Finding]:
    """Management has a port of its own, or none."""
    if file.server.management_port is not None and file.server.management_port == file.server.port:
        yield Finding(("server", "management_port"), "is the same as port", "leave it out to share")


def metrics_are_not_public(file: ConfigurationFile) -> Iterator[Finding]:
    """Metrics name clients' traffic to everybody who reaches the public port."""
    server = file.server
    if server.management_port is None and not is_loopback(server.host):
        message = "is not set, so everybody who reaches server.port can read /metrics"
        hint = "set it, or keep /metrics from strangers at your proxy"
        yield warning(("server", "management_port"), message, hint)


def development_is_not_public(file: ConfigurationFile) -> Iterator[Finding]:
    """The start page and error pages of a service in development show what only developers may see."""
    is_development = file.store.url.startswith("memory:") and is_loopback(
        urlsplit(file.issuer).hostname or ""
    )
    if is_development and not is_loopback(file.server.host):
        message = "lets other machines see the start page and the registered values on error pages"
        yield warning(("server", "host"), message, "set 127.0.0.1, or publish the port there only")


def lingering_leaves_time_to_finish(file: ConfigurationFile) -> Iterator[Finding]:
    """What runs when the process stops to serve on still gets its answer."""
    linger, grace = file.server.shutdown_linger, file.server.shutdown_grace
    if linger is not None and linger >= grace:
        message = "leaves nothing of server.shutdown_grace for what runs then"
        yield Finding(("server", "shutdown_linger"), message, "make the grace longer")


def locales_are_consistent(file: ConfigurationFile) -> Iterator[Finding]:
    """The default language is one that is on offer."""
    if file.ui.default_locale not in file.ui.locales:
        yield Finding(("ui", "default_locale"), "is not one of ui.locales")


def named_files_exist(file: ConfigurationFile) -> Iterator[Finding]:
    """What a start would open can be opened."""
    named: list[tuple[Location, Path | None]] = [(("outgoing", "ca_file"), file.outgoing.ca_file)]
    named += [
        (("signing", "keys", at, "path"), key.path) for at, key in enumerate(file.signing.keys)
    ]
    if file.server.tls is not None:
        certificates = ("certificate", "private_key", "client_ca")
        named += [
            (("server", "tls", name), getattr(file.server.tls, name)) for name in certificates
        ]
    if isinstance(file.ui.logo, Path):
        named.append((("ui", "logo"), file.ui.logo))
    for location, path in named:
        if path is not None and not path.is_file():
            yield Finding(location, f"there is no file {path}")
    templates = file.ui.templates
    if templates is not None and not templates.is_dir():
        yield Finding(("ui", "templates"), f"there is no folder {templates}")


def providers_are_reachable_safely(file: ConfigurationFile) -> Iterator[Finding]:
    """A provider is asked over https, by a client that it knows (OIDC Core §3.1.2.1)."""
    for at, provider in enumerate(file.identity_providers):
        location = ("identity_providers", at)
        url = urlsplit(provider.issuer)
        if url.scheme != "https" and not is_loopback(url.hostname or ""):
            message = "should be https; whoever is on the way could sign in as anyone"
            yield warning((*location, "issuer"), message)
        if not provider.client_id:
            message = "is empty, so the provider refuses every login"
            yield warning((*location, "client_id"), message)
        if "openid" not in provider.scopes:
            message = "openid is missing, so the provider sends no identity token"
            yield Finding((*location, "scopes"), message, "OIDC Core §3.1.2.1")


def users_come_from_one_source(file: ConfigurationFile) -> Iterator[Finding]:
    """The list is for source: file."""
    if file.users.source != "file" and file.users.list:
        message = "is not used, because source names a UserStore"
        yield warning(("users", "list"), message)
