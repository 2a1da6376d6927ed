"""A person with a browser that has no JavaScript: cookies, forms, redirects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

from aiohttp import ClientSession, CookieJar
from yarl import URL


@dataclass
class Form:
    """A form of a page: where it goes, and its fields as they stand."""

    action: str = ""
    id: str | None = None
    fields: list[tuple[str, str]] = field(default_factory=list)


_EMPTY = {"input", "img", "meta", "link", "br", "path", "circle", "rect"}
"""Elements that hold no text and are not closed."""


class _Reader(HTMLParser):
    """Collects forms, ids and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.elements: dict[str, dict[str, str | None]] = {}
        self.links: dict[str, str] = {}
        self.hrefs: list[str] = []
        self.texts: dict[str, str] = {}
        self.boxes: dict[str, dict[str, str | None]] = {}
        self.lang: str | None = None
        self._open: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "html":
            self.lang = known.get("lang")
        if (name := known.get("id")) is not None:
            self.elements[name] = known
            self.texts[name] = ""
        if tag == "form":
            self.forms.append(Form(action=known.get("action") or "", id=name))
        if tag == "a":
            self._link(known)
        if tag == "input" and known.get("name") == "scope":
            self.boxes[known.get("value") or ""] = known
        if tag == "input" and self.forms and known.get("name"):
            self._field(known)
        if tag not in _EMPTY:
            self._open.append((tag, name))

    def _link(self, known: dict[str, str | None]) -> None:
        self.hrefs.append(known.get("href") or "")
        if (idp := known.get("data-idp")) is not None:
            self.links[idp] = known.get("href") or ""

    def _field(self, known: dict[str, str | None]) -> None:
        ticked = known.get("type") != "checkbox" or "checked" in known
        if ticked and "disabled" not in known:
            self.forms[-1].fields.append((known["name"] or "", known.get("value") or ""))

    def handle_endtag(self, tag: str) -> None:
        while tag not in _EMPTY and self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        for _, name in self._open:
            if name is not None:
                self.texts[name] += data


@dataclass
class Page:
    """The page in the browser, or the URL outside this service that it was sent to."""

    url: str
    status: int
    headers: Any
    text: str

    @cached_property
    def _reader(self) -> _Reader:
        """The page as it is parsed, which most tests need of few pages only."""
        reader = _Reader()
        reader.feed(self.text)
        return reader

    @property
    def forms(self) -> list[Form]:
        """The page's forms."""
        return self._reader.forms

    @property
    def lang(self) -> str | None:
        """The page's language."""
        return self._reader.lang

    @property
    def provider_links(self) -> dict[str, str]:
        """The targets of `a[data-idp]`, by provider."""
        return self._reader.links

    @property
    def links(self) -> list[str]:
        """The targets of all links."""
        return self._reader.hrefs

    @property
    def leads_out(self) -> bool:
        """Whether a link leads to more than this page in another language."""
        return any(not target.startswith("?") for target in self.links)

    @property
    def content(self) -> str:
        """The text of the page above its footer, which repeats the query to link other languages."""
        return self.text.partition('<footer class="service">')[0]

    @property
    def boxes(self) -> dict[str, dict[str, str | None]]:
        """The attributes of the scope boxes, by scope value."""
        return self._reader.boxes

    def has(self, element_id: str) -> bool:
        """Whether there is an element with this id."""
        return element_id in self._reader.elements

    def element(self, element_id: str) -> dict[str, str | None]:
        """The attributes of an element."""
        return self._reader.elements[element_id]

    def text_of(self, element_id: str) -> str:
        """The text of an element."""
        return " ".join(self._reader.texts[element_id].split())

    @property
    def path(self) -> str:
        """The path that the browser is at."""
        return urlsplit(self.url).path

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the response: in the query, the fragment, or the posting form."""
        form = next((form for form in self.forms if form.id == "form-post"), None)
        if form is not None:
            return dict(form.fields)
        parts = urlsplit(self.url)
        return {name: value[0] for name, value in parse_qs(parts.fragment or parts.query).items()}

    @property
    def error(self) -> str | None:
        """The error that the client got, or that the error page shows."""
        if self.has("error"):
            return self.text_of("error")
        return self.parameters.get("error")


class Browser:
    """Follows redirects within the service, and to what is `also` its own, and stops where they lead elsewhere."""

    def __init__(self, issuer: str, *, also: str | None = None, **session: Any) -> None:
        self.issuer = issuer
        self.sites: tuple[str, ...] = (issuer, also or issuer)
        # An https issuer stands behind plain http here, as behind a proxy: its cookies are Secure.
        jar = CookieJar(unsafe=True, treat_as_secure_origin=URL(issuer))
        self.session = ClientSession(cookie_jar=jar, **session)

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies that it holds, by their names without the port of the issuer."""
        suffix = self._suffix
        return {each.key.removesuffix(suffix): each.value for each in self.session.cookie_jar}

    @property
    def cookie_header(self) -> str:
        """The Cookie header that it sends."""
        return "; ".join(f"{each.key}={each.value}" for each in self.session.cookie_jar)

    @property
    def _suffix(self) -> str:
        """The suffix of cookie names on loopback, where all ports share cookies."""
        issuer = URL(self.issuer)
        is_on_loopback = issuer.host in {"localhost", "127.0.0.1", "::1"}
        return f"_{issuer.explicit_port}" if is_on_loopback and issuer.explicit_port else ""

    def put_cookies(self, cookies: Mapping[str, str]) -> None:
        """Hold these, by such names."""
        named = {f"{name}{self._suffix}": value for name, value in cookies.items()}
        self.session.cookie_jar.update_cookies(named, URL(self.issuer))

    def forget_cookies(self) -> None:
        """As when it is closed, or is another one."""
        self.session.cookie_jar.clear()

    async def close(self) -> None:
        """Forget everything."""
        await self.session.close()

    async def get(self, url: str, **options: Any) -> Page:
        """Go there, and on from there."""
        return await self._go("GET", url, **options)

    async def post(self, url: str, data: Any = None, **options: Any) -> Page:
        """Post a form there."""
        return await self._go("POST", url, data=data, **options)

    async def request(self, method: str, url: str, **options: Any) -> Page:
        """Send any request there."""
        return await self._go(method, url, **options)

    async def submit(self, page: Page, form: int = 0, **fields: str | list[str] | None) -> Page:
        """Send a form of the page with some fields filled in; None leaves one out."""
        chosen = page.forms[form]
        pairs = [(name, value) for name, value in chosen.fields if name not in fields]
        for name, value in fields.items():
            values = [] if value is None else [value] if isinstance(value, str) else value
            pairs += [(name, one) for one in values]
        return await self.post(urljoin(page.url, chosen.action or page.url), pairs)

    async def log_in(self, page: Page, username: str = "alice", **fields: Any) -> Page:
        """Fill in the login page."""
        return await self.submit(
            page,
            **{
                "username": username,
                "password": f"{username}-password",
                "action": "login",
                **fields,
            },
        )

    async def _go(self, method: str, url: str, **options: Any) -> Page:
        url = urljoin(self.issuer, url)
        for _ in range(20):
            async with self.session.request(
                method, URL(url, encoded=True), allow_redirects=False, **options
            ) as response:
                text = await response.text()
                location = response.headers.get("Location")
                if response.status not in {302, 303} or location is None:
                    return Page(url, response.status, response.headers, text)
                url = urljoin(url, location)
                if not url.startswith(self.sites):
                    return Page(url, response.status, response.headers, "")
            method, options = "GET", {}
        raise AssertionError("the service redirects in a circle")
