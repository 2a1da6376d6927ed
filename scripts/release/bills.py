"""Lists what the service is made of, as CycloneDX: the wheel's dependencies from a lock file, and all that is in an image.

python -m scripts.release.bills requirements.lock build/sbom.json
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from email.parser import HeaderParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL

from scripts.release.archives import unpack_image

TOP = Path(__file__).parents[2]
SCHEMA = SchemaVersion.V1_6
CYCLONEDX = (sys.executable, "-m", "cyclonedx_py")
OPTIONS = ("--pyproject", str(TOP / "pyproject.toml"), "--output-reproducible", "--sv", "1.6")
PACKAGES = "app/.venv/lib/python3*/site-packages"
READ = re.compile(
    r"(var/lib/dpkg/(status|status\.d/.*)|(usr/lib|etc)/os-release"
    r"|app/\.venv/pyvenv\.cfg|app/\.venv/lib/[^/]+/site-packages/[^/]+\.dist-info/.*)$"
)
"""The files of an image that tell what is in it."""
REASON = re.compile(
    r"^    # +(?:via )?(?!-c )(\S+ \(pyproject\.toml[^)]*\)|[a-z0-9._-]+)$", re.MULTILINE
)


def wheel_bill(lock: str) -> bytes:
    """Return the bill of what a lock file installs for the service, without what only builds packages."""
    requirements = ("requirements", "-", *OPTIONS)
    return subprocess.check_output(
        [*CYCLONEDX, *requirements], input=without_builders(lock).encode()
    )


def without_builders(lock: str) -> str:
    """Return the entries of a lock file but for those that only the group `install` asks for."""
    header, *entries = re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE)
    by_name = {re.split(r"[\[=]", entry, maxsplit=1)[0]: entry for entry in entries}
    reasons = {name: set(REASON.findall(entry)) for name, entry in by_name.items()}
    dropped = {"aiohttp-token-service (pyproject.toml:install)"}
    while more := {
        name for name, asked in reasons.items() if name not in dropped and asked <= dropped
    }:
        dropped |= more
    return header + "".join(entry for name, entry in by_name.items() if name not in dropped)


def image_bill(archive: Path) -> bytes:
    """Return the bill of the image in an OCI archive: the packages of Python and of the distribution, and Python itself."""
    with TemporaryDirectory() as made:
        root = Path(made)
        unpack_image(archive, root, lambda name: bool(READ.search(name.removeprefix("./"))))
        bill = _python_packages(root)
        system = [*_debian_packages(root), _python(root)]
    bill["components"] = sorted(bill["components"] + system, key=lambda each: each["bom-ref"])
    bill["metadata"].setdefault("lifecycles", [{"phase": "build"}])
    text = json.dumps(bill, indent=2, sort_keys=True)
    # It takes seconds to import, and this module is imported for more than bills of images.
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    problem = JsonStrictValidator(SCHEMA).validate_str(text)
    if problem is not None:
        raise ValueError(f"the bill of the image is not CycloneDX {SCHEMA.to_version()}: {problem}")
    return text.encode() + b"\n"


def _python_packages(root: Path) -> Any:
    """Return the bill that cyclonedx-py makes of the packages in the image's environment.

    It asks a Python for its path; this one answers with the unpacked folder, because the image's own cannot run here.
    """
    (packages,) = root.glob(PACKAGES)
    python = root / "python"
    python.write_text(f"#!/bin/sh\necho '{json.dumps([str(packages)])}'\n")
    python.chmod(0o755)
    return json.loads(subprocess.check_output([*CYCLONEDX, "environment", *OPTIONS, str(python)]))


def _debian_packages(root: Path) -> Iterator[Mapping[str, str]]:
    release = root / "etc/os-release"
    text = (release if release.is_file() else root / "usr/lib/os-release").read_text()
    system = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    yield {
        "type": "operating-system",
        "bom-ref": f"os:{system['ID']}",
        "name": system["ID"],
        "version": system["VERSION_ID"],
    }
    for paragraph in (root / "var/lib/dpkg/status").read_text().split("\n\n"):
        fields = HeaderParser().parsestr(paragraph)
        if fields.get("Status", "").endswith(" installed"):
            about = {
                "arch": fields["Architecture"],
                "distro": f"{system['ID']}-{system['VERSION_ID']}",
            }
            url = PackageURL("deb", system["ID"], fields["Package"], fields["Version"], about)
            yield _component(url)


def _python(root: Path) -> Mapping[str, str]:
    """Return the interpreter, which the official images hold outside of the distribution's packages."""
    written = (root / "app/.venv/pyvenv.cfg").read_text()
    (version,) = re.findall(r"^version = (\S+)$", written, re.MULTILINE)
    return _component(PackageURL("generic", None, "python", version))


def _component(url: PackageURL) -> Mapping[str, str]:
    name, version, text = url.name, url.version or "", url.to_string()
    return {"type": "library", "bom-ref": text, "name": name, "version": version, "purl": text}


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(wheel_bill(Path(sys.argv[1]).read_text()))
