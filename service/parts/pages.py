"""Builds the parts that read HTTP requests and show pages to browsers."""

from __future__ import annotations

from dataclasses import dataclass

from service.http.credentials import CredentialReader
from service.http.proxy import ClientAddress
from service.pages.cookies import Cookies
from service.pages.error_page import ErrorPages
from service.pages.login_page import LoginPage
from service.pages.pages import Pages
from service.pages.sign_in_pages import SignInPages
from service.pages.visits import Visits
from service.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """The parts that know HTTP and HTML."""

    pages: Pages
    errors: ErrorPages
    visits: Visits
    sign_in: SignInPages
    login: LoginPage
    client_address: ClientAddress
    credentials: CredentialReader


def build_pages(parts: Parts) -> PageParts:
    """Build the pages, with the cookies and the client's address that they need."""
    shared, configuration = parts.shared, parts.shared.configuration
    cookies = Cookies(
        secure=shared.issuer.startswith("https:"),
        session_name=configuration.session.cookie_name,
        same_site=configuration.session.cookie_same_site,
    )
    pages = Pages(issuer=shared.issuer, ui=configuration.ui, cookies=cookies)
    client_address = ClientAddress(
        trusted=configuration.server.trusted_proxies, header=configuration.server.forwarded_header
    )
    visits = Visits(
        cookies=cookies,
        sessions=parts.records.sessions,
        partial_sign_ins=parts.records.partial_sign_ins,
        subjects=parts.sign_in.subjects,
        client_address=client_address,
    )
    sign_in = SignInPages(flow=parts.flow, visits=visits, pages=pages)
    return PageParts(
        pages=pages,
        errors=ErrorPages(
            pages=pages,
            emit=shared.emit,
            accepted=parts.accepted_values if configuration.is_development else None,
        ),
        visits=visits,
        sign_in=sign_in,
        login=LoginPage(
            sign_in=sign_in, registry=shared.registry, lockout=configuration.limits.lockout
        ),
        client_address=client_address,
        credentials=CredentialReader(
            client_address=client_address,
            certificate_header=configuration.server.client_certificate_header,
            now=shared.now,
        ),
    )
