"""Passwords and second factors of a user, in the forms that this service reads."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping

from service.protocol.octets import base64url
from service.takeover.found import SecretText
from service.takeover.node import Misplaced, Node, quoted
from service.takeover.report import Report

_BASE32 = re.compile(r"[A-Za-z2-7]{1,300}=*")
_MAX_NAME = 60
_MIN_SEED, _MAX_SEED = 10, 128
_NEW_PASSWORD = "let the user set a new password"
_NEW_FACTOR = "let the user enrol a second factor here, at /account/security"


class Credentials:
    """Reads the credentials of one user; the second of a kind is reported."""

    def __init__(self, report: Report, sub: str, *, has_one_domain: bool) -> None:
        """Take the user's identifier, by which messages name the user; `has_one_domain`: passkeys in place of passwords have the domain of others."""
        self._report, self._user = report, f"of user {quoted(sub)}"
        self._sub = sub
        self._has_one_domain = has_one_domain
        self._password: str | None = None
        self._totp: Mapping[str, object] | None = None
        self._passkeys: list[Mapping[str, object]] = []

    def read(self, node: Node) -> tuple[str | None, Mapping[str, object]]:
        """Return the hash of the password, and the second factors."""
        readers: Mapping[str, Callable[[Node], None]] = {
            "password": self._read_password,
            "otp": self._read_otp,
            "webauthn": self._read_passkey,
            "webauthn-passwordless": self._read_passkey
            if self._has_one_domain
            else self._refuse_domain,
            "password-history": lambda _: None,
        }
        for item in node.items("credentials"):
            read = readers.get(item.text("type") or "", self._refuse)
            try:
                read(item)
            except Misplaced as error:
                self._report.leave_out(error.place, error.reason, _NEW_FACTOR)
        factors: dict[str, object] = {"totp": self._totp} if self._totp else {}
        if self._passkeys:
            factors["passkeys"] = self._passkeys
        return self._password, factors

    def _refuse(self, item: Node) -> None:
        if item.text("type") == "recovery-authn-codes":
            self._leave_out(item, "recovery codes", "let the user make new ones")
        else:
            self._leave_out(item, "a credential of a kind that is not known here", _NEW_FACTOR)

    def _refuse_domain(self, item: Node) -> None:
        self._leave_out(item, "a passkey of another domain", _NEW_FACTOR)

    def _leave_out(self, item: Node, what: str, remedy: str) -> None:
        self._report.leave_out(item.place, f"{what} ({self._user})", remedy)

    def _read_password(self, item: Node) -> None:
        if item.text("value") is not None:
            self._leave_out(item, "a password that is not hashed", _NEW_PASSWORD)
            return
        if not (item.has("secretData") and item.has("credentialData")):
            self._leave_out(item, "a password without its hash", _NEW_PASSWORD)
            return
        if self._password is not None:
            self._leave_out(item, "a second password", "nothing to do: the first one counts")
            return
        written = {key: item.parsed(key).value for key in ("credentialData", "secretData")}
        self._password = json.dumps(written, separators=(",", ":"))

    def _read_otp(self, item: Node) -> None:
        how = item.parsed("credentialData")
        kind, algorithm = how.text("subType") or "totp", how.text("algorithm") or "HmacSHA1"
        if kind != "totp":
            self._leave_out(item, "codes by a counter (HOTP)", _NEW_FACTOR)
        elif (how.number("digits") or 6, how.number("period") or 30) != (6, 30):
            self._leave_out(item, "codes of another length or time", _NEW_FACTOR)
        elif algorithm.replace("-", "").upper() not in {"HMACSHA1", "SHA1"}:
            self._leave_out(item, "codes of another algorithm than SHA-1", _NEW_FACTOR)
        elif self._totp is not None:
            self._leave_out(item, "a second app for codes", _NEW_FACTOR)
        else:
            self._totp = {
                "seed": SecretText(self._read_seed(item, how)),
                **_label(item),
            }

    def _read_seed(self, item: Node, how: Node) -> str:
        """Return the seed in base32; Keycloak's is the text itself, unless it says that the text is base32."""
        secret = item.parsed("secretData")
        text, place = secret.required_text("value"), f"{item.place}.secretData"
        if how.text("secretEncoding") == "BASE32":
            if not _BASE32.fullmatch(text):
                raise Misplaced(place, f"the seed is no base32 ({self._user})")
            seed = text.upper().rstrip("=")
        else:
            seed = base64.b32encode(text.encode()).decode().rstrip("=")
        if not _MIN_SEED <= len(seed) * 5 // 8 <= _MAX_SEED:
            raise Misplaced(place, f"the seed is too short or too long ({self._user})")
        return seed

    def _read_passkey(self, item: Node) -> None:
        how = item.parsed("credentialData")
        self._passkeys.append(
            {
                "credential_id": self._octets(how, "credentialId"),
                "public_key": self._octets(how, "credentialPublicKey"),
                "user_handle": base64url(self._sub.encode()),
                "sign_count": how.number("counter") or 0,
                "transports": [each.lower() for each in how.texts("transports")],
                **_label(item),
            }
        )

    def _octets(self, how: Node, key: str) -> str:
        """Return bytes, which are in one base64 or the other, in base64url."""
        text = how.required_text(key).rstrip("=").replace("+", "-").replace("/", "_")
        try:
            return base64url(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True))
        except (binascii.Error, ValueError) as error:
            raise Misplaced(how.below(key).place, f"is no base64 ({self._user})") from error


def _label(item: Node) -> Mapping[str, object]:
    """Return the name and the time of a factor, where there are any."""
    name, created = item.text("userLabel") or "", item.number("createdDate") or 0
    shown = "".join(each for each in name if each.isprintable())[:_MAX_NAME].strip()
    return {
        **({"name": shown} if shown else {}),
        **({"created_at": created // 1000} if 0 < created < 1 << 45 else {}),
    }
