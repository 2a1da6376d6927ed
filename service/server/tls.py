"""The service's own TLS, where no proxy does it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from service.config.schema.server import Tls


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A certificate that can be replaced while connections go on; those that are there keep the old one."""

    settings: Tls
    context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        if self.settings.client_ca is not None:
            context.load_verify_locations(self.settings.client_ca)
            context.verify_mode = (
                ssl.CERT_OPTIONAL
            )  # the client's authentication method demands it (RFC 8705 §2)
        object.__setattr__(self, "context", context)
        self._load()

    def check(self) -> None:
        """OSError (ssl.SSLError too) where the files, as they are now, do not work together."""
        ServerTls(self.settings)

    def reload(self) -> None:
        """Read all files again, after a check; a `client_ca` is trusted beside those that were read before."""
        if self.settings.client_ca is not None:
            self.context.load_verify_locations(self.settings.client_ca)
        self._load()

    def _load(self) -> None:
        self.context.load_cert_chain(self.settings.certificate, self.settings.private_key)
