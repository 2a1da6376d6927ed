"""Rules on names that must be registered elsewhere in the file."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.registry import IDENTITY_RESOURCES
from service.config.rules.names import api_scope_names
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import nearest
from service.protocol.redirect_uri import redirect_hosts
from service.protocol.scope import OFFLINE_ACCESS

_SIGNED_RESPONSES = (
    "id_token_signed_response_alg",
    "userinfo_signed_response_alg",
    "authorization_signed_response_alg",
    "introspection_signed_response_alg",
)


def scopes_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """What clients may ask for is there."""
    known = {
        *IDENTITY_RESOURCES,
        *(entry.name for entry in file.identity_resources),
        *(entry.name for entry in file.api_scopes),
        *api_scope_names(file),
        OFFLINE_ACCESS,
    }
    for at, client in enumerate(file.clients):
        for name in client.allowed_scopes - known:
            yield _unknown(("clients", at, "allowed_scopes", name), name, known, "scope")
    for name in file.registration.allowed_scopes - known:
        yield _unknown(("registration", "allowed_scopes", name), name, known, "scope")


def resources_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """The API resource that a client says it is exists."""
    known = {resource.name for resource in file.api_resources}
    for at, client in enumerate(file.clients):
        name = client.api_resource
        if name is not None and name not in known:
            yield _unknown(("clients", at, "api_resource"), name, known, "API resource")


def providers_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """A client's people come from somewhere."""
    known = {provider.name for provider in file.identity_providers}
    for at, client in enumerate(file.clients):
        for name in sorted({*client.identity_provider_restrictions} - known):
            location = ("clients", at, "identity_provider_restrictions", name)
            yield _unknown(location, name, known, "identity provider")
        if not client.enable_local_login and not known:
            message = "there is no identity provider, so nobody can sign in to this client"
            yield warning(("clients", at, "enable_local_login"), message)


def _unknown(location: Location, name: str, known: set[str], what: str) -> Finding:
    hint = nearest(name, known) or f"known: {', '.join(sorted(known)) or 'none'}"
    return Finding(location, f"there is no {what} {name}", hint)


def algorithms_have_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The service signs only by the algorithms that it keeps keys for."""
    offered = set(file.signing.algorithms)
    wanted: list[tuple[Location, str | None]] = [
        (
            ("api_resources", at, "access_token_signing_algorithm"),
            entry.access_token_signing_algorithm,
        )
        for at, entry in enumerate(file.api_resources)
    ]
    wanted += [
        (("clients", at, name), getattr(client, name))
        for at, client in enumerate(file.clients)
        for name in _SIGNED_RESPONSES
    ]
    for location, algorithm in wanted:
        if algorithm is not None and algorithm not in offered and not algorithm.startswith("HS"):
            yield Finding(location, f"{algorithm} is not one of signing.algorithms", "add it there")


def pairwise_subjects_can_be_made(file: ConfigurationFile) -> Iterator[Finding]:
    """A pairwise subject identifier needs a salt and one sector (OIDC Core §8.1)."""
    for at, client in enumerate(file.clients):
        if client.subject_type != "pairwise":
            continue
        if file.pairwise_salt is None:
            message = "pairwise needs pairwise_salt at the top of the file"
            yield Finding(("clients", at, "subject_type"), message, "openssl rand -base64 24")
        if client.sector_identifier_uri is None and len(redirect_hosts(client.redirect_uris)) > 1:
            message = "redirect_uris of several hosts need it for pairwise (OIDC Core §8.1)"
            yield Finding(("clients", at, "sector_identifier_uri"), message)
        if client.access_token_type == "jwt":
            message = "the client can read the local subject in its access tokens"
            yield warning(("clients", at, "access_token_type"), message, "set reference")
