"""Finds what makes the look of pages: folders of templates and styles, and logo, colours and links of each tenant."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import get_args

import msgspec
from msgspec.structs import replace

from service.config.schema.file import Ui
from service.model.registry import LiveRegistry
from service.model.tenant import Tenant
from service.model.types import LinkName

PACKAGE = Path(__file__).parents[2]
BUILT_IN = next(  # a wheel holds them in the package, a checkout beside it
    folder for folder in (PACKAGE / "templates", PACKAGE.parent / "templates") if folder.is_dir()
)
FOLDER = "tenants/"
"""Of the static files of tenants."""


def folders_of(templates: Path | None) -> tuple[Path, ...]:
    """Return the folders of templates, styles and translations, the operator's own first."""
    return (BUILT_IN,) if templates is None else (templates, BUILT_IN)


class Links(dict[LinkName, str]):
    """The operator's pages by their names; a template finds None for one that there is not."""

    def __init__(self, links: Mapping[LinkName, str]) -> None:
        super().__init__(links)
        # Jinja looks for attributes first.
        vars(self).update({name: links.get(name) for name in get_args(LinkName)})

    def __missing__(self, _: LinkName) -> None:
        return None


class Look(msgspec.Struct, frozen=True):
    context: Mapping[str, object]
    """The values that templates get: `tenant`, and its colours and links where it has some."""
    logo_uri: str | None = None


class Looks(msgspec.Struct, frozen=True):
    """Finds what a tenant's page shows, and the files for it, which a reload may change."""

    ui: Ui
    registry: LiveRegistry

    def find(self, tenant: Tenant | None) -> Look:
        if tenant is None:
            return Look({"tenant": None})
        logo = tenant.logo if isinstance(tenant.logo, str) else tenant.logo_uri
        if isinstance(tenant.logo, Path):
            logo = f"/static/{FOLDER}{tenant.name}{tenant.logo.suffix.lower()}"
        context: dict[str, object] = {"tenant": replace(tenant, logo_uri=logo)}
        if tenant.links:
            context["service_links"] = Links(self.ui.links | tenant.links)
        if tenant.accent or tenant.background:
            context["colours"] = f"{FOLDER}{tenant.name}.css"
        return Look(context, logo)

    def find_file(self, name: str) -> bytes | None:
        """Return a static file of a tenant by its path, such as tenants/acme.css."""
        if not name.startswith(FOLDER):
            return None
        stem, _, suffix = name.removeprefix(FOLDER).rpartition(".")
        tenant = self.registry.current.tenants.get(stem)
        if tenant is None:
            return None
        if suffix == "css":
            accent, background = tenant.accent or self.ui.accent, tenant.background
            return style_sheet(accent, background or self.ui.background)
        if isinstance(tenant.logo, Path) and tenant.logo.suffix.lower() == f".{suffix}":
            return self.registry.current.tenancy.logos.get(stem)
        return None


@lru_cache(maxsize=1000)
def style_sheet(accent: str | None, background: str | None) -> bytes | None:
    """Return the style sheet of these colours of CSS; None without any."""
    if accent is None and background is None:
        return None
    from service.web.pages import colours  # noqa: PLC0415 - for those who have any

    parts = [colours.style_sheet_of_accent(colours.parse_colour(accent))] if accent else []
    if background:
        parts.append(colours.style_sheet_of_background(colours.parse_colour(background)))
    return "".join(parts).encode()
