"""The servers that can be taken over; to add one: a module with such a function, and a row here."""

from __future__ import annotations

from collections.abc import Mapping

from service.takeover.dex import source as dex
from service.takeover.found import Source
from service.takeover.hydra import source as hydra
from service.takeover.identityserver import source as identityserver
from service.takeover.keycloak import realm as keycloak

SOURCES: Mapping[str, Source] = {
    "dex": dex.read,
    "hydra": hydra.read,
    "identityserver": identityserver.read,
    "keycloak": keycloak.read,
}
