"""Makes users of the tables of ASP.NET Identity, with claims, roles, providers' accounts and authenticator apps."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import msgspec

from service.takeover.factors_file import is_seed
from service.takeover.found import Found, FoundUser, SecretText
from service.takeover.identityserver.clients import add_claim
from service.takeover.identityserver.sections import (
    CLAIMS,
    LOGINS,
    PARTS_OF_USERS,
    ROLES,
    TOKENS,
    USERS,
    Sections,
)
from service.takeover.node import Misplaced, quoted
from service.takeover.record import Record

_STORE, _SEED, _CODES = "[AspNetUserStore]", "AuthenticatorKey", "RecoveryCodes"
_NEW_FACTOR = "let them enrol one anew, by mfa.enrolment: at_login"
FOREVER = 2100
"""A lockout that ends in this year or later is meant to stay."""
_COLUMNS = frozenset(
    {
        *("id", "username", "normalizedusername", "email", "normalizedemail", "emailconfirmed"),
        *("passwordhash", "securitystamp", "concurrencystamp", "phonenumber", "discriminator"),
        *("phonenumberconfirmed", "twofactorenabled", "lockoutend", "lockoutenddateutc"),
        *("lockoutenabled", "accessfailedcount"),
    }
)


class _Parts(msgspec.Struct):
    """The parts of a user that other tables have, in little memory."""

    seed: str | None = None
    claims: tuple[str, ...] = ()
    """Names and values in turn."""
    logins: tuple[str, ...] = ()
    """Providers and subjects in turn."""


class People:
    """The users, with the parts of them that other tables have, by their ids."""

    def __init__(self, sections: Sections, found: Found, providers: frozenset[str]) -> None:
        self._sections, self._found, self._providers = sections, found, providers
        self._parts: dict[str, _Parts] = {}
        self._unknown_columns = set[str]()
        self._without_app = self._recovery_codes = 0
        self._missing_providers = Counter[str]()
        self._roles: dict[str, tuple[str, ...]] = {}
        """By id: the claims that a role gives."""
        self._read_roles()
        for table, place, value in sections.rows(PARTS_OF_USERS):
            with found.taking(place):
                self._read_part(table, Record(place, value))

    def users(self) -> Iterator[FoundUser]:
        """Yield each user; report what is not in the entries at the end."""
        for _, place, value in self._sections.rows(frozenset({USERS})):
            with self._found.taking(place):
                yield self._user(Record(place, value))
        self._report()

    def _user(self, row: Record) -> FoundUser:
        sub = row.text("Id")
        if sub is None:
            raise Misplaced(row.below("Id"), "is missing")
        self._unknown_columns |= row.own_keys.keys() - _COLUMNS
        username, parts = row.text("UserName") or row.text("Email"), self._parts.pop(sub, _Parts())
        entry: dict[str, object] = {
            "sub": sub,
            "username": username,
            "password": row.text("PasswordHash"),
            "enabled": None if self._is_enabled(row) else False,
            "claims": _claims_of(row, parts.claims, username),
            "identities": [
                {"provider": provider, "subject": key} for provider, key in _pairs(parts.logins)
            ]
            or None,
        }
        present = {key: value for key, value in entry.items() if value is not None}
        return FoundUser(place=row.place, entry=present, factors=self._factors(row, parts.seed))

    def _factors(self, row: Record, seed: str | None) -> Mapping[str, object]:
        """Return the authenticator app, if the user has confirmed it: the key alone is made when its page is opened."""
        if not row.flag("TwoFactorEnabled", default=False):
            return {}
        if seed is None:
            self._without_app += 1
            return {}
        if not is_seed(seed):
            reason = f"the key of the app of user {quoted(row.text('Id'))} is not that of one"
            self._found.report.leave_out(row.place, reason, _NEW_FACTOR)
            return {}
        return {"totp": {"seed": SecretText(seed)}}

    def _is_enabled(self, row: Record) -> bool:
        until = row.text("LockoutEnd") or row.text("LockoutEndDateUtc")
        if until is None or not row.flag("LockoutEnabled", default=True):
            return True
        try:
            end = datetime.fromisoformat(until)
        except ValueError:
            raise Misplaced(row.below("LockoutEnd"), "is no time") from None
        end = end if end.tzinfo else end.replace(tzinfo=UTC)
        if datetime.now(UTC) < end and end.year < FOREVER:
            reason = f"user {quoted(row.text('Id'))} is locked until a time, and may sign in here"
            remedy = "set enabled: false for the user, if an administrator has set the lock"
            self._found.report.leave_out(row.below("LockoutEnd"), reason, remedy)
        return end.year < FOREVER

    def _read_roles(self) -> None:
        """Read the roles, and their claims, which ASP.NET Identity gives to each user with the role."""
        for row in self._sections.records("aspnetroles"):
            with self._found.taking(row.place):
                name = row.text("Name")
                if name is not None:
                    self._roles[row.text("Id") or ""] = ("role", name)
        for row in self._sections.records("aspnetroleclaims"):
            with self._found.taking(row.place):
                role, name = row.text("RoleId") or "", row.text("ClaimType")
                if name is not None and role in self._roles:
                    self._roles[role] += (name, row.text("ClaimValue") or "")

    def _read_part(self, table: str, row: Record) -> None:
        user = row.text("UserId")
        if user is None:
            raise Misplaced(row.below("UserId"), "is missing")
        parts = self._parts.setdefault(user, _Parts())
        if table == TOKENS:
            self._read_token(row, parts)
        elif table == LOGINS:
            self._read_login(row, parts)
        elif table == CLAIMS:
            name = row.text("ClaimType")
            if name is not None:
                parts.claims += (sys.intern(name), row.text("ClaimValue") or "")
        elif table == ROLES:
            role = self._roles.get(row.text("RoleId") or "")
            if role is None:
                raise Misplaced(
                    row.below("RoleId"), "its role is missing", "export AspNetRoles, too"
                )
            parts.claims += role

    def _read_token(self, row: Record, parts: _Parts) -> None:
        name, value = row.text("Name"), row.text("Value")
        if row.text("LoginProvider") == _STORE and value is not None:
            self._recovery_codes += name == _CODES
            if name == _SEED:
                parts.seed = value

    def _read_login(self, row: Record, parts: _Parts) -> None:
        provider, key = row.text("LoginProvider"), row.text("ProviderKey")
        if provider is None or key is None:
            raise Misplaced(row.place, "LoginProvider or ProviderKey is missing")
        if provider in self._providers:
            parts.logins += (sys.intern(provider), key)
        else:
            self._missing_providers[provider] += 1

    def _report(self) -> None:
        report = self._found.report
        if self._recovery_codes:
            reason = f"recovery codes of {self._recovery_codes} users: this service makes its own"
            report.leave_out("AspNetUserTokens", reason, "users get new ones at /account/security")
        for provider, count in sorted(self._missing_providers.items()):
            reason = f"{count} accounts at {quoted(provider)}, which is code of the old server and no provider here"
            remedy = "name it in IdentityProviders of the export, and import again"
            report.leave_out("AspNetUserLogins", reason, remedy)
        if self._parts:
            reason = (
                f"claims, roles or accounts of {len(self._parts)} users who are not in AspNetUsers"
            )
            report.leave_out("AspNetUsers", reason, "export AspNetUsers, too")
        if self._without_app:
            reason = f"{self._without_app} users have a second factor by e-mail, text message or key, which is not taken"
            report.leave_out("AspNetUsers", reason, _NEW_FACTOR)
        for column in sorted(self._unknown_columns):
            reason = f"the column {quoted(column)} is of the old application"
            report.leave_out(
                "AspNetUsers", reason, "write it into the claims of users, if applications need it"
            )


def _claims_of(row: Record, stored: tuple[str, ...], username: str | None) -> dict[str, object]:
    """Return the claims that IdentityServer gives a user of ASP.NET Identity, those of its own table first."""
    claims: dict[str, object] = {}
    for name, value in _pairs(stored):
        add_claim(claims, name, value)
    claims.setdefault("name", username)
    claims.setdefault("preferred_username", username)
    for name, column, confirmed in (
        ("email", "Email", "EmailConfirmed"),
        ("phone_number", "PhoneNumber", "PhoneNumberConfirmed"),
    ):
        address = row.text(column)
        if address is not None:
            claims[name] = address
            claims[f"{name}_verified"] = row.flag(confirmed, default=False)
    return {name: value for name, value in claims.items() if value is not None and name != "sub"}


def _pairs(listed: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    return zip(listed[::2], listed[1::2], strict=True)
