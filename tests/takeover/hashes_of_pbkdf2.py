"""Hashes by PBKDF2 as Keycloak keeps them, in place of those in an export (PasswordCredentialModel)."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

HASHES = {
    "bob": ("pbkdf2-sha256", "sha256", 32, 27_500),
    "carol": ("pbkdf2-sha512", "sha512", 64, 30_000),
    "dave": ("pbkdf2", "sha1", 64, 20_000),
}
"""By user: the name of the algorithm there, the hash function, the bytes of the digest, the iterations."""


def copy_with_pbkdf2(export: Path, folder: Path) -> Path:
    """Copy an export, with such hashes of these users' passwords."""
    copy = Path(shutil.copytree(export, folder / "export"))
    for file in copy.glob("*-users-*.json"):
        content: dict[str, Any] = json.loads(file.read_text())
        for user in content["users"]:
            if user["username"] in HASHES:
                passwords = [each for each in user["credentials"] if each["type"] == "password"]
                assert len(passwords) == 1
                passwords[0].update(_credential(user["username"]))
        file.write_text(json.dumps(content))
    return copy


def _credential(name: str) -> dict[str, str]:
    algorithm, function, size, iterations = HASHES[name]
    salt = hashlib.sha256(name.encode()).digest()[:16]
    value = hashlib.pbkdf2_hmac(function, f"{name}-password".encode(), salt, iterations, size)
    secret, digest = (base64.b64encode(each).decode() for each in (salt, value))
    return {
        "secretData": json.dumps({"value": digest, "salt": secret, "additionalParameters": {}}),
        "credentialData": json.dumps(
            {"hashIterations": iterations, "algorithm": algorithm, "additionalParameters": {}}
        ),
    }
