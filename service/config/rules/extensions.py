"""Rules on grant types and on the classes that the operator adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.config.plugins import PluginError, load_plugin
from service.config.problem import Finding
from service.config.registry import DELEGATION
from service.config.schema.file import ConfigurationFile
from service.config.schema_findings import nearest

STANDARD_GRANT_TYPES = frozenset(
    {
        "authorization_code",
        "client_credentials",
        "implicit",
        "password",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        "urn:openid:params:grant-type:ciba",
    }
)
DELEGATION_GRANT_TYPE = "delegation"


def grant_types_have_one_handler(file: ConfigurationFile) -> Iterator[Finding]:
    """Every handler can be imported, every grant type is known, and no two handlers serve the same one."""
    handlers = _handlers(file)
    taken = dict.fromkeys(STANDARD_GRANT_TYPES, "the service itself")
    if all(entry.handler != DELEGATION.handler for entry in file.extension_grants):
        taken[DELEGATION_GRANT_TYPE] = DELEGATION.handler
    for at, entry in enumerate(file.extension_grants):
        location = ("extension_grants", at, "handler")
        grant_type = handlers[entry.handler]
        if isinstance(grant_type, PluginError):
            yield Finding(location, str(grant_type))
        elif isinstance(grant_type, str) and grant_type in taken:
            yield Finding(location, f"{grant_type} is served by {taken[grant_type]} already")
        elif isinstance(grant_type, str):
            taken[grant_type] = entry.handler
    if all(isinstance(grant_type, str) for grant_type in handlers.values()):
        yield from _unknown_grant_types(file, set(taken))


def _handlers(file: ConfigurationFile) -> Mapping[str, object]:
    """The grant type of each handler, or why it cannot be had; None where only an instance knows it."""
    handlers: dict[str, object] = {}
    for entry in file.extension_grants:
        try:
            handlers[entry.handler] = getattr(load_plugin(entry.handler), "grant_type", None)
        except PluginError as error:
            handlers[entry.handler] = error
    return handlers


def _unknown_grant_types(file: ConfigurationFile, known: set[str]) -> Iterator[Finding]:
    for at, client in enumerate(file.clients):
        for name in sorted(client.allowed_grant_types - known):
            message = f"there is no grant type {name}"
            hint = nearest(name, known) or "add its handler to extension_grants"
            yield Finding(("clients", at, "allowed_grant_types", name), message, hint)


def user_store_can_be_imported(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own UserStore is there."""
    if file.users.source == "file":
        return
    try:
        load_plugin(file.users.source)
    except PluginError as error:
        yield Finding(("users", "source"), str(error))
