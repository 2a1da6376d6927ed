"""Builds the parts that read HTTP requests and show pages to browsers."""

from __future__ import annotations

from service.http.credentials import CredentialReader
from service.http.proxy import ClientAddress
from service.pages.cookies import Cookies
from service.pages.error_page import ErrorPages
from service.pages.pages import Pages
from service.pages.sign_in_pages import SignInPages
from service.pages.visits import Visits
from service.parts import Parts


class PageParts:
    """The parts that know HTTP and HTML."""

    def __init__(self, parts: Parts) -> None:
        shared, configuration = parts.shared, parts.shared.configuration
        session, server = configuration.session, configuration.server
        cookies = Cookies(
            secure=shared.issuer.startswith("https:"),
            session_name=session.cookie_name,
            same_site=session.cookie_same_site,
        )
        self.pages = Pages(issuer=shared.issuer, ui=configuration.ui, cookies=cookies)
        self.errors = ErrorPages(
            pages=self.pages,
            emit=shared.emit,
            clients=parts.clients.directory if configuration.is_development else None,
        )
        self.client_address = ClientAddress(
            trusted=server.trusted_proxies, header=server.forwarded_header
        )
        self.credentials = CredentialReader(
            client_address=self.client_address,
            certificate_header=server.client_certificate_header,
            now=shared.now,
        )
        self.visits = Visits(
            cookies=cookies,
            sessions=parts.records.sessions,
            partial_sign_ins=parts.records.partial_sign_ins,
            subjects=parts.sign_in.subjects,
            client_address=self.client_address,
        )
        self.sign_in = SignInPages(
            flow=parts.flow, visits=self.visits, pages=self.pages, errors=self.errors
        )
