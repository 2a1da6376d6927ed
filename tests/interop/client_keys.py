"""The keys of clients that sign and decrypt: private in files, public at their `jwks_uri` (RFC 7517 §4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from joserfc.jwk import ECKey

SIGNING, ENCRYPTION = "signing-key.json", "encryption-key.json"
_PURPOSES: dict[str, Any] = {
    SIGNING: {"alg": "ES256", "use": "sig"},
    ENCRYPTION: {"alg": "ECDH-ES+A128KW", "use": "enc"},
}


def new_client_keys(folder: Path) -> dict[str, Any]:
    """Make them for this run; the set that the clients publish."""
    keys = {
        name: ECKey.generate_key("P-256", purpose, auto_kid=True)
        for name, purpose in _PURPOSES.items()
    }
    for name, key in keys.items():
        (folder / name).write_text(json.dumps(key.as_dict(private=True)))
    return {"keys": [key.as_dict(private=False) for key in keys.values()]}
