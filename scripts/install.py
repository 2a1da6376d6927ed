"""Installs a lock file and the service into .venv: by uv, which downloads in parallel, or by pip where uv fails.

.venv/bin/python scripts/install.py requirements.lock
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
BASE_LOCK = "requirements.lock"
UV_LOCK = REPOSITORY / "requirements-uv.lock"
FORMER_NAME = "token-service"
"""What the service was called up to 0.2; on the package index it is somebody else's."""

UV_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
}
"""Settings of pip, and the variables by which uv takes them; uv does not read those of pip."""
SECTIONS = ["global", "install", ":env:"]
"""Where pip has its settings from; a later one replaces an earlier one."""
SETTING = re.compile(r"(global|install|:env:)\.(?:default-)?([a-z-]+)=(.+)")


def main(lock: str) -> int:
    """Install everything, and return the exit code."""
    pip, listed = find_pip()
    uv = find_uv(pip)
    # Whatever environment is active in the caller's shell, .venv is meant.
    environ = uv_environment(listed) | os.environ | {"UV_PYTHON": sys.executable}
    if uv is not None and install_all([uv, "pip"], lock, environ):
        return 0
    if uv is not None:
        say("uv could not install the packages; trying again with pip")
    return 0 if install_all(pip, lock, os.environ) else 1


def install_all(installer: Sequence[str], lock: str, environ: Mapping[str, str]) -> bool:
    """Install the locked packages by their hashes, then the service, whose edits count at once.

    `requirements.lock` comes first, because what builds other packages is in it: nothing is fetched that is not locked.
    The service of a former name goes away before, because both have the same command.
    """
    if any(found.name == FORMER_NAME for found in distributions()):
        subprocess.run([*installer, "uninstall", "--yes", FORMER_NAME], env=environ, check=False)
    locks = [["--require-hashes", "-r", each] for each in dict.fromkeys((BASE_LOCK, lock))]
    service = ["--no-deps", "--editable", str(REPOSITORY)]
    return all(
        subprocess.run(
            [*installer, "install", "--no-build-isolation", *what], env=environ, check=False
        ).returncode
        == 0
        for what in (*locks, service)
    )


def find_pip() -> tuple[list[str], str]:
    """Return the command that runs pip for .venv, and its settings; .venv has no pip of its own at first."""
    for pip in (
        [sys.executable, "-m", "pip"],
        [base_python(), "-m", "pip", "--python", sys.prefix],
    ):
        ran = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return [*pip, "--disable-pip-version-check"], ran.stdout
    subprocess.run([sys.executable, "-m", "ensurepip"], stdout=subprocess.DEVNULL, check=True)
    return find_pip()


def base_python() -> str:
    """Return the Python that .venv was made with (PEP 405)."""
    written = (Path(sys.prefix) / "pyvenv.cfg").read_text()
    return dict(line.split(" = ", 1) for line in written.splitlines())["executable"]


def find_uv(pip: Sequence[str]) -> str | None:
    """Return where uv is, after an installation of it where it is missing; None where that fails."""
    own = str(Path(sys.executable).with_name("uv"))
    if found := shutil.which(own) or shutil.which("uv"):
        return found
    say("installing uv, which installs the rest")
    options = ["--quiet", "--no-compile", "--only-binary=:all:", "--require-hashes"]
    ran = subprocess.run([*pip, "install", *options, "-r", str(UV_LOCK)], check=False)
    return own if ran.returncode == 0 else None


def uv_environment(listed: str) -> dict[str, str]:
    """Return what `pip config list` says, as environment variables of uv."""
    found = [match.groups() for line in listed.splitlines() if (match := SETTING.match(line))]
    found.sort(key=lambda one: SECTIONS.index(one[0]))
    environ = {
        UV_VARIABLES[name]: ("," if name == "find-links" else " ").join(
            ast.literal_eval(value).split()
        )
        for _, name, value in found
        if name in UV_VARIABLES
    }
    # Like pip, take a package from whichever index has the locked version.
    return environ | {"UV_COMPILE_BYTECODE": "1", "UV_INDEX_STRATEGY": "unsafe-best-match"}


def say(text: str) -> None:
    """Print a line on standard error at once."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
