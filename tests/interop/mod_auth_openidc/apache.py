"""An Apache with mod_auth_openidc on a loopback port, of which nothing is left at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from tests.interop.addresses import BACK_CHANNEL_PARTY, FRONT_CHANNEL_PARTY

FOLDER = Path(__file__).parent
PORTS = {
    "BACK_CHANNEL_PORT": str(urlsplit(BACK_CHANNEL_PARTY).port),
    "FRONT_CHANNEL_PORT": str(urlsplit(FRONT_CHANNEL_PARTY).port),
}
PATIENCE = 60


@contextmanager
def apache() -> Iterator[Path]:
    """Apache with both sites, for as long as the block lasts; the file is its error log."""
    with TemporaryDirectory(prefix="interop-apache-") as name:
        httpd = Path(name)
        httpd.chmod(0o755)
        (httpd / "pages/protected").mkdir(parents=True)
        shutil.copy(FOLDER / "page.html", httpd / "pages/protected")
        environ = PORTS | {"HTTPD": name, "PASSPHRASE": secrets.token_urlsafe()}
        process = subprocess.Popen(
            ["/usr/sbin/apache2", "-f", FOLDER / "httpd.conf", "-D", "FOREGROUND"],
            env=os.environ | environ,
        )
        try:
            _wait_for(process)
            yield httpd / "error.log"
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _wait_for(process: subprocess.Popen[bytes]) -> None:
    """Return once it listens."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            create_connection(("127.0.0.1", urlsplit(FRONT_CHANNEL_PARTY).port or 0)).close()
        except ConnectionRefusedError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return
