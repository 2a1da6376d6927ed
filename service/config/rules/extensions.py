"""Rules on grant types and on the classes that the operator adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.config.plugins import (
    PluginError,
    WrongSignature,
    load_plugin,
    require_handler_factory,
    require_user_store_factory,
)
from service.config.problem import Finding, Location, warning
from service.config.registry import DELEGATION as DELEGATION_HANDLER
from service.config.rules.supported import GRANT_TYPES
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import nearest
from service.model.authorization import DELEGATION
from service.model.catalogue import Catalogue

_ON_PATH = "install its package, or set PYTHONPATH to the folder that holds it"


def handlers_have_their_shape(file: ConfigurationFile) -> Iterator[Finding]:
    """Every handler can be imported, and is what a grant can be made of; it is not made, for it may reach for others."""
    for at, entry in enumerate(file.extension_grants):
        location = ("extension_grants", at, "handler")
        unfit = _unfit(location, entry.handler, require_handler_factory)
        if unfit is not None:
            yield unfit
        elif _grant_type(entry.handler) is None:
            message = (
                "names its grant type only when it is made; before a start nothing is known of it"
            )
            hint = 'name it in the class: grant_type = "urn:example:mine"'
            yield warning(location, message, hint)


def grant_types_have_one_handler(
    file: ConfigurationFile, catalogue: Catalogue
) -> Iterator[Finding]:
    """Every grant type is known, and no two handlers serve the same one."""
    taken = dict.fromkeys({*catalogue.grant_types, *GRANT_TYPES}, "the service itself")
    if all(entry.handler != DELEGATION_HANDLER.handler for entry in file.extension_grants):
        taken[DELEGATION] = DELEGATION_HANDLER.handler
    served = [_grant_type(entry.handler) for entry in file.extension_grants]
    for at, (entry, grant_type) in enumerate(zip(file.extension_grants, served, strict=True)):
        if grant_type is not None and grant_type in taken:
            message = f"{grant_type} is served by {taken[grant_type]} already"
            yield Finding(("extension_grants", at, "handler"), message)
        elif grant_type is not None:
            taken[grant_type] = entry.handler
    if None not in served:
        yield from _unknown_grant_types(file, set(taken))


def delegation_is_for_apis(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a client that could exchange the token of every user, for whichever API it was issued."""
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
    """The grant type of a handler; None where it cannot be had, or where only an instance knows it."""
    try:
        grant_type: object = getattr(load_plugin(handler), "grant_type", None)
    except PluginError:
        return None
    return grant_type if isinstance(grant_type, str) else None


def _unknown_grant_types(file: ConfigurationFile, known: set[str]) -> Iterator[Finding]:
    for at, client in enumerate(file.clients):
        for name in sorted(client.allowed_grant_types - known):
            message = f"the grant type {name} is not supported"
            hint = nearest(name, known) or "add its handler to extension_grants"
            yield Finding(("clients", at, "allowed_grant_types", name), message, hint)


def user_store_has_its_shape(file: ConfigurationFile) -> Iterator[Finding]:
    """The operator's own UserStore is there, and has what a store must have."""
    if file.users.source == "file":
        return
    unfit = _unfit(("users", "source"), file.users.source, require_user_store_factory)
    if unfit is not None:
        yield unfit


def _unfit(location: Location, name: str, require: Callable[[object], None]) -> Finding | None:
    """Why what the operator named cannot be imported, or has another shape than is required."""
    try:
        require(load_plugin(name))
    except PluginError as error:
        is_missing = isinstance(error.__cause__, ModuleNotFoundError)
        return Finding(location, str(error), _ON_PATH if is_missing else None)
    except WrongSignature as error:
        return Finding(location, str(error), error.hint)
    return None


RULES = (handlers_have_their_shape, delegation_is_for_apis, user_store_has_its_shape)
