"""Handlers of further grant types, as an operator registers them (RFC 6749 §4.5)."""

from __future__ import annotations

import msgspec

from service.model import types


class ExtensionGrantRegistration(msgspec.Struct, frozen=True, kw_only=True):
    """A handler of a further grant type (RFC 6749 §4.5)."""

    handler: types.PluginName
    """The handler's import path, or its name in the entry point group token_service.grants."""
    timeout: types.Timeout = 10
    """The longest time for one request; a request that takes longer is refused."""
    options: dict[str, object] = msgspec.field(default_factory=dict)
    """The first argument of the handler's class."""
