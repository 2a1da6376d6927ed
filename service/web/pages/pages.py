"""Renders templates as pages, with the headers that keep them safe (CSP3, RFC 9700 §4.16)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from aiohttp import web

from service.config.schema.file import Ui
from service.model.registry import LiveRegistry
from service.protocol.redirect_uri import FormPost
from service.web.endpoint import NO_STORE, NOSNIFF, Answer, Direct, Fields, Message, raw_query
from service.web.pages import display
from service.web.pages.assets import Assets
from service.web.pages.cookies import YEAR, Cookie, Cookies
from service.web.pages.looks import Links, Looks, folders_of, style_sheet
from service.web.pages.templates import compile_templates, render, set_up

if TYPE_CHECKING:
    from service.web.pages.locales import Language, Locales

MAX_QUERY_LENGTH = 4096
_REPEATED = frozenset({"client_id", "redirect_uri", "response_type", "request", "request_uri"})
"""The parameters by which a request is refused on a page, and not at the client."""
_HOST = re.compile(r"[a-z0-9.-]+")
AUTO_SUBMIT = 'document.getElementById("form-post").submit()'


class Pages:
    """Renders everything that a user sees, in the user's language and in the operator's look."""

    _app: web.Application
    """Where aiohttp-jinja2 keeps the templates."""

    def __init__(self, *, issuer: str, ui: Ui, cookies: Cookies, registry: LiveRegistry) -> None:
        self._prefix = urlsplit(issuer).path.rstrip("/")
        self._ui = ui
        self._cookies = cookies
        self._folders = folders_of(ui.templates)
        self.looks = Looks(ui, registry)
        self._assets = Assets.load(self._folders, _generated_assets(ui), self.looks.find_file)
        self._load_language = cache(self._load)

    def set_up(self, app: web.Application) -> None:
        """Give the application its templates; raise CannotServe if one of the operator's does not compile."""
        self._app, logo = app, self._ui.logo
        names = {
            "service_logo_uri": self.url(f"/static/{_file_name(logo)}")
            if isinstance(logo, Path)
            else logo,
            "service_links": Links(self._ui.links),
            "url": self.url,
            "has_asset": self._has_asset,
            "is_web": _is_web,
            "auto_submit": AUTO_SUBMIT,
            "device": display.device,
        }
        set_up(app, self._ui.templates, names)

    def compile(self, folder: str = "") -> None:
        """Compile the templates of a folder in every language, which the first request of a page would wait for.

        Those of the sign-in and the account take 0.2 s of processor time for each language.
        """
        for tag in self._locales.tags:
            compile_templates(self._app, folder, self._load_language(tag))

    def routes(self) -> Iterable[web.RouteDef]:
        """Return the routes of static files."""
        return (
            Direct("GET", "/static/{name:.+}", self._assets.serve).for_aiohttp(),
            Direct("GET", "/favicon.ico", self._assets.serve_icon).for_aiohttp(),
        )

    def render(
        self,
        request: Message,
        template: str,
        /,
        *,
        status: int = 200,
        ui_locales: str | None = None,
        leads_away: bool = False,
        img_src: Iterable[str] = (),
        frame_src: Iterable[str] = (),
        script: str | None = None,
        referrer_policy: str = "no-referrer",
        context: Mapping[str, object],
    ) -> Answer:
        """Answer with a page; the URIs are those that it shows or frames. `leads_away` where a form may end at another site."""
        logo = [self._ui.logo] if isinstance(self._ui.logo, str) else []
        chosen = _chosen_language(request)
        tag = self._locales.choose(
            *filter(None, (chosen, self._cookies.get(request, Cookie.LANGUAGE))),
            *(ui_locales or "").split(),
            accept_language=request.headers.get("Accept-Language"),
        )
        fields = page_fields(
            language=tag,
            leads_away=leads_away,
            img_src=_sources([*img_src, *logo]),
            frame_src=_sources(frame_src),
            script=script,
            referrer_policy=referrer_policy,
        )
        html = render(self._app, template, context, self._load_language(tag))
        page = Answer(fields, html.encode(), status)
        self.keep_language(request, page)
        return page

    def own_query(self, request: Message) -> str | None:
        """Return the query with which a refusal can be asked for in another language, which is to be appended; None after a form.

        Nothing else of the request comes back: it may hold tokens, or what users typed.
        """
        query = raw_query(request)
        if request.method == "POST" or len(query) > MAX_QUERY_LENGTH:
            return None
        kept = [one for one in query.split("&") if one.partition("=")[0] in _REPEATED]
        return "".join(["?", *[f"{one}&" for one in kept]])

    def keep_language(self, request: Message, answer: Answer) -> None:
        """Set a cookie for the language that the user has chosen; a redirect would lose it otherwise."""
        chosen = _chosen_language(request)
        if chosen and chosen in self._locales.tags:
            self._cookies.set(answer, Cookie.LANGUAGE, chosen, max_age=YEAR)

    def form_post(
        self, request: Message, delivery: FormPost, *, ui_locales: str | None = None
    ) -> Answer:
        """Answer with a page that posts itself to the client (OAuth 2.0 Form Post Response Mode §2).

        Clients that compare `Origin` see the issuer's; without a referrer it would be `null` (Fetch Standard §3.2).
        """
        return self.render(
            request,
            "form_post.html",
            ui_locales=ui_locales,
            leads_away=True,
            script=AUTO_SUBMIT,
            referrer_policy="strict-origin",
            context={"redirect_uri": delivery.redirect_uri, "fields": delivery.fields},
        )

    def url(self, path: str) -> str:
        """Return a path as the browser must ask for it: under the issuer's own, a static file with its hash."""
        if path.startswith("/static/"):
            name = path.removeprefix("/static/")
            path = path if self._assets.find(name) is None else self._assets.path(name)
        return self._prefix + path

    def _load(self, tag: str) -> Language:
        return self._locales.load(tag, self._ui.title)

    @cached_property
    def _locales(self) -> Locales:
        """The configured languages; made with the first page, because Babel takes 250 KiB."""
        from service.web.pages.locales import Locales  # noqa: PLC0415 - imports Babel

        return Locales.named(self._folders, self._ui.locales, self._ui.default_locale)

    def _has_asset(self, name: str) -> bool:
        return self._assets.find(name) is not None


def _chosen_language(request: Message) -> str | None:
    """Return the language in the query; a long query, which no page links to, is costly to parse."""
    name, query = Cookie.LANGUAGE.value, raw_query(request)
    if name not in query or len(query) > MAX_QUERY_LENGTH:
        return None
    return parse_qs(query).get(name, [None])[0]


def _generated_assets(ui: Ui) -> dict[str, bytes]:
    assets: dict[str, bytes] = {}
    if isinstance(ui.logo, Path):
        assets[_file_name(ui.logo)] = ui.logo.read_bytes()
    colours = style_sheet(ui.accent, ui.background)
    return assets if colours is None else {**assets, "colours.css": colours}


def _file_name(logo: Path) -> str:
    return f"service-logo{logo.suffix.lower()}"


def _is_web(uri: str) -> bool:
    return uri.startswith(("https://", "http://"))


@lru_cache(maxsize=1000)
def page_fields(
    *,
    language: str,
    leads_away: bool,
    img_src: tuple[str, ...],
    frame_src: tuple[str, ...],
    script: str | None,
    referrer_policy: str,
) -> Fields:
    """Return the header fields of a page that shows and frames what comes from these sources.

    It runs this one inline script, or else static files of this service. A page whose form may end at another site has no
    `form-action`, because Chromium applies it to every redirect that follows, also to those of the client, which lead to
    an app, a loopback address or another host (CSP3 §6.4.2).
    """
    directives = {
        "default-src": ["'none'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:", *img_src],
        "form-action": [] if leads_away else ["'self'"],
        "frame-src": [*frame_src],
        "script-src": ["'self'" if script is None else script_hash(script)],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
    written = [dict.fromkeys([name, *sources]) for name, sources in directives.items() if sources]
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": "; ".join(map(" ".join, written)),
        "Content-Language": language,
        "X-Frame-Options": "DENY",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": referrer_policy,
    }
    return Fields({**headers, **NO_STORE})


@cache
def frame(script: str, *, directives: str = "") -> tuple[Fields, bytes]:
    """Return the parts of a page for frames of any site, which runs this script alone; caches may keep it for an hour."""
    html = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Session</title>'
        f"<script>{script}</script></html>"
    )
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "public, max-age=3600",
        "Content-Security-Policy": f"default-src 'none'; {directives}script-src {script_hash(script)}",
        "Referrer-Policy": "no-referrer",
        NOSNIFF: "nosniff",
    }
    return Fields(headers), html.encode()


def script_hash(script: str) -> str:
    """Return the source that allows this inline script (CSP3 §2.3.1)."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _sources(uris: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({source for uri in uris if (source := _source(uri)) is not None}))


def _source(uri: str) -> str | None:
    """Return a URI's origin, or its scheme if CSP cannot write the host, as with [::1] (CSP3 §2.3.1)."""
    parts = urlsplit(uri)
    if not parts.scheme:
        return None  # a path of this service, which 'self' allows
    authority = parts.netloc.rpartition("@")[2].lower()
    host, _, port = authority.partition(":")
    if _HOST.fullmatch(host) and (port.isdecimal() or not port):
        return f"{parts.scheme}://{authority}"
    return f"{parts.scheme}:"
