"""The files of examples/proxies in the real programs, before two replicas."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import OK
from pathlib import Path
from socket import create_connection

import httpx2
import yaml

from tests.driving import proxy_programs
from tests.driving.certificate import certified
from tests.driving.ports import lasting_ports
from tests.driving.process import REPOSITORY
from tests.driving.program import SECONDS, Program, eventually
from tests.driving.proxy_programs import TRAEFIK
from tests.driving.replicas import replicas_running

FILES = REPOSITORY / "examples/proxies"
COMMANDS = proxy_programs.COMMANDS | {
    "nginx.conf": ["nginx", "-p", ".", "-e", "stderr", "-c", "whole.conf"],
    "traefik.yaml": [
        *(str(TRAEFIK), "--providers.file.filename=../traefik.yaml"),
        "--entrypoints.https.address=127.0.0.1:443",
    ],
}
PROGRAMS = [name for name in COMMANDS if name != "traefik.yaml" or TRAEFIK.exists()]
"""Those that are there; `make traefik` builds Traefik, as CI does; that takes minutes."""
NGINX = (
    "daemon off; master_process off; pid nginx.pid; "
    "events {} http { access_log off; %s include nginx.conf; }"
)
"""What includes a file of conf.d, with folders that are not those of the package, and no worker that outlives a kill."""
CADDY = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"


@dataclass(frozen=True)
class Site:
    """A proxy with TLS before replicas, which name it in their issuer."""

    url: str
    issuer: str
    trust: ssl.SSLContext
    replicas: list[Program]
    addresses: list[str]

    def replace(self, replica: Program) -> int:
        """Drain one and start it anew; its exit code, once the proxy gives it requests for tokens again."""
        code = replica.stop()
        replica.start()
        url = replica.url()
        eventually(lambda: '"/connect/token"' in httpx2.get(f"{url}/metrics").text)
        return code

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """An answer through the proxy."""
        return httpx2.get(f"{self.url}{path}", headers=headers, verify=self.trust)


@contextmanager
def site_running(
    name: str,
    folder: Path,
    configuration: Mapping[str, object],
    *,
    path: str = "",
    changes: Mapping[str, str] | None = None,
) -> Iterator[Site]:
    """The program with its file, at other addresses and with these changes, before two replicas.

    `path` is that of the issuer.
    """
    own, *ports = lasting_ports(3)
    certificate, url = certified(folder), f"https://localhost:{own}"
    _write_file(
        name,
        folder,
        own,
        ports,
        {**(changes or {}), "/etc/ssl/auth.example.com.pem": str(certificate)},
    )
    config_file = folder / "config.yaml"
    whole = {**configuration, "issuer": url + path}
    config_file.write_text(yaml.safe_dump(whole, sort_keys=False))
    with (
        replicas_running(config_file, len(ports), ports=ports) as replicas,
        _running(name, folder, own),
    ):
        trust = ssl.create_default_context(cafile=str(certificate))
        addresses = [f"http://127.0.0.1:{port}" for port in ports]
        site = Site(url, url + path, trust, replicas, addresses)
        described = f"{path}/.well-known/openid-configuration"
        eventually(lambda: _answers(site, described))
        yield site


def _answers(site: Site, path: str) -> bool:
    """Return whether there is a 200; Traefik listens before it has read its file."""
    try:
        return site.get(path).status_code == OK
    except httpx2.TransportError:
        return False


def _write_file(
    name: str, folder: Path, own: int, ports: list[int], changes: Mapping[str, str]
) -> None:
    text = (FILES / name).read_text()
    first, second = ports
    here = {
        **changes,
        "/etc/ssl/auth.example.com.key": changes["/etc/ssl/auth.example.com.pem"],
        "listen 443 ssl": f"listen 127.0.0.1:{own} ssl",
        "bind :443": f"bind 127.0.0.1:{own}",
        "address: 0.0.0.0, port_value: 443": f"address: 127.0.0.1, port_value: {own}",
        "address: 10.0.0.11, port_value: 8080": f"address: 127.0.0.1, port_value: {first}",
        "address: 10.0.0.12, port_value: 8080": f"address: 127.0.0.1, port_value: {second}",
        "10.0.0.11:8080": f"127.0.0.1:{first}",
        "10.0.0.12:8080": f"127.0.0.1:{second}",
        "auth.example.com {": f"https://localhost:{own} {{",
        "auth.example.com": "localhost",
    }
    for there, now in here.items():
        text = text.replace(there, now)
    (folder / name).write_text(CADDY + text if name == "Caddyfile" else text)
    (folder / "whole.conf").write_text(NGINX % proxy_programs.TEMPORARY)


@contextmanager
def _running(name: str, folder: Path, port: int) -> Iterator[None]:
    command = [part.replace("127.0.0.1:443", f"127.0.0.1:{port}") for part in COMMANDS[name]]
    # In the same folder as its file Traefik would take this for its static configuration, too.
    place = folder / "elsewhere" if name == "traefik.yaml" else folder
    place.mkdir(exist_ok=True)
    environ = os.environ | {"HOME": str(place), "XDG_CONFIG_HOME": str(place)}
    process = subprocess.Popen(command, cwd=place, env=environ)
    try:
        eventually(lambda: process.poll() is not None or _listens(port))
        assert process.poll() is None
        yield
    finally:
        process.kill()
        process.wait(SECONDS)


def _listens(port: int) -> bool:
    try:
        with create_connection(("127.0.0.1", port)):
            return True
    except OSError:
        return False
