"""Makes users of the tables of ASP.NET Identity, with claims, roles, providers' accounts and authenticator apps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from service.takeover.found import Found, FoundUser, SecretText
from service.takeover.identityserver.clients import add_claim
from service.takeover.identityserver.sections import Sections
from service.takeover.node import Misplaced, quoted
from service.takeover.record import Record

_STORE, _SEED, _CODES = "[AspNetUserStore]", "AuthenticatorKey", "RecoveryCodes"
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


class People:
    """The users, with the parts of them that other tables have, by their ids."""

    def __init__(self, sections: Sections, found: Found, providers: frozenset[str]) -> None:
        self._sections, self._found = sections, found
        self._seeds: dict[str, str] = {}
        self._identities: dict[str, list[dict[str, str]]] = {}
        self._claims: dict[str, list[tuple[str, str]]] = {}
        self._unknown_columns = set[str]()
        self._without_app = self._ended_lockouts = 0
        self._read_tokens()
        self._read_logins(providers)
        self._read_claims()
        self._read_roles()

    def users(self) -> Iterator[FoundUser]:
        """Yield each user; report what is not in the entries at the end."""
        for place, value in self._sections.users():
            with self._found.taking(place):
                yield self._user(Record(place, value))
        self._report()

    def _user(self, row: Record) -> FoundUser:
        sub = row.text("Id")
        if sub is None:
            raise Misplaced(row.below("Id"), "is missing")
        self._unknown_columns |= row.own_keys.keys() - _COLUMNS
        username = row.text("UserName") or row.text("Email")
        entry: dict[str, object] = {
            "sub": sub,
            "username": username,
            "password": row.text("PasswordHash"),
            "enabled": None if self._is_enabled(row) else False,
            "claims": self._claims_of(row, sub, username),
            "identities": self._identities.get(sub),
        }
        present = {key: value for key, value in entry.items() if value is not None}
        return FoundUser(place=row.place, entry=present, factors=self._factors(row, sub))

    def _factors(self, row: Record, sub: str) -> Mapping[str, object]:
        """Return the authenticator app, if the user has confirmed it: the key alone is made when its page is opened."""
        if not row.flag("TwoFactorEnabled", default=False):
            return {}
        seed = self._seeds.get(sub)
        if seed is None:
            self._without_app += 1
            return {}
        return {"totp": {"seed": SecretText(seed)}}

    def _claims_of(self, row: Record, sub: str, username: str | None) -> dict[str, object]:
        """Return the claims that IdentityServer gives a user of ASP.NET Identity, those of its own table first."""
        claims: dict[str, object] = {}
        for name, value in self._claims.get(sub, ()):
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
        return {
            name: value for name, value in claims.items() if value is not None and name != "sub"
        }

    def _is_enabled(self, row: Record) -> bool:
        until = row.text("LockoutEnd") or row.text("LockoutEndDateUtc")
        if until is None:
            return True
        try:
            end = datetime.fromisoformat(until)
        except ValueError:
            raise Misplaced(row.below("LockoutEnd"), "is no time") from None
        return end.year < FOREVER

    def _read_tokens(self) -> None:
        codes = 0
        for row in self._sections.records("aspnetusertokens"):
            user, value = row.text("UserId"), row.text("Value")
            if row.text("LoginProvider") != _STORE or user is None or value is None:
                continue
            codes += row.text("Name") == _CODES
            if row.text("Name") == _SEED:
                self._seeds[user] = value
        if codes:
            reason = f"recovery codes of {codes} users: this service makes its own"
            remedy = "users get new ones at /account/security"
            self._found.report.leave_out("AspNetUserTokens", reason, remedy)

    def _read_logins(self, providers: frozenset[str]) -> None:
        missing = Counter[str]()
        for row in self._sections.records("aspnetuserlogins"):
            user, provider, key = (
                row.text(name) for name in ("UserId", "LoginProvider", "ProviderKey")
            )
            if user is None or provider is None or key is None:
                raise Misplaced(row.place, "UserId, LoginProvider or ProviderKey is missing")
            if provider in providers:
                identity = {"provider": provider, "subject": key}
                self._identities.setdefault(user, []).append(identity)
            else:
                missing[provider] += 1
        for provider, count in sorted(missing.items()):
            reason = f"{count} accounts at {quoted(provider)}, which is code of the old server and no provider here"
            remedy = "name it in IdentityProviders of the export, and import again"
            self._found.report.leave_out("AspNetUserLogins", reason, remedy)

    def _read_claims(self) -> None:
        for row in self._sections.records("aspnetuserclaims"):
            user, name = row.text("UserId"), row.text("ClaimType")
            if user is not None and name is not None:
                self._claims.setdefault(user, []).append((name, row.text("ClaimValue") or ""))

    def _read_roles(self) -> None:
        names = {row.text("Id"): row.text("Name") for row in self._sections.records("aspnetroles")}
        for row in self._sections.records("aspnetuserroles"):
            user, role = row.text("UserId"), names.get(row.text("RoleId"))
            if user is None or role is None:
                raise Misplaced(row.place, "its user or its role is missing")
            self._claims.setdefault(user, []).append(("role", role))

    def _report(self) -> None:
        report = self._found.report
        if self._without_app:
            reason = f"{self._without_app} users have a second factor by e-mail, text message or key, which is not taken"
            report.leave_out(
                "AspNetUsers", reason, "let them enrol one anew, by mfa.enrolment: at_login"
            )
        for column in sorted(self._unknown_columns):
            reason = f"the column {quoted(column)} is of the old application"
            report.leave_out(
                "AspNetUsers", reason, "write it into the claims of users, if applications need it"
            )
