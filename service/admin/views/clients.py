"""Shows clients: of the configuration, of rules of it, dynamically registered, and named by a URL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

from service.admin.views.page import Page, Paging, cut_members, cut_names, read_member
from service.admin.views.settings import SecretView, show_secrets, show_settings
from service.admin.ways.places import LatestPlaces
from service.clients.directory import Clients
from service.clients.registered_list import RegisteredList
from service.clients.secret_uses import SecretUses, owner_of
from service.clock import time_of
from service.model.client import Client
from service.model.client_metadata import RegisteredClient, selector_of
from service.model.registry import Registry
from service.store.verbs import steps

Origin = Literal[
    "configuration", "template", "workload_rule", "dynamic_registration", "metadata_document"
]


class ClientView(msgspec.Struct, frozen=True, kw_only=True):
    """A client with the settings that are in force."""

    client_id: str
    name: str
    enabled: bool
    origin: Origin
    place: str | None
    """File and line of its entry, or of the template of the rule that makes it."""
    registered_at: datetime | None = None
    expires_at: datetime | None = None
    """When a registration ends; None where it does not."""
    settings: dict[str, object]
    secrets: tuple[SecretView, ...]


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    client: Client
    origin: Origin
    place: str | None = None
    record: RegisteredClient | None = None


class ClientViews(msgspec.Struct, frozen=True, kw_only=True):
    clients: Clients
    listed: RegisteredList
    uses: SecretUses
    places: LatestPlaces

    async def list_clients(self, paging: Paging) -> Page[ClientView]:
        """Return a page of the configured clients, templates among them, by their ids."""
        registry = self.clients.registry.current
        names, following = cut_names(registry.clients, paging)
        found = [self._find_entry(registry, name) for name in names]
        return Page(items=await self._show(found), next=following)

    async def find_client(self, client_id: str) -> ClientView | None:
        """Return a client of any origin; None if it is unknown."""
        registry = self.clients.registry.current
        if client_id in registry.clients:
            found = self._find_entry(registry, client_id)
        else:
            elsewhere = await self._find_elsewhere(client_id, registry)
            if elsewhere is None:
                return None
            found = elsewhere
        (view,) = await self._show([found])
        return view

    async def list_registered(self, paging: Paging) -> Page[ClientView]:
        """Return a page of the clients that registered themselves, those first that expire last."""
        if self.clients.registered is None:
            return Page(items=())
        after = read_member(paging, lambda name: selector_of(name) is not None)
        members = await self.listed.find_page(after, count=paging.limit + 1)
        shown, following = cut_members(members, paging)
        found: list[_Found] = []
        for some in steps([one.name for one in shown]):
            found += [
                _Found(client=client, origin="dynamic_registration", record=record)
                for record, client in await self.clients.registered.find_all(some)
            ]
        return Page(items=await self._show(found), next=following)

    def _find_entry(self, registry: Registry, client_id: str) -> _Found:
        client = registry.clients[client_id]
        origin: Origin = "template" if client.template else "configuration"
        return _Found(
            client=client, origin=origin, place=self.places.find(registry).client(client_id)
        )

    async def _find_elsewhere(self, client_id: str, registry: Registry) -> _Found | None:
        registered = self.clients.registered
        if registered is not None and selector_of(client_id) is not None:
            found = next(iter(await registered.find_all([client_id])), None)
            if found is None:
                return None
            return _Found(client=found[1], origin="dynamic_registration", record=found[0])
        client = await self.clients.find(client_id)
        if client is None or client is registry.console_client:
            return None
        template = registry.find_template(client_id)
        if template is None:
            return _Found(client=client, origin="metadata_document")
        place = self.places.find(registry).client(template)
        return _Found(client=client, origin="workload_rule", place=place)

    async def _show(self, found: Sequence[_Found]) -> tuple[ClientView, ...]:
        """Return the views; a page of large clients is made in steps."""
        secrets = [(owner_of(one.client), one.client.client_secrets) for one in found]
        last_used = await self.uses.find_days(secrets)
        views: list[ClientView] = []
        for some in steps(list(zip(found, last_used, strict=True))):
            await asyncio.sleep(0)
            for one, days in some:
                record, client = one.record, one.client
                ends = None if record is None else record.expires_at
                view = ClientView(
                    client_id=client.client_id,
                    name=client.display_name,
                    enabled=client.enabled,
                    origin=one.origin,
                    place=one.place,
                    registered_at=None if record is None else time_of(record.issued_at),
                    expires_at=None if ends is None else time_of(ends),
                    settings=show_settings(client),
                    secrets=show_secrets(client.client_secrets, days),
                )
                views.append(view)
        return tuple(views)
