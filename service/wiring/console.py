"""Builds the admin console, whose pages and cookies are those of `admin.url`, and not of the issuer."""

from __future__ import annotations

from msgspec.structs import replace

from service.admin.acting import Acting
from service.admin.console.changes import CHANGES, Confirmation
from service.admin.console.operators import Operators
from service.admin.console.pages import Console, Health
from service.admin.console.registry_pages import RegistryPages
from service.admin.console.sign_in import ConsoleSignIn
from service.admin.console.user_pages import UserPages
from service.admin.console.visits import ConsoleVisits
from service.admin.reading import Views
from service.config.schema.file import Ui
from service.grants.authorization_code import AuthorizationCodeGrant
from service.web.pages.pages import Pages
from service.wiring.features import Features
from service.wiring.serving import build_cookies

LANGUAGE = "en"


def build_console(
    features: Features, url: str, views: Views, acting: Acting, health: Health
) -> Console:
    """Build the pages, and the reader of the operators' sessions."""
    shared = features.shared
    session = replace(shared.configuration.session, cookie_name="console", cookie_same_site="lax")
    cookies = build_cookies(url, session)
    visits = ConsoleVisits(
        sign_in=ConsoleSignIn(
            issuer=shared.issuer,
            registry=shared.registry,
            codes=AuthorizationCodeGrant(shared.registry, features.revocation),
        ),
        operators=Operators(
            stores=shared.stores,
            sessions=shared.sessions,
            users=shared.users,
            registry=shared.registry,
        ),
        registry=shared.registry,
        cookies=cookies,
        pages=Pages(
            issuer=url,
            ui=_look(shared.configuration.ui),
            cookies=cookies,
            registry=shared.registry,
        ),
        done_texts={name: change.done for name, change in CHANGES.items()},
        emit=shared.emit,
    )
    return Console(
        issuer=shared.issuer,
        visits=visits,
        views=views,
        health=health,
        memory=shared.store_memory,
        registry_pages=RegistryPages(visits=visits, views=views, registry=shared.registry),
        user_pages=UserPages(visits=visits, views=views.users),
        confirmation=Confirmation(visits=visits, views=views.users, acting=acting),
    )


def _look(ui: Ui) -> Ui:
    """Return the look of the console: the built-in templates, with the operator's accent."""
    english = {"locales": (LANGUAGE,), "default_locale": LANGUAGE}
    return replace(ui, templates=None, logo=None, background=None, links={}, **english)
