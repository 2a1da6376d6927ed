"""Shows API resources."""

from __future__ import annotations

import msgspec

from service.admin.views.page import Page, Paging, cut_names
from service.admin.views.settings import SecretView, show_secrets, show_settings
from service.admin.ways.places import LatestPlaces
from service.clients.secret_uses import SecretUses, owner_of
from service.model.registry import LiveRegistry


class ApiView(msgspec.Struct, frozen=True, kw_only=True):
    """An API resource with the settings that are in force."""

    name: str
    url: str | None
    place: str | None
    """File and line of its entry; None for the admin API, which the section `admin` makes."""
    settings: dict[str, object]
    secrets: tuple[SecretView, ...]


class ApiViews(msgspec.Struct, frozen=True, kw_only=True):
    registry: LiveRegistry
    uses: SecretUses
    places: LatestPlaces

    async def list_apis(self, paging: Paging) -> Page[ApiView]:
        """Return a page of the API resources, by their names."""
        names, following = cut_names(self.registry.current.api_resources, paging)
        return Page(items=await self._show(*names), next=following)

    async def find_api(self, name: str) -> ApiView | None:
        """Return the API resource of this name, or with this URL; None if it is unknown."""
        api = self.registry.current.find_api(name)
        return None if api is None else (await self._show(api.name))[0]

    async def _show(self, *names: str) -> tuple[ApiView, ...]:
        registry = self.registry.current
        apis = [registry.apis_by_identifier[name] for name in names]
        last_used = await self.uses.find_days([(owner_of(api), api.secrets) for api in apis])
        return tuple(
            ApiView(
                name=api.name,
                url=api.url,
                place=self.places.find(registry).api(api.name),
                settings=show_settings(api),
                secrets=show_secrets(api.secrets, days),
            )
            for api, days in zip(apis, last_used, strict=True)
        )
