"""What a person sees whose session has ended, while frames tell its clients (OpenID Connect Front-Channel Logout §3)."""

from __future__ import annotations

from collections.abc import Collection

from aiohttp import web

from service.model.client import Client
from service.pages.pages import Pages


def logged_out_page(
    pages: Pages,
    request: web.Request,
    *,
    frames: Collection[str],
    client: Client | None = None,
    continue_uri: str | None = None,
    ui_locales: str | None = None,
) -> web.Response:
    """The page; with a URI to go on to, it goes there by itself, however long the frames take."""
    return pages.render(
        request,
        "logged_out.html",
        ui_locales=ui_locales,
        frame_src=frames,
        context={"client": client, "continue_uri": continue_uri, "frontchannel_uris": frames},
    )
