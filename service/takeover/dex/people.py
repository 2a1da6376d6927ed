"""Makes users of dex's staticPasswords, with the subjects that dex gives them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from service.identity.dex_subjects import find_dex_subject
from service.model.user import LOCAL
from service.takeover.dex.document import Environment
from service.takeover.dex.known_settings import PASSWORD
from service.takeover.found import Found, FoundUser
from service.takeover.node import Misplaced
from service.takeover.record import Record, each_record


def read_users(root: Record, found: Found, environment: Environment) -> Iterator[FoundUser]:
    """Yield each user; the name to sign in with is the e-mail address, in any case."""
    seen = set[str]()
    for record in each_record(root.items("staticPasswords"), found):
        with found.taking(record.place):
            email = record.text("email")
            if email is None:
                raise Misplaced(record.below("email"), "is missing")
            if email.lower() in seen:
                raise Misplaced(record.below("email"), "another user has the same address")
            seen.add(email.lower())
            PASSWORD.report(record, found.report)
            yield _read_user(record, email, environment)


def _read_user(record: Record, email: str, environment: Environment) -> FoundUser:
    user_id = record.text("userID") or ""
    claims = {
        "name": record.text("name") or record.text("username"),
        "preferred_username": record.text("preferredUsername"),
        "email": email,
        "email_verified": record.flag("emailVerified", default=True),
        "groups": list(record.texts("groups")) or None,
        "federated_claims": {"connector_id": LOCAL, "user_id": user_id},
    }
    entry: dict[str, object] = {
        "sub": find_dex_subject(user_id, LOCAL),
        "username": email,
        "password": _hash(record, environment),
        "claims": {name: value for name, value in claims.items() if value is not None},
    }
    return FoundUser(place=record.place, entry=entry)


def _hash(record: Record, environment: Environment) -> str:
    """Return the hash of bcrypt, which may be in base64."""
    stored, place = record.text("hash"), record.below("hash")
    if stored is None:
        place = record.below("hashFromEnv")
        name = record.text("hashFromEnv")
        if name is None:
            raise Misplaced(record.below("hash"), "is missing")
        stored = environment.read(name, place)
    if stored.startswith("$2"):
        return stored
    try:
        decoded = base64.b64decode(stored, validate=True).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError):
        decoded = ""
    if not decoded.startswith("$2"):
        raise Misplaced(place, "is neither a hash of bcrypt nor base64 of one")
    return decoded
