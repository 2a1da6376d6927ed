"""The second factors that a person has enrolled, and the interface of the places that keep them (RFC 6238, WebAuthn Level 3 §4)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Protocol, runtime_checkable

import msgspec

from service.model import marks


class Totp(marks.Confidential, frozen=True, kw_only=True):
    """An app that shows a new code every 30 seconds (RFC 6238)."""

    secret: Annotated[str, marks.SECRET]
    """The shared secret, in base32."""
    name: str
    """The name that the user has given it."""
    created_at: int
    """Seconds since the epoch."""
    last_used: int | None = None
    last_step: int = -1
    """The time step of the last code that was accepted; no code of this step or an earlier one is (RFC 6238 §5.2)."""
    id: ClassVar[str] = "otp"
    """By which a form names it: a person has one at most."""


class Passkey(msgspec.Struct, frozen=True, kw_only=True):
    """A public key credential (WebAuthn Level 3 §4)."""

    credential_id: str
    """In base64url."""
    public_key: str
    """The COSE key, in base64url."""
    user_handle: str
    """By which the authenticator knows the person: random, the same in all of a person's passkeys, in base64url."""
    sign_count: int
    """The last signature counter; 0 where the authenticator has none."""
    backup_eligible: bool
    """Whether it may be synchronised between devices: then its `amr` is swk, else hwk."""
    learns_backup_eligible: bool = False
    """Whether the first use here tells, because the server that it came from did not know."""
    transports: tuple[str, ...] = ()
    name: str
    """The name that the user has given it."""
    created_at: int
    """Seconds since the epoch."""
    last_used: int | None = None

    @property
    def amr(self) -> tuple[str, ...]:
        """The methods of a use of it: a key that can be copied counts as software (RFC 8176 §2)."""
        return ("swk" if self.backup_eligible else "hwk", "user")


class Factors(marks.Confidential, frozen=True, kw_only=True):
    """All second factors of one person, as one value that is replaced as a whole."""

    totp: Totp | None = None
    passkeys: tuple[Passkey, ...] = ()
    recovery_codes: Annotated[tuple[str, ...], marks.SECRET] = ()
    """SHA-256 hashes of the recovery codes that have not been used."""
    version: str = ""
    """Another one after each change; empty where nothing is stored."""

    @property
    def is_enrolled(self) -> bool:
        """Whether the person has a second factor; recovery codes alone do not count."""
        return self.totp is not None or bool(self.passkeys)


FactorChange = Literal[
    "factor_enrolled",
    "factor_removed",
    "recovery_codes_renewed",
    "recovery_code_used",
    "factor_locked",
]


class FactorNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A notification for a person: their factors were changed, used or guessed, which should have been by themselves."""

    subject: str
    change: FactorChange
    method: str
    """otp, passkey, or recovery_code."""


class UserNotifier(Protocol):
    """Tells people of what happens to their factors; an operator's own class by import path, made once without arguments."""

    async def notify(self, notice: FactorNotice) -> None:
        """Tell the person, such as by e-mail; the change is made whether this succeeds or fails."""
        ...


@runtime_checkable
class FactorStore(Protocol):
    """Keeps the second factors of people, by subject identifier: in Redis, or in an operator's own UserStore with these methods.

    They are secrets: keep them encrypted, back them up, and let nothing expire. A UserStore is also asked for people who sign in
    at identity providers; where it raises, such as UsersUnavailable, nobody is let in without a factor.
    """

    async def find_factors(self, sub: str) -> Factors:
        """Return the factors of this person, `Factors()` where nothing is stored; raise where that is not certain."""
        ...

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        """Store the factors if the stored version is `instead_of`, else store nothing; return whether they were stored.

        Compare and store in one atomic step: by it a code counts once over all replicas. Where `factors` holds nothing
        but its version, the record may be removed.
        """
        ...
