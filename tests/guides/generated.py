"""The application that `new client` prints code for, made and run as its lines say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

CODE = "# pip install"
"""The beginning of the code among the printed lines."""


def generate(config: Path, folder: Path, *, redirect_uri: str) -> dict[str, Any]:
    """Write app.py and the secret into a folder; return the entries for the configuration."""
    arguments = ("--kind", "web", "--name", "Shop", "--framework", "fastapi")
    asked = ("--redirect-uri", redirect_uri, "--scopes", "openid profile", "--config", str(config))
    command = [sys.executable, "-m", "service", "new", "client", *arguments, *asked]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    folder.mkdir(parents=True)
    (folder / "app.py").write_text(made.stderr[made.stderr.index(CODE) :])
    (secret,) = re.findall(r"^export CLIENT_SECRET=(\S+)$", made.stderr, re.MULTILINE)
    (folder / "start").write_text(
        f'export CLIENT_SECRET={secret} SESSION_SECRET=only-for-this-run\nexec "$@"\n'
    )
    entries: dict[str, Any] = yaml.safe_load(made.stdout)
    return entries
