"""Finds the public halves of IdentityServer's signing keys: key files of its developers' mode, and of Duende's key management."""

from __future__ import annotations

import base64
import binascii

from service.protocol.json_input import parse_json
from service.takeover.found import Found
from service.takeover.identityserver.sections import Sections
from service.takeover.node import Misplaced
from service.takeover.record import Record

_REMEDY = "fetch the keys from its JWKS, and name the file by --jwks"


def add_keys(sections: Sections, found: Found) -> None:
    """Add each key, or report that it cannot be read."""
    for record in sections.records("keys"):
        with found.taking(record.place):
            if "kty" in record:
                found.add_key(record.place, record.members())
            elif "KeyId" in record:
                found.add_key(record.place, _rsa(record, "KeyId"))
            else:
                _add_managed_key(record, found)


def _add_managed_key(record: Record, found: Found) -> None:
    """Add a key of Duende, whose Data is JSON of .NET, if it is not encrypted."""
    if record.text("Use") not in (None, "signing"):
        return
    if record.flag("DataProtected", default=False):
        found.ask_for_keys(record.place, "the key is encrypted by ASP.NET Core", _REMEDY)
        return
    try:
        content = Record(record.below("Data"), parse_json(record.text("Data") or ""))
        key = _rsa(content, "Id")
    except ValueError:
        found.ask_for_keys(record.place, "its Data is no RSA key", _REMEDY)
        return
    found.add_key(record.place, {**key, "alg": record.text("Algorithm") or "RS256"})


def _rsa(record: Record, name: str) -> dict[str, object]:
    """Return the public JWK of RSAParameters, whose numbers are base64."""
    parameters = record.record("Parameters")
    members = {
        ours: _number(parameters, theirs) for ours, theirs in (("n", "Modulus"), ("e", "Exponent"))
    }
    kid = record.text(name)
    if kid is None:
        raise Misplaced(record.place, "its name is missing")
    return {"kty": "RSA", "kid": kid, "use": "sig", **members}


def _number(parameters: Record, key: str) -> str:
    try:
        content = base64.b64decode(parameters.text(key) or "", validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if not content:
        raise Misplaced(parameters.below(key), "is no number in base64")
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
