"""Rules on grant types and on the classes that the operator adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.config import plugins
from service.config.problem import Finding, nearest, warning
from service.config.registry import DELEGATION as DELEGATION_HANDLER
from service.config.schema.file import ConfigurationFile
from service.model.authorization import DELEGATION
from service.model.catalogue import Catalogue
from service.model.grant_types import find_meant_grant_type


def plugins_have_their_signatures(file: ConfigurationFile) -> Iterator[Finding]:
    """Handlers, the UserStore, the notifier of changed factors and the provider of credentials can be imported, and called as documented; no instance is made before the start."""
    if ":" in file.users.source:
        yield from plugins.judge_plugin(("users", "source"), file.users.source, plugins.USER_STORE)
    if file.users.notifier is not None:
        yield from plugins.judge_plugin(
            ("users", "notifier"), file.users.notifier, plugins.NOTIFIER
        )
    if file.store.credential_provider is not None:
        yield from plugins.judge_plugin(
            ("store", "credential_provider"),
            file.store.credential_provider,
            plugins.CREDENTIAL_PROVIDER,
        )
    for at, entry in enumerate(file.extension_grants):
        location = ("extension_grants", at, "handler")
        unfit = [*plugins.judge_plugin(location, entry.handler, plugins.HANDLER)]
        yield from unfit
        if not unfit and _grant_type(entry.handler) is None:
            message = "names its grant type only when it is made, so that it cannot be checked before a start"
            hint = 'name it in the class: grant_type = "urn:example:mine"'
            yield warning(location, message, hint)


def grant_types_have_one_handler(
    file: ConfigurationFile, catalogue: Catalogue
) -> Iterator[Finding]:
    """Every grant type is supported, and by one handler only."""
    taken = dict.fromkeys(catalogue.grant_types, "the service itself")
    if all(entry.handler != DELEGATION_HANDLER.handler for entry in file.extension_grants):
        taken[DELEGATION] = DELEGATION_HANDLER.handler
    served = [_grant_type(entry.handler) for entry in file.extension_grants]
    for at, (entry, grant_type) in enumerate(zip(file.extension_grants, served, strict=True)):
        if grant_type is not None and grant_type in taken:
            message = f"{grant_type} is served by {taken[grant_type]} already"
            yield Finding(("extension_grants", at, "handler"), message)
        elif grant_type is not None:
            taken[grant_type] = entry.handler
    for at, client in enumerate(file.clients) if None not in served else ():
        for name in sorted(client.allowed_grant_types - taken.keys()):
            message = f"the grant type {name} is not supported"
            hint = _hint_at_grant_type(name, taken)
            yield Finding(("clients", at, "allowed_grant_types", name), message, hint)


def _hint_at_grant_type(name: str, known: Iterable[str]) -> str:
    meant = find_meant_grant_type(name)
    if meant is not None:
        return f"did you mean {meant}?"
    return nearest(name, known) or "add its handler to extension_grants"


def delegation_is_for_apis(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a client that could exchange any user's token, even one that was issued for an API."""
    entries = [one for one in file.extension_grants if one.handler == DELEGATION_HANDLER.handler]
    if any(entry.options.get("source_scopes") for entry in entries):
        return
    apis = {resource.name for resource in file.api_resources}
    for at, client in enumerate(file.clients):
        is_api = client.api_resource is not None or client.client_id in apis
        if DELEGATION in client.allowed_grant_types and not is_api:
            message = "without source_scopes a client that is no API may exchange any user's token"
            hint = f"set api_resource, or options.source_scopes at the handler {DELEGATION_HANDLER.handler}"
            location = ("clients", at, "allowed_grant_types", DELEGATION)
            yield warning(location, message, hint)


def _grant_type(handler: str) -> str | None:
    """Return the grant type of a handler; None if the class does not name it or cannot be imported."""
    try:
        grant_type: object = getattr(plugins.load_plugin(handler), "grant_type", None)
    except plugins.PluginError:
        return None
    return grant_type if isinstance(grant_type, str) else None
