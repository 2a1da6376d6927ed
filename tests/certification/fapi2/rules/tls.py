"""TLS of the service itself; a proxy in front of it has to do the same."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from service.config.schema.server import Tls
from service.web.server.accepting import ServerTls
from tests.certification.fapi2.rules.marks import mirrors
from tests.driving.certificate import certified
from tests.driving.handshake import agreed


class TlsVersions:
    """At every endpoint, because they share one port."""

    @mirrors("ensure-holder-of-key-required")
    @pytest.mark.rfc("fapi2#5.2.2", "9325#4.2")
    def test_tls_is_1_2_with_a_recommended_cipher_or_1_3(self, tmp_path: Path) -> None:
        file = certified(tmp_path)
        server = ServerTls(Tls(certificate=file, private_key=file)).context
        assert agreed(server, ssl.TLSVersion.TLSv1_3)[0] == "TLSv1.3"
        assert "AES" in agreed(server, ssl.TLSVersion.TLSv1_2)[1]
        for cipher in ("ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"):
            with pytest.raises(ssl.SSLError):
                agreed(server, ssl.TLSVersion.TLSv1_2, cipher)
