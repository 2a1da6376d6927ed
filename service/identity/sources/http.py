"""Users of an HTTP service of the operator's: one request finds a user, another one verifies a password."""

from __future__ import annotations

import secrets
import ssl
from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from service.config.problem import Finding, encrypted_key
from service.config.schema.users import HttpUsers, Users
from service.identity.sources.several import warn_of_several
from service.model.outgoing import ClientCertificate, HttpClient, HttpRequest, Unreachable
from service.model.user import (
    MAX_SUB,
    MAX_USERNAME,
    Identity,
    Several,
    UnusableAnswer,
    User,
    UsersUnavailable,
    ValueRefused,
    fold_username,
)
from service.protocol.json_input import parse_json
from service.protocol.uris import is_loopback
from service.tls import KeyIsEncrypted, show_certificate

if TYPE_CHECKING:
    from service.identity.sources import Tools

_HTTP = ("users", "http")

_ABOUT_THE_QUESTION = frozenset(range(400, 500)) - {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}
"""The statuses by which a service may refuse a value (RFC 9110 §15.5)."""

Answer = TypeVar("Answer")


class _Person(msgspec.Struct, frozen=True):
    """A user as the other service describes it; what it says besides is ignored."""

    sub: str
    username: str
    enabled: bool
    claims: dict[str, Any] = {}
    identities: tuple[Identity, ...] = ()


class _Found(msgspec.Struct, frozen=True):
    """The response with a user; null: the user does not exist. A response without `user` is malformed."""

    user: _Person | None
    several: bool = False
    """Whether more than one user has what was asked for; nobody is chosen."""


class _Verified(msgspec.Struct, frozen=True):
    """The response to a password check."""

    valid: bool


class HttpUserStore:
    """A UserStore that another service answers for."""

    def __init__(self, http: HttpClient, settings: HttpUsers) -> None:
        self._http = http
        self._find_url, self._verify_url = settings.find_url, settings.verify_url
        self._knows_identities = settings.identities
        token = settings.bearer_token
        self._authorization = f"Bearer {token}" if token else None

    async def by_subject(self, sub: str) -> User | None:
        """Return the user; UnusableAnswer if the answer is about somebody else."""
        user = await self._find("sub", sub)
        if user is not None and user.sub != sub:
            raise UnusableAnswer("the answer has another sub")
        return user

    async def by_username(self, username: str) -> User | None:
        """Return the user with this name or e-mail address, as this service compares them.

        Another spelling would have its own count of failures.
        """
        user = await self._find("username", username)
        return user if user is not None and _is_called(user, username) else None

    async def by_email(self, email: str) -> User | Several | None:
        """Return the user with this address if it is verified."""
        answer = await self._ask(self._find_url, {"email": email}, _Found)
        if answer.several:
            return "several"
        user = _read(answer)
        is_verified = user is not None and user.claims.get("email_verified") is True
        return user if user is not None and is_verified and _has_email(user, email) else None

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the user whose `identities` have exactly this one."""
        identity = Identity(provider, subject)
        if not self._knows_identities:
            return None
        user = await self._find("identity", {"provider": provider, "subject": subject})
        return user if user is not None and identity in user.identities else None

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Send `sub` and password to the other service; for an unknown user a null `sub` and a random password."""
        sub, given = (user.sub, password) if user and password else (None, secrets.token_urlsafe())
        answer = await self._ask(self._verify_url, {"sub": sub, "password": given}, _Verified)
        return answer.valid and sub is not None

    async def _find(self, by: str, value: object) -> User | None:
        answer = await self._ask(self._find_url, {by: value}, _Found)
        if answer.several:
            warn_of_several(by, "let your service know one user by it")
            return None
        return _read(answer)

    async def _ask(self, url: str, sent: object, kind: type[Answer]) -> Answer:
        body, headers = msgspec.json.encode(sent), {"Content-Type": "application/json"}
        try:
            answer = await self._http.fetch(HttpRequest(url, body, headers, self._authorization))
        except Unreachable as error:
            raise UsersUnavailable(str(error)) from None
        if answer.status in _ABOUT_THE_QUESTION:
            raise ValueRefused(f"the status is {answer.status}")
        if answer.status != HTTPStatus.OK:
            raise UnusableAnswer(f"the status is {answer.status}")
        try:
            return msgspec.convert(parse_json(answer.body), kind)
        except ValueError:
            raise UnusableAnswer("the answer is not the JSON of docs/users.md") from None


def _read(answer: _Found) -> User | None:
    found = answer.user
    if found is None:
        return None
    fits = 0 < len(found.sub) <= MAX_SUB and 0 < len(found.username) <= MAX_USERNAME
    if not fits:
        raise UnusableAnswer("the sub or username is empty or too long")
    return User(
        sub=found.sub,
        username=found.username,
        enabled=found.enabled,
        identities=found.identities,
        claims=found.claims,
    )


def _is_called(user: User, name: str) -> bool:
    return fold_username(user.username) == fold_username(name) or _has_email(user, name)


def _has_email(user: User, email: str) -> bool:
    known = user.claims.get("email")
    return isinstance(known, str) and fold_username(known) == fold_username(email)


def open_source(settings: Users, tools: Tools) -> HttpUserStore:
    """Return the users of the other service, which is asked when the first one is."""
    http = settings.http
    if http is None:
        raise ValueError("users.http is missing")  # find_problems has said so
    return HttpUserStore(tools.open_http(_certificate(http)), http)


def _certificate(http: HttpUsers) -> ClientCertificate | None:
    if http.certificate is None:
        return None
    return ClientCertificate(http.certificate, http.private_key or http.certificate)


def find_problems(settings: Users) -> Iterator[Finding]:
    """Yield the problems of `users.http`."""
    http = settings.http
    if http is None:
        message = "http needs the settings of your service"
        yield Finding(("users", "source"), message, "add users.http with find_url and verify_url")
        return
    for name in ("find_url", "verify_url"):
        url = urlsplit(str(getattr(http, name)))
        if url.scheme == "http" and not is_loopback(url.hostname or ""):
            message = "would carry passwords that anyone on the way can read"
            yield Finding((*_HTTP, name), message, "write https://")
    if not http.bearer_token and http.certificate is None:
        message = "your service cannot know that it is this one that asks"
        yield Finding(_HTTP, message, "set bearer_token or certificate")
    if http.private_key is not None and http.certificate is None:
        yield Finding((*_HTTP, "private_key"), "has no effect without certificate")
    yield from _certificate_problems(http)


def _certificate_problems(http: HttpUsers) -> Iterator[Finding]:
    pair = _certificate(http)
    if pair is None:
        return
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        show_certificate(context, pair.certificate, pair.private_key)
    except KeyIsEncrypted:
        yield encrypted_key((*_HTTP, "private_key" if http.private_key else "certificate"))
    except ssl.SSLError:
        message = "is no certificate, PEM, or private_key is not its key"
        yield Finding((*_HTTP, "certificate"), message)
    except OSError as error:
        message = f"or private_key cannot be read: {error.strerror}"
        yield Finding((*_HTTP, "certificate"), message)
