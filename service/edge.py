"""What stands between the parts and HTTP: pages, cookies, addresses."""

from __future__ import annotations

from functools import cached_property

from service.parts import Parts
from service.web.cookies import Cookies
from service.web.draining import Draining
from service.web.error_page import ErrorPages
from service.web.login_page import LoginPage
from service.web.pages import Pages
from service.web.proxy import ClientAddress
from service.web.sign_in_pages import SignInPages
from service.web.visits import Visits


class Edge:
    """Each property is made the first time it is read, as in `Parts`."""

    def __init__(self, parts: Parts) -> None:
        """Take the parts that know nothing of HTTP."""
        self.parts = parts

    @cached_property
    def pages(self) -> Pages:
        ui = self.parts.configuration.ui
        return Pages(
            issuer=self.parts.issuer,
            title=ui.title,
            templates=ui.templates,
            locales=ui.locales,
            default_locale=ui.default_locale,
        )

    @cached_property
    def errors(self) -> ErrorPages:
        return ErrorPages(pages=self.pages, emit=self.parts.emit)

    @cached_property
    def visits(self) -> Visits:
        session = self.parts.configuration.session
        cookies = Cookies(
            secure=self.parts.issuer.startswith("https:"),
            session_name=session.cookie_name,
            same_site=session.cookie_same_site,
        )
        return Visits(cookies=cookies, sessions=self.parts.sessions, subjects=self.parts.subjects)

    @cached_property
    def sign_in_pages(self) -> SignInPages:
        return SignInPages(flow=self.parts.flow, visits=self.visits, pages=self.pages)

    @cached_property
    def login_page(self) -> LoginPage:
        return LoginPage(sign_in=self.sign_in_pages, registry=self.parts.registry)

    @cached_property
    def client_address(self) -> ClientAddress:
        return ClientAddress(self.parts.configuration.server.trusted_proxies)

    @cached_property
    def draining(self) -> Draining:
        return Draining()
