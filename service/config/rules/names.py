"""Rules on names: each stands once, and a scope value is one kind of thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from service.config.problem import Finding, Location, warning
from service.config.registry import IDENTITY_RESOURCES
from service.config.schema.file import ConfigurationFile
from service.model.user import LOCAL, fold_username
from service.protocol.scope import OFFLINE_ACCESS


def names_stand_once(file: ConfigurationFile) -> Iterator[Finding]:
    """Nothing is registered twice under one name."""
    yield from _repeated(("clients",), "client_id", (client.client_id for client in file.clients))
    for section in (
        "api_resources",
        "api_scopes",
        "identity_resources",
        "identity_providers",
        "tenants",
    ):
        yield from _repeated((section,), "name", (entry.name for entry in getattr(file, section)))
    contexts = (context.acr for context in file.authentication_contexts)
    yield from _repeated(("authentication_contexts",), "acr", contexts)
    users = ("users", "list")
    yield from _repeated(users, "sub", (user.sub for user in file.users.list))
    yield from _repeated(
        users, "username", (fold_username(user.username) for user in file.users.list)
    )


def _repeated(section: tuple[str, ...], key: str, names: Iterable[str]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for at, name in enumerate(names):
        if name in first:
            yield Finding(
                (*section, at, key),
                f"{name} is registered twice",
                "give each its own, or remove one",
                first=(*section, first[name], key),
            )
        first.setdefault(name, at)


def no_provider_is_called_local(file: ConfigurationFile) -> Iterator[Finding]:
    """`idp: local` stands for this service's own users: a provider of that name could pass for it."""
    for at, provider in enumerate(file.identity_providers):
        if provider.name == LOCAL:
            message = "local is what the idp claim calls the users of this service itself"
            yield Finding(("identity_providers", at, "name"), message, "take another name")


def scopes_are_of_one_kind(file: ConfigurationFile) -> Iterator[Finding]:
    """A scope value stands either for an API or for claims of the user, and offline_access for neither."""
    identity = {*IDENTITY_RESOURCES, *(entry.name for entry in file.identity_resources)}
    for at, scope in enumerate(file.api_scopes):
        yield from _clash(("api_scopes", at, "name"), scope.name, identity)
    for at, resource in enumerate(file.api_resources):
        if resource.scopes is None:
            yield from _clash(("api_resources", at, "name"), resource.name, identity)
        for name in resource.scopes or ():
            yield from _clash(("api_resources", at, "scopes", name), name, identity)
    for at, entry in enumerate(file.identity_resources):
        yield from _clash(("identity_resources", at, "name"), entry.name, set())


def _clash(location: tuple[str | int, ...], name: str, identity: set[str]) -> Iterator[Finding]:
    if name == OFFLINE_ACCESS:
        yield Finding(
            location, "offline_access asks for refresh tokens (OIDC Core §11)", "take another name"
        )
    elif name in identity:
        yield Finding(location, f"{name} is an identity resource already", "take another name")


def described_scopes_belong_to_an_api(file: ConfigurationFile) -> Iterator[Finding]:
    """A scope value that no API understands leads to tokens for nobody."""
    understood = api_scope_names(file)
    for at, entry in enumerate(file.api_scopes):
        if entry.name not in understood:
            message = "no API resource has this scope, so a token with it is for nobody"
            hint = "add it to the scopes of an API resource"
            yield warning(("api_scopes", at, "name"), message, hint)


def scopes_belong_to_one_api(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a scope value of two APIs: a token with it is addressed to both (RFC 9068 §3)."""
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


def api_scope_names(file: ConfigurationFile) -> set[str]:
    """Every scope value that some API understands."""
    return {
        name
        for resource in file.api_resources
        for name in ({resource.name} if resource.scopes is None else resource.scopes)
    }
