"""A configuration with as many clients as wanted."""

from __future__ import annotations

from pathlib import Path

from benchmarks.users import CONFIGURATION

HEAD = "\nclients:\n"
CLIENT = """\
  - client_id: client{number}
    client_secrets: [{{sha256: "c2145564714ad660dfc7b06f6acec6b6ce48c3de91170954ad20eec6880a9125"}}]
    allowed_grant_types: [authorization_code, refresh_token]
    allowed_scopes: [openid, profile, api1]
    allow_offline_access: true
    access_token_type: reference
    redirect_uris: [https://client{number}.example/callback]
"""


def with_clients(count: int, folder: Path) -> Path:
    """The benchmark's own configuration with further clients, in a file in this folder."""
    file = folder / f"{count}.yaml"
    more = "".join(CLIENT.format(number=number) for number in range(count))
    file.write_text(CONFIGURATION.read_text().replace(HEAD, HEAD + more, 1))
    return file
