"""TLS of the service itself is TLS 1.2 with the cipher suites of RFC 9325, or TLS 1.3 (RFC 9325 §3.1.1, §4.2)."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from service.config.schema.server import Tls
from service.web.server.accepting import ServerTls
from tests.driving.authority import root
from tests.driving.certificate import certified
from tests.driving.handshake import agreed

pytestmark = pytest.mark.rfc("9325#3.1.1", "9325#4.2", "fapi2#5.2.2")


@pytest.fixture
def server(tmp_path: Path) -> ssl.SSLContext:
    file = certified(tmp_path)
    return ServerTls(Tls(certificate=file, private_key=file)).context


@pytest.mark.parametrize(
    "cipher", ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"]
)
def test_a_recommended_cipher_of_tls_1_2_is_accepted(server: ssl.SSLContext, cipher: str) -> None:
    assert agreed(server, ssl.TLSVersion.TLSv1_2, cipher) == ("TLSv1.2", cipher)


@pytest.mark.parametrize(
    "cipher",
    ["ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-CHACHA20-POLY1305"],
)
def test_another_cipher_of_tls_1_2_is_refused(server: ssl.SSLContext, cipher: str) -> None:
    with pytest.raises(ssl.SSLError, match=r"(?i)no.shared.cipher"):
        agreed(server, ssl.TLSVersion.TLSv1_2, cipher)


def test_tls_1_3_is_preferred(server: ssl.SSLContext) -> None:
    version, _ = agreed(server, ssl.TLSVersion.TLSv1_3)
    assert version == "TLSv1.3"


@pytest.mark.rfc("8705#2.1")
@pytest.mark.usefixtures("strict_python")
def test_a_client_certificate_without_every_extension_is_accepted_if_its_authority_is(
    tmp_path: Path,
) -> None:
    file, trusted = certified(tmp_path), root("CN=trusted")
    ca = tmp_path / "ca.pem"
    ca.write_text(trusted.pem)
    tls = Tls(certificate=file, private_key=file, client_ca=ca)
    server = ServerTls(tls, asks_for_certificates=True).context
    shown = trusted.issue(names_keys=False).write(tmp_path / "client.pem")
    assert agreed(server, ssl.TLSVersion.TLSv1_2, shown=shown)
    stranger = root("CN=stranger").issue(names_keys=False).write(tmp_path / "stranger.pem")
    with pytest.raises(ssl.SSLError, match="certificate verify failed"):
        agreed(server, ssl.TLSVersion.TLSv1_2, shown=stranger)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_older_versions_are_refused(server: ssl.SSLContext, version: ssl.TLSVersion) -> None:
    with pytest.raises(ssl.SSLError, match=r"(?i)version|protocol|no.shared.cipher"):
        agreed(server, version, "ALL:@SECLEVEL=0")
