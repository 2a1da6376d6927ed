"""Client certificates that the ingress controller has verified reach the service (RFC 8705), and made-up ones do not."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from service.config.convert import convert
from service.config.schema.server import Server
from tests.driving.certificate import certified
from tests.k8s.ending_tls import Ended, ending_tls
from tests.k8s.rendered import K8S, Manifest, rendered

pytestmark = pytest.mark.needs("kustomize", "haproxy")

VARIANTS = ["prod, certificates by haproxy", "prod, certificates by nginx"]


def annotations_of(combination: str) -> dict[str, str]:
    (ingress,) = rendered(combination).every("Ingress")
    found: dict[str, str] = ingress["metadata"]["annotations"]
    return found


def header(combination: str) -> str:
    """The header that the service is configured to read."""
    (value,) = (
        each["value"]
        for each in rendered(combination).container()["env"]
        if each["name"] == "CLIENT_CERTIFICATE_HEADER"
    )
    found: str = value
    return found


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Ended]:
    """HAProxy with what the annotation says; clients' certificates are their own authority."""
    for name in ("server", "client", "stranger"):
        (tmp_path / name).mkdir()
        certified(tmp_path / name)
    lines = annotations_of(VARIANTS[0])["haproxy-ingress.github.io/config-backend"]
    server, client = (tmp_path / name / "loopback.pem" for name in ("server", "client"))
    with ending_tls(tmp_path, server, client, lines) as running:
        yield running


@pytest.mark.rfc("9440#2.1")
def test_a_verified_certificate_is_passed_on(proxy: Ended, tmp_path: Path) -> None:
    client = tmp_path / "client/loopback.pem"
    text = client.read_text()
    der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])
    assert proxy.forwarded(client) == f":{base64.b64encode(der).decode()}:"


@pytest.mark.rfc("9440#2.4")
def test_a_header_that_a_caller_made_up_is_not(proxy: Ended, tmp_path: Path) -> None:
    made_up = {"Client-Cert": ":bWFkZSB1cA==:"}
    assert proxy.forwarded(None, **made_up) == "none"
    assert proxy.forwarded(tmp_path / "stranger/loopback.pem", **made_up) == "none"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_service_reads_a_header_that_it_knows(variant: str) -> None:
    settings = {"client_certificate_header": header(variant), "trusted_proxies": ["10.0.0.0/8"]}
    assert convert(settings, Server).client_certificate_header == header(variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_certificate_is_asked_for_and_not_demanded(variant: str) -> None:
    asked = {name.partition("/")[2]: value for name, value in annotations_of(variant).items()}
    assert asked["auth-tls-verify-client"] == "optional"
    assert asked["auth-tls-secret"].rpartition("/")[2] == "client-ca"


def test_nginx_sets_the_header_that_the_service_reads() -> None:
    settings: Manifest = yaml.safe_load(
        (K8S / "components/client-certificates/nginx/controller-headers.yaml").read_text()
    )
    assert settings["data"] == {header(VARIANTS[1]): "$ssl_client_escaped_cert"}
