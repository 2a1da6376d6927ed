"""Rules on the settings of the service itself (RFC 8414 §2, §3.3, RFC 7239 §8.1, RFC 7591 §5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from service.config.named_files import find_file_problem, find_folder_problem
from service.config.problem import Finding, Location, warning
from service.config.registry import longest_token
from service.config.schema.file import ConfigurationFile
from service.model.resources import api_scope_names
from service.protocol.claims import find_expected_type
from service.protocol.path_aliases import find_conflicts
from service.protocol.uris import is_loopback, is_unencrypted

_OF_REALM = re.compile("/realms/[^/]+/?$")
_NEW_KEY = "`token-service new-key` makes one"


def _is_shared(file: ConfigurationFile) -> bool:
    return not file.store.url.startswith("memory:")


def proxies_are_few(file: ConfigurationFile) -> Iterator[Finding]:
    """Forwarded headers are accepted from known proxies only (RFC 7239 §8.1)."""
    for at, network in enumerate(file.server.trusted_proxies):
        if network.prefixlen == 0:
            message = "anyone may say where a request comes from"
            hint = "name the proxies' own networks"
            yield warning(("server", "trusted_proxies", at), message, hint)


def store_has_one_password(file: ConfigurationFile) -> Iterator[Finding]:
    """The password of Redis is given once."""
    if file.store.password is not None and urlsplit(file.store.url).password:
        yield Finding(("store", "password"), "store.url has one too", "take one of them out")
    if file.store.credential_provider is None:
        return
    url = urlsplit(file.store.url)
    if not _is_shared(file):
        message = "memory:// asks for no credentials"
        yield warning(
            ("store", "credential_provider"), message, "leave it out, or use a Redis store"
        )
    elif file.store.password is not None or url.username or url.password:
        message = "store.password or store.url has credentials too"
        yield Finding(("store", "credential_provider"), message, "take one of them out")


def gateways_are_trusted(file: ConfigurationFile) -> Iterator[Finding]:
    """A gateway says whose request it asks about, so it is a trusted proxy (docs/gateways.md)."""
    trusted = file.server.trusted_proxies
    for at, network in enumerate(file.server.gateways or ()):
        if not any(network[0] in each and network[-1] in each for each in trusted):
            message = "is not in server.trusted_proxies, and so may not ask"
            yield warning(("server", "gateways", at), message, "add it to trusted_proxies, too")


def named_files_can_be_read(file: ConfigurationFile) -> Iterator[Finding]:
    """Files that a start opens can be read."""
    tls, templates = file.server.tls, file.ui.templates
    named: dict[Location, object] = {
        ("outgoing", "ca_file"): file.outgoing.ca_file,
        ("mtls", "client_ca"): file.mtls.client_ca,
        **{("signing", "keys", at, "path"): key.path for at, key in enumerate(file.signing.keys)},
    }
    named |= {
        ("signing", "verify_only", at, "jwks"): each.jwks
        for at, each in enumerate(file.signing.verify_only)
    }
    named |= {(*location, "logo"): look.logo for location, look in file.looks.items()}
    for name in ("certificate", "private_key", "client_ca"):
        named["server", "tls", name] = getattr(tls, name, None)
    for location, path in named.items():
        if isinstance(path, Path) and (problem := find_file_problem(path)) is not None:
            yield Finding(location, problem)
    if templates is not None and (problem := find_folder_problem(templates)) is not None:
        yield Finding(("ui", "templates"), problem)


def requests_can_be_pushed(file: ConfigurationFile) -> Iterator[Finding]:
    """Nobody has to push requests that nothing takes (RFC 9126 §5, §6)."""
    if file.pushed_authorization_requests:
        return
    name, hint = "require_pushed_authorization_requests", "set pushed_authorization_requests: true"
    required: dict[Location, bool] = {(name,): file.require_pushed_authorization_requests}
    required |= {
        ("clients", at, name): client.require_pushed_authorization_requests
        for at, client in enumerate(file.clients)
    }
    for location, is_required in required.items():
        if is_required:
            yield Finding(location, "pushed_authorization_requests is off", hint)


def open_registration_is_bounded(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients that anybody may register get no API scope (RFC 7591 §5)."""
    registration = file.registration
    if not registration.is_open:
        return
    for name in sorted(registration.allowed_scopes & api_scope_names(file.api_resources)):
        message = f"anyone can register a client and get a token with the API scope {name} for it"
        hint = "set initial_access_token_sha256"
        yield warning(("registration", "allowed_scopes", name), message, hint)


def standard_claims_have_their_types(file: ConfigurationFile) -> Iterator[Finding]:
    """Standard claims of users have the types that clients expect (OIDC Core §5.1)."""
    for at, user in enumerate(file.users.list):
        for name, value in user.claims.items():
            expected = find_expected_type(name, value)
            if expected is not None:
                location = ("users", "list", at, "claims", name)
                yield warning(location, f"expected {expected}", "OIDC Core §5.1")


def issuer_is_a_secure_base(file: ConfigurationFile) -> Iterator[Finding]:
    """The issuer is https, except on loopback, without query and fragment (RFC 8414 §2)."""
    if is_unencrypted(file.issuer):
        yield Finding(("issuer",), "must be https, except on loopback (RFC 8414 §2)")
    if "?" in file.issuer or "#" in file.issuer:
        yield Finding(("issuer",), "has neither query nor fragment (RFC 8414 §2)")
    if "@" in urlsplit(file.issuer).netloc:
        yield Finding(("issuer",), "has user information before its host")
    if file.issuer.endswith("/"):
        message = "ends in /, and clients compare it character by character (RFC 8414 §3.3)"
        yield warning(("issuer",), message, f"write {file.issuer.rstrip('/')}")


def aliases_lead_somewhere(file: ConfigurationFile) -> Iterator[Finding]:
    """Each alias is a path of one endpoint, and below the issuer that clients of the server before know."""
    listed = file.path_aliases
    for at, server in enumerate(listed):
        if server in listed[:at]:
            yield Finding(("path_aliases", at), f"{server} is listed twice", "take one out")
    for _, server, path in find_conflicts(dict.fromkeys(listed)):
        message = f"{path} of {server} is another endpoint, or another redirect URI at identity providers, than that of a server before it"
        yield Finding(
            ("path_aliases", listed.index(server)), message, "one issuer replaces one server"
        )
    if "keycloak" in listed and not _OF_REALM.search(urlsplit(file.issuer).path):
        message = "the paths of keycloak are below /realms/NAME, and the issuer does not end so"
        hint = "keep the issuer of the realm, such as https://id.example.com/realms/shop"
        yield Finding(("path_aliases", listed.index("keycloak")), message, hint)


def keys_are_kept_safely(file: ConfigurationFile) -> Iterator[Finding]:
    """A shared store has signing keys and secrets encrypted; key files are listed where they are used."""
    signing = file.signing
    needs_key = _is_shared(file) and not signing.encryption_key
    if needs_key and signing.source == "store":
        message = "is required with a shared store, which keeps the signing keys"
        yield Finding(("signing", "encryption_key"), message, _NEW_KEY)
    elif needs_key:
        message = "is required with a shared store, which keeps second factors and clients' secrets"
        yield Finding(("signing", "encryption_key"), message, _NEW_KEY)
    if signing.source == "files" and not any(key.use == "sig" for key in signing.keys):
        yield Finding(("signing", "keys"), "source: files needs a key with use: sig")
    if signing.source == "store" and signing.keys:
        yield warning(("signing", "keys"), "are not used with source: store", "set source: files")


def retired_encryption_keys_leave(file: ConfigurationFile) -> Iterator[Finding]:
    """An encryption key that is listed only for what it once encrypted is there no longer than that needs."""
    for at in range(1, len(file.signing.encryption_key)):
        message = "is retired: what it encrypted has to be encrypted anew before it is removed"
        hint = (
            "start all replicas with the first key, run `token-service keys reencrypt`, remove it"
        )
        yield warning(("signing", "encryption_key", at), message, hint)


def lifetimes_fit_together(file: ConfigurationFile) -> Iterator[Finding]:
    """Keys are published for as long as they are used, and sessions and processes end in order."""
    signing, session, server = file.signing, file.session, file.server
    if signing.announce_before >= signing.rotate_every:
        yield warning(("signing", "announce_before"), "should be shorter than rotate_every")
    if signing.retire_after < max(map(longest_token, file.clients), default=0):
        message = "is shorter than the longest token lifetime; such a token would outlive its key"
        yield warning(("signing", "retire_after"), message)
    if session.lifetime > session.max_lifetime:
        yield Finding(("session", "lifetime"), "is longer than max_lifetime")
    if server.shutdown_linger is not None and server.shutdown_linger >= server.shutdown_grace:
        message = "leaves nothing of server.shutdown_grace for the requests that still run"
        yield Finding(("server", "shutdown_linger"), message, "make the grace longer")


def server_is_set_up_safely(file: ConfigurationFile) -> Iterator[Finding]:
    """Processes, ports and addresses fit the store and the issuer."""
    server = file.server
    if not _is_shared(file) and server.workers > 1:
        message = "memory:// belongs to one process"
        yield Finding(("server", "workers"), message, "set workers: 1, or use a Redis store")
    if file.store.tracking == "on" and not file.store.tracks:
        message = "does nothing with memory://, which is asked without a round trip"
        yield warning(("store", "tracking"), message, "leave it out, or use a Redis store")
    if server.client_certificate_header and not server.trusted_proxies:
        message = "is not believed from anyone while trusted_proxies is empty"
        yield warning(("server", "client_certificate_header"), message)
    if server.management_port == server.port:
        yield Finding(("server", "management_port"), "is the same as port", "leave it out to share")
    is_local = all(map(is_loopback, server.host))
    if server.management_port is None and not is_local:
        message = "is not set, so everybody who reaches server.port can read /metrics"
        hint = "set it, or have your proxy refuse /metrics"
        yield warning(("server", "management_port"), message, hint)
    is_development = not _is_shared(file) and is_loopback(urlsplit(file.issuer).hostname or "")
    if is_development and not is_local:
        message = "lets other machines see the start page and the registered values on error pages"
        yield warning(("server", "host"), message, "set 127.0.0.1, or publish the port there only")


def settings_are_used(file: ConfigurationFile) -> Iterator[Finding]:
    """Settings that exclude each other, or have no effect without another one."""
    if file.session.cookie_same_site == "none" and not file.issuer.startswith("https:"):
        message = "none needs an https issuer; browsers drop the cookie otherwise"
        yield Finding(("session", "cookie_same_site"), message, "set lax")
    if file.users.source != "file" and file.users.list:
        message = f"is not used, because source is {file.users.source}"
        yield warning(("users", "list"), message)
    if file.registration.enabled and not file.registration.allowed_scopes:
        message = "is empty, so a registered client can ask for nothing"
        yield warning(("registration", "allowed_scopes"), message, "list openid, for a start")
    documents = file.client_id_metadata
    if documents.enabled and not documents.allowed_scopes:
        message = "is empty, so a client with a metadata document can ask for nothing"
        yield warning(("client_id_metadata", "allowed_scopes"), message, "list openid, for a start")


FILE_RULES = (
    issuer_is_a_secure_base,
    aliases_lead_somewhere,
    keys_are_kept_safely,
    retired_encryption_keys_leave,
    lifetimes_fit_together,
    server_is_set_up_safely,
    settings_are_used,
    proxies_are_few,
    store_has_one_password,
    gateways_are_trusted,
    named_files_can_be_read,
    requests_can_be_pushed,
    open_registration_is_bounded,
    standard_claims_have_their_types,
)
