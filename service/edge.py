"""What stands between the parts and HTTP: pages, cookies, addresses."""

from __future__ import annotations

from functools import cached_property

from service.http.draining import Draining
from service.http.proxy import ClientAddress
from service.pages.cookies import Cookies
from service.pages.error_page import ErrorPages
from service.pages.login_page import LoginPage
from service.pages.pages import Pages
from service.pages.sign_in_pages import SignInPages
from service.pages.visits import Visits
from service.parts import Parts


class Edge:
    """Each property is made the first time it is read, as in `Parts`."""

    def __init__(self, parts: Parts) -> None:
        """Take the parts that know nothing of HTTP."""
        self.parts = parts

    @cached_property
    def pages(self) -> Pages:
        ui = self.parts.configuration.ui
        return Pages(issuer=self.parts.issuer, ui=ui, cookies=self.cookies)

    @cached_property
    def cookies(self) -> Cookies:
        session = self.parts.configuration.session
        return Cookies(
            secure=self.parts.issuer.startswith("https:"),
            session_name=session.cookie_name,
            same_site=session.cookie_same_site,
        )

    @cached_property
    def errors(self) -> ErrorPages:
        parts = self.parts
        return ErrorPages(
            pages=self.pages,
            emit=parts.emit,
            accepted=parts.accepted_values if parts.configuration.is_development else None,
        )

    @cached_property
    def visits(self) -> Visits:
        return Visits(
            cookies=self.cookies,
            sessions=self.parts.sessions,
            subjects=self.parts.subjects,
            client_address=self.client_address,
        )

    @cached_property
    def sign_in_pages(self) -> SignInPages:
        return SignInPages(flow=self.parts.flow, visits=self.visits, pages=self.pages)

    @cached_property
    def login_page(self) -> LoginPage:
        return LoginPage(
            sign_in=self.sign_in_pages,
            registry=self.parts.registry,
            lockout=self.parts.configuration.limits.lockout,
        )

    @cached_property
    def client_address(self) -> ClientAddress:
        server = self.parts.configuration.server
        return ClientAddress(trusted=server.trusted_proxies, header=server.forwarded_header)

    @cached_property
    def draining(self) -> Draining:
        return Draining()
