"""Takes over from another server, from reading its export to the written folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from service.takeover.dex import source as dex
from service.takeover.found import Found, Source
from service.takeover.hydra import source as hydra
from service.takeover.identityserver import source as identityserver
from service.takeover.judging import UserJudge, keep_sound
from service.takeover.keycloak import realm as keycloak
from service.takeover.node import Misplaced
from service.takeover.public_keys import NoSigningKey, public_jwk, read_jwks
from service.takeover.reading import unreadable
from service.takeover.report import Report
from service.takeover.writing import Keys, write

SOURCES: Mapping[str, Source] = {
    "dex": dex.read,
    "hydra": hydra.read,
    "identityserver": identityserver.read,
    "keycloak": keycloak.read,
}
"""The servers that can be taken over; to add one: a folder with such a function, and a row here."""

_DAY = 86400
VERIFY_DAYS = 90
"""Days, from that of the export, for which tokens by the old keys count."""
_NOUNS = {
    "api_resources": "APIs",
    "api_scopes": "scopes of APIs",
    "identity_resources": "scopes with claims",
    "token_exchange": "rules of token exchange",
    "identity_providers": "identity providers",
    "trusted_issuers": "trusted issuers",
}


class Takeover(msgspec.Struct, frozen=True, kw_only=True):
    """The request of the operator."""

    kind: str
    path: Path
    out: Path | None
    issuer: str | None
    jwks: Path | None
    force: bool


def take_over(asked: Takeover) -> Report:
    """Read the source, write the folder if one is asked for, and return the report.

    Raise Unreadable, IssuerRefused or FolderRefused.
    """
    report = Report()
    found = Found(report, has_jwks=asked.jwks is not None)
    found.set("path_aliases", [asked.kind])
    try:
        users = SOURCES[asked.kind](asked.path, found)
    except Misplaced as error:
        raise unreadable(asked.path, error.place, error.reason) from error
    for place, jwk in read_jwks(asked.jwks) if asked.jwks else ():
        found.add_key(place, jwk)
    issuer = asked.issuer or found.issuer
    if issuer is None:
        issuer = found.default_issuer
        report.change("issuer", f"the source does not name it: {issuer}, unless you give --issuer")
    keep_sound(found, issuer)
    keys = Keys(_public_keys(found), _until(asked))
    message = "there is no public key, so that tokens of before do not count: fetch the old server's JWKS, and name the file by --jwks"
    if keys.jwks:
        message = f"tokens by the {len(keys.jwks)} keys of before count until {keys.end}"
    report.change("signing.verify_only", message)
    sound_users = UserJudge(found).sound(users)
    if asked.out is None:
        for _ in sound_users:
            pass
    else:
        write(
            found,
            sound_users,
            target=asked.out,
            issuer=issuer,
            keys=keys,
            replace=asked.force,
        )
    for section, entries in found.sections.items():
        report.take(_NOUNS.get(section, section), len(entries))
    return report


def _public_keys(found: Found) -> list[dict[str, object]]:
    """Return the keys of what was found, each once: tokens name them by `kid` alone."""
    keys: dict[object, dict[str, object]] = {}
    for place, jwk in found.keys:
        try:
            key = public_jwk(jwk)
        except NoSigningKey as error:
            reason = str(error)
        else:
            if keys.setdefault(key["kid"], key) == key:
                continue
            reason = "another key, or one for another algorithm, has its kid"
        found.report.leave_out(place, reason, "nothing to do, unless tokens are signed by it")
    found.report.take("public keys", len(keys))
    return list(keys.values())


def _until(asked: Takeover) -> int:
    """Return the end of the time for which tokens by the old keys count: days after the files were written, so that it is always the same."""
    files = [*asked.path.iterdir()] if asked.path.is_dir() else [asked.path]
    files += [asked.jwks] if asked.jwks else []
    newest = max(int(file.stat().st_mtime) for file in files)
    return (newest // _DAY + VERIFY_DAYS + 1) * _DAY
