"""Which certificate authorities does a file hold?"""

from __future__ import annotations

import ssl
from pathlib import Path


def why_not_trusted(file: Path) -> str | None:
    """Why the certificates in a file cannot be loaded; None where they can, or there is no file."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except FileNotFoundError:
        return None
    except ssl.SSLError:
        return f"{file}: holds no certificates, PEM, or broken ones"
    except OSError as error:
        return f"{file}: {error.strerror or 'cannot be read'}"
    return None
