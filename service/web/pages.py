"""How does a template become a page?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp_jinja2
import jinja2
from aiohttp import web

from service.web import display
from service.web.assets import Assets
from service.web.locales import Locales, messages_of, text_direction
from service.web.look import BUILT_IN, folders_of
from service.web.own_templates import templates_in
from service.web.page_headers import content_security_policy, page_headers

AUTO_SUBMIT = 'document.getElementById("form-post").submit()'


class Pages:
    """Everything that a person sees, in the person's language and in the operator's look."""

    def __init__(
        self,
        *,
        issuer: str,
        title: str,
        templates: Path | None,
        locales: Iterable[str],
        default_locale: str,
    ) -> None:
        folders = folders_of(templates)
        self._issuer = urlsplit(issuer)
        self._title = title
        self.further = ("https:",) if self._issuer.scheme == "https" else ("https:", "http:")
        """Where a form may lead beyond the client: its own redirects count too (CSP3 §6.4.2)."""
        self._folders = folders
        self._templates = templates
        self._assets = Assets.load(folders)
        self._locales = Locales.load(folders, tuple(locales), default_locale)
        self._environments = {
            tag: web.AppKey(f"pages.{tag}", jinja2.Environment)
            for tag in self._locales.translations
        }

    def routes(self) -> Iterable[web.RouteDef]:
        """Name the static files' URL."""
        return (web.get("/static/{name:.+}", self._assets.serve),)

    def setup(self, app: web.Application) -> None:
        """Make each language's templates ready; an operator's that does not compile stops the start."""
        for tag, key in self._environments.items():
            environment = aiohttp_jinja2.setup(
                app,
                app_key=key,
                loader=self._loader(),
                default_helpers=False,
                filters=display.times_in(tag),
                trim_blocks=True,
                lstrip_blocks=True,
                auto_reload=False,
            )
            # Jinja's globals are untyped: pyright infers the type of the defaults, mypy does not.
            environment.globals.update(self._globals(tag))  # pyright: ignore[reportArgumentType, reportCallIssue]
            for name in templates_in(self._templates) if self._templates else ():
                environment.get_template(name)

    def render(
        self,
        request: web.Request,
        template: str,
        /,
        *,
        status: int = 200,
        ui_locales: str | None = None,
        form_action: Iterable[str] = (),
        img_src: Iterable[str] = (),
        frame_src: Iterable[str] = (),
        context: Mapping[str, object],
    ) -> web.Response:
        """Answer with a page; the URIs are those that its forms lead to and that it shows or frames."""
        policy = content_security_policy(
            form_action=form_action, img_src=img_src, frame_src=frame_src
        )
        return self._respond(
            request, template, context, policy=policy, ui_locales=ui_locales, status=status
        )

    def form_post(
        self,
        request: web.Request,
        /,
        *,
        redirect_uri: str,
        fields: Mapping[str, str],
        ui_locales: str | None = None,
    ) -> web.Response:
        """Answer with a page that posts itself to the client (OAuth 2.0 Form Post Response Mode §2)."""
        form_action = (redirect_uri, *self.further)
        policy = content_security_policy(form_action=form_action, script=AUTO_SUBMIT)
        context = {"redirect_uri": redirect_uri, "fields": fields}
        return self._respond(
            request, "form_post.html", context, policy=policy, ui_locales=ui_locales
        )

    def url(self, path: str) -> str:
        """Give a path as the browser must ask for it: under the issuer's own, a static file with its hash."""
        name = path.removeprefix("/static/")
        if name in self._assets.files:
            path = self._assets.path(name)
        return self._issuer.path.rstrip("/") + path

    def _respond(
        self,
        request: web.Request,
        template: str,
        context: Mapping[str, object],
        *,
        policy: str,
        ui_locales: str | None,
        status: int = 200,
    ) -> web.Response:
        tag = self._locales.choose(ui_locales, request.headers.get("Accept-Language"))
        page = aiohttp_jinja2.render_template(
            template, request, context, app_key=self._environments[tag], status=status
        )
        secure = self._issuer.scheme == "https"
        page.headers.update(page_headers(policy=policy, language=tag, secure=secure))
        return page

    def _loader(self) -> jinja2.BaseLoader:
        """Find the operator's templates first; `builtin/` reaches ours from one that extends it."""
        ours = jinja2.PrefixLoader({"builtin": jinja2.FileSystemLoader(BUILT_IN)})
        return jinja2.ChoiceLoader([*map(jinja2.FileSystemLoader, self._folders), ours])

    def _globals(self, tag: str) -> dict[str, object]:
        translations = self._locales.translations[tag]
        return {
            "title": translations.gettext(self._title),  # the default one has a translation
            "lang": tag,
            "text_direction": text_direction(tag),
            "url": self.url,
            "has_asset": self._assets.files.__contains__,
            "is_web": _is_web,
            "auto_submit": AUTO_SUBMIT,
            "device": display.device,
            **messages_of(translations),
        }


def _is_web(uri: str) -> bool:
    return uri.startswith(("https://", "http://"))
