"""The service's own TLS, where no proxy does it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from service.config.schema.server import Tls


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A certificate that can be replaced; open connections keep the old one."""

    settings: Tls
    context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        object.__setattr__(self, "context", context)
        if self.settings.client_ca is not None:
            # The client's authentication method requires a certificate (RFC 8705 §2).
            context.verify_mode = ssl.CERT_OPTIONAL
        self.reload()

    def check(self) -> None:
        """Raise OSError (ssl.SSLError too) if the files, as they are now, do not work together."""
        ServerTls(self.settings)

    def reload(self) -> None:
        """Read all files again, after a check; a `client_ca` is trusted in addition to earlier ones."""
        if self.settings.client_ca is not None:
            self.context.load_verify_locations(self.settings.client_ca)
        self.context.load_cert_chain(self.settings.certificate, self.settings.private_key)
