"""Rules on names: each is registered once and refers to something that is registered (RFC 9068 §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from service.config.problem import Finding, Location, warning
from service.config.rules.registered_client import SIGNED_HERE
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import nearest
from service.model.resources import IDENTITY_RESOURCES
from service.model.user import LOCAL, fold_username
from service.protocol.redirect_uri import redirect_hosts
from service.protocol.scope import OFFLINE_ACCESS

_NAMED = (
    (("clients",), "client_id"),
    (("api_resources",), "name"),
    (("api_scopes",), "name"),
    (("identity_resources",), "name"),
    (("identity_providers",), "name"),
    (("tenants",), "name"),
    (("authentication_contexts",), "acr"),
    (("users", "list"), "sub"),
    (("users", "list"), "username"),
)
"""Each list with the key that tells its entries apart."""


def api_scope_names(file: ConfigurationFile) -> set[str]:
    """Return every scope value that some API understands."""
    return {
        name
        for resource in file.api_resources
        for name in ({resource.name} if resource.scopes is None else resource.scopes)
    }


def names_are_registered_once(file: ConfigurationFile) -> Iterator[Finding]:
    """No list has two entries of one name."""
    for section, key in _NAMED:
        entries: Iterable[object] = file.users.list if len(section) > 1 else getattr(file, *section)
        first: dict[str, int] = {}
        for at, entry in enumerate(entries):
            name: str = getattr(entry, key)
            name = fold_username(name) if key == "username" else name
            if name in first:
                yield Finding(
                    (*section, at, key),
                    f"{name} is registered twice",
                    "give each its own, or remove one",
                    first=(*section, first[name], key),
                )
            first.setdefault(name, at)


def no_provider_is_called_local(file: ConfigurationFile) -> Iterator[Finding]:
    """A provider named local would pass for this service's own users in the `idp` claim."""
    for at, provider in enumerate(file.identity_providers):
        if provider.name == LOCAL:
            message = "local is the idp claim of the users of this service itself"
            yield Finding(("identity_providers", at, "name"), message, "take another name")


def scopes_are_of_one_kind(file: ConfigurationFile) -> Iterator[Finding]:
    """A scope value is for an API or for claims of the user, and offline_access for neither (OIDC Core §11)."""
    identity = {*IDENTITY_RESOURCES, *(entry.name for entry in file.identity_resources)}
    named: list[tuple[Location, str]] = [
        (("api_scopes", at, "name"), scope.name) for at, scope in enumerate(file.api_scopes)
    ]
    for at, resource in enumerate(file.api_resources):
        if resource.scopes is None:
            named.append((("api_resources", at, "name"), resource.name))
        named += [(("api_resources", at, "scopes", name), name) for name in resource.scopes or ()]
    for location, name in named:
        if name in identity:
            message = f"{name} is an identity resource already"
            yield Finding(location, message, "take another name")
    named += [
        (("identity_resources", at, "name"), entry.name)
        for at, entry in enumerate(file.identity_resources)
    ]
    for location, name in named:
        if name == OFFLINE_ACCESS:
            message = "offline_access asks for refresh tokens (OIDC Core §11)"
            yield Finding(location, message, "take another name")


def described_scopes_belong_to_an_api(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a scope value that no API understands."""
    understood = api_scope_names(file)
    for at, entry in enumerate(file.api_scopes):
        if entry.name not in understood:
            message = "no API resource has this scope, so no API accepts a token with it"
            hint = "add it to the scopes of an API resource"
            yield warning(("api_scopes", at, "name"), message, hint)


def scopes_belong_to_one_api(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a scope value of two APIs, because a token with it is addressed to both (RFC 9068 §3)."""
    owners: dict[str, tuple[Location, str]] = {}
    for at, resource in enumerate(file.api_resources):
        location: Location = ("api_resources", at)
        for name in sorted({resource.name} if resource.scopes is None else resource.scopes):
            here = (*location, "name") if resource.scopes is None else (*location, "scopes", name)
            if name in owners:
                first, owner = owners[name]
                message = f"{name} is a scope of {owner} too, so a token with it is for both APIs"
                found = warning(here, message, "give each API scopes of its own")
                yield replace(found, first=first)
            owners.setdefault(name, (here, resource.name))


def references_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """Scopes, API resources and identity providers that are referred to are registered."""
    described = (*file.identity_resources, *file.api_scopes)
    scopes = {*IDENTITY_RESOURCES, *(one.name for one in described), OFFLINE_ACCESS}
    scopes |= api_scope_names(file)
    resources = {resource.name for resource in file.api_resources}
    providers = {provider.name for provider in file.identity_providers}
    for at, client in enumerate(file.clients):
        own = frozenset([client.api_resource] if client.api_resource else [])
        restrictions = frozenset(client.identity_provider_restrictions)
        for key, names, known, what in (
            ("allowed_scopes", client.allowed_scopes, scopes, "scope"),
            ("api_resource", own, resources, "API resource"),
            ("identity_provider_restrictions", restrictions, providers, "identity provider"),
        ):
            for name in sorted(names - known):
                within = () if key == "api_resource" else (name,)
                yield _report_unknown(("clients", at, key, *within), name, known, what)
        if not client.enable_local_login and not providers:
            message = "there is no identity provider, so nobody can sign in to this client"
            yield warning(("clients", at, "enable_local_login"), message)
    for name in sorted(file.registration.allowed_scopes - scopes):
        yield _report_unknown(("registration", "allowed_scopes", name), name, scopes, "scope")


def _report_unknown(location: Location, name: str, known: set[str], what: str) -> Finding:
    hint = nearest(name, known) or f"known: {', '.join(sorted(known)) or 'none'}"
    return Finding(location, f"there is no {what} {name}", hint)


def algorithms_have_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The service keeps keys for every algorithm that it is to sign by."""
    wanted: list[tuple[Location, str | None]] = [
        (("api_resources", at, key), getattr(entry, key))
        for key in ("access_token_signing_algorithm",)
        for at, entry in enumerate(file.api_resources)
    ]
    wanted += [
        (("clients", at, key), getattr(client, key))
        for at, client in enumerate(file.clients)
        for key in SIGNED_HERE
    ]
    for location, alg in wanted:
        if alg is not None and alg not in file.signing.algorithms and not alg.startswith("HS"):
            yield Finding(location, f"{alg} is not one of signing.algorithms", "add it there")


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


RULES = (
    names_are_registered_once,
    no_provider_is_called_local,
    scopes_are_of_one_kind,
    described_scopes_belong_to_an_api,
    scopes_belong_to_one_api,
    references_are_registered,
    algorithms_have_keys,
    pairwise_subjects_can_be_made,
)
