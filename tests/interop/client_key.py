"""The key by which a client proves who it is: private in a file, public at its `jwks_uri` (RFC 7517 §4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from joserfc.jwk import ECKey

FILE = "client-key.json"


def new_client_key(folder: Path) -> dict[str, Any]:
    """Make one for this run; the set that the client publishes."""
    key = ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig"}, auto_kid=True)
    (folder / FILE).write_text(json.dumps(key.as_dict(private=True)))
    return {"keys": [key.as_dict(private=False)]}
