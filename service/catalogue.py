"""Derives the catalogue of supported names from the lists of the implementations."""

from __future__ import annotations

from service.authorize.response_modes import RESPONSE_MODE_NAMES
from service.client_auth import CLIENT_AUTH_METHODS
from service.grants import BUILTIN_GRANTS
from service.model.catalogue import Catalogue

_BY_AUTHORIZE = frozenset({"implicit"})
"""The authorize endpoint issues these tokens; there is no handler at the token endpoint."""


def builtin_catalogue() -> Catalogue:
    """Return what this version supports."""
    registrable = {name for name, grant in BUILTIN_GRANTS.items() if grant.is_registrable}
    return Catalogue(
        grant_types=_BY_AUTHORIZE | BUILTIN_GRANTS.keys(),
        registrable_grant_types=_BY_AUTHORIZE | registrable,
        client_auth_methods={
            name: method.credential for name, method in CLIENT_AUTH_METHODS.items()
        },
        response_modes=RESPONSE_MODE_NAMES,
    )
