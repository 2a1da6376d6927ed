"""Users, and the interface of the places that they come from."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Protocol, cast, runtime_checkable

import msgspec

from service.model import marks, types
from service.model.tenant import CLAIM as TENANT
from service.protocol.errors import TemporarilyUnavailable
from service.protocol.typed_text import trim_name

LOCAL = "local"
"""The `idp` of users who sign in here and not at another provider."""

MAX_SUB = 255
"""Characters of a subject identifier (OIDC Core §2)."""

MAX_USERNAME = 254
MAX_PASSWORD = 200

LoginFailure = Literal[
    "malformed",
    "unknown",
    "wrong_password",
    "disabled",
    "locked",
    "other_tenant",
    "account_expired",
    "locked_there",
    "other_workstation",
    "outside_hours",
    "password_expired",
]
"""The reasons why a login by password fails, as the audit log names them.

`locked` is the throttle here, and `locked_there` the directory; `password_expired` comes only after the right password.
"""


class Identity(msgspec.Struct, frozen=True):
    """A user of an identity provider that is a user of this service, too."""

    provider: types.ShortName
    """The name of one of identity_providers."""
    subject: types.Text
    """The user's `sub` there, or the value of subject_claim; upper and lower case are different."""


HASHED: Mapping[str, str] = {"password": "sign in", "ciba_user_code": "allow a CIBA request"}
"""The keys whose values are hashes, and what a user cannot do whose hash nothing here can verify."""


class User(marks.Confidential, frozen=True, kw_only=True):
    """A person with a subject identifier that never changes (OIDC Core §2, `sub`)."""

    sub: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SUB, pattern="^[ -~]*$")]
    """The subject identifier, of ASCII characters, which must never change."""
    username: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_USERNAME)]
    """The name to sign in with; upper and lower case are the same."""
    password: Annotated[str | None, marks.SECRET] = None
    """The hash of the password; `token-service hash-password` makes one, and docs/users.md lists the formats of other systems.
    null: no sign-in by password."""
    enabled: bool = True
    """false: the user cannot sign in, and the user's tokens are inactive."""
    tenant: str | None = None
    """The name of the user's tenant, which becomes the claim `tenant`; null: none, unless `claims` has one."""
    ciba_user_code: Annotated[str | None, marks.SECRET] = None
    """The Argon2 hash of the code without which no client may send the user a CIBA request; `token-service hash-password`
    makes it. null: there is no such code."""
    identities: tuple[Identity, ...] = ()
    """Who the user is at identity providers, such as [{provider: google, subject: "1093"}]: a sign-in there is one of this user."""
    claims: dict[str, object] = msgspec.field(default_factory=dict)
    """Claims about the user, by the names of OpenID Connect Core §5.1 or names of your own."""

    def __post_init__(self) -> None:
        """Add the claim that names the tenant, by which the tenants of all sources are distinguished."""
        if self.tenant is not None:
            msgspec.structs.force_setattr(self, "claims", {TENANT: self.tenant, **self.claims})


class UsersUnavailable(TemporarilyUnavailable):
    """The system that the users come from has not answered; this never counts as an unknown user or a wrong password."""


class UnusableAnswer(UsersUnavailable):
    """The system is there, and its answer makes no sense; the message does not repeat the answer."""


class ValueRefused(ValueError):
    """The system answers, and refuses the request, perhaps for its value, which the message does not repeat."""


class PasswordRefused(Exception):
    """The system refuses a password for this reason, of which only the audit log tells, unless the password has to be changed."""

    def __init__(self, reason: LoginFailure) -> None:
        super().__init__(reason)
        self.reason: LoginFailure = reason


class PasswordExpired(Exception):
    """The password is right, and has expired or has to be changed first."""


class UserStore(Protocol):
    """The users of the file, of another system, or of an operator's own class by import path.

    A method that gets no answer raises UsersUnavailable, OSError or TimeoutError; one whose value the system does not take
    returns None or raises ValueError. The Protocols below are optional.
    """

    async def by_subject(self, sub: str) -> User | None:
        """Return the user with this subject identifier."""
        ...

    async def by_username(self, username: str) -> User | None:
        """Return the user with this name, compared as `fold_username` writes it."""
        ...


class TokenUsers(UserStore, Protocol):
    """The users as tokens are judged by them, also while their system is unavailable."""

    def find_in_memory(self, sub: str) -> User | None:
        """Return the user with this subject identifier if no other system has to be asked for users, None otherwise."""
        ...

    async def find_token_user(self, sub: str) -> User | None:
        """Return the user with this subject identifier; without an answer, as it was seen at most `users.grace` ago."""
        ...


Several = Literal["several"]
"""The answer that more than one user fits; nobody is chosen."""


@runtime_checkable
class FindsByEmail(Protocol):
    """A UserStore that can also find users by email address."""

    async def by_email(self, email: str) -> User | Several | None:
        """Return the only user with this verified address, in upper or lower case; "several" if it is that of more than one."""
        ...


@runtime_checkable
class FindsByIdentity(Protocol):
    """A UserStore that knows who its users are at identity providers."""

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the user with exactly this `sub` at the provider."""
        ...


class LinkedUsers(FindsByEmail, FindsByIdentity, Protocol):
    """The users as providers' users are linked to them."""


@runtime_checkable
class VerifiesPasswords(Protocol):
    """A UserStore whose passwords are verified where they are kept, because it gives out no hashes."""

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Return whether the password is that of the user.

        `user` is what `by_username` has returned for this name; None for one that must not sign in: the refusal takes the
        same time as for a wrong password. PasswordRefused tells the audit log more than False.
        """
        ...


@runtime_checkable
class ReplacesPasswords(Protocol):
    """A UserStore that can write the hash of a password."""

    @property
    def can_replace_passwords(self) -> bool:
        """Whether hashes may be written at all."""
        ...

    async def replace_password(self, sub: str, *, old: str, new: str) -> bool:
        """Write a hash, unless another one than `old` is there by now; return whether it was written."""
        ...


@runtime_checkable
class ListsUsers(Protocol):
    """A UserStore that can list its users."""

    async def list_users(self, prefix: str, limit: int) -> Sequence[User]:
        """Return the first users by name whose folded name begins with this."""
        ...


@runtime_checkable
class DisablesUsers(Protocol):
    """A UserStore that can disable and enable its users."""

    async def set_enabled(self, sub: str, *, enabled: bool) -> bool:
        """Disable or enable a user; return whether there is such a user."""
        ...


@runtime_checkable
class Closes(Protocol):
    """A UserStore with connections that are closed at the end of the process."""

    async def close(self) -> None:
        """Close the connections."""
        ...


LINKED_BY_IDENTITY: Mapping[str, object] = {"linked_by": "identity"}
"""Among the claims of a sign-in at a provider: `User.identities` names whose account it is, and no e-mail address."""


def is_in_store(idp: str | None, user_claims: Mapping[str, object]) -> bool:
    """Return whether a user who signed in here, or whom a provider or a trusted issuer named, is one of the user store.

    A note among the claims says so of the latter: none that a provider or an issuer sends is kept as `sub`.
    """
    return idp == LOCAL or (idp is not None and "sub" in user_claims)


def fold_username(username: str) -> str:
    """Return the trimmed, NFKC case-folded form in which user names are compared (Unicode §3.13)."""
    composed = unicodedata.normalize("NFKC", trim_name(username))
    return unicodedata.normalize("NFKC", composed.casefold())


def is_any_met(
    conditions: Iterable[Mapping[str, Iterable[object]]], claims: Mapping[str, object]
) -> bool:
    """Return whether one of the conditions holds; a claim that is a list has all the values in it."""
    return any(
        all(_has_value(claims.get(name), accepted) for name, accepted in condition.items())
        for condition in conditions
    )


def _has_value(claim: object, accepted: Iterable[object]) -> bool:
    """Return whether the claim, or one of its values, is accepted; true is not 1."""
    values = cast("list[object]", claim) if isinstance(claim, list) else [claim]
    return any(type(value) is type(one) and value == one for value in values for one in accepted)
