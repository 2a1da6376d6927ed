"""Makes wheels with nothing but a name in them; as a build backend, too (PEP 517, PEP 660)."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile


def make_wheel(folder: Path, name: str) -> Path:
    """Write a wheel with one empty module."""
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    files = {
        f"{module}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    wheel = folder / f"{module}-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for path, text in (*files.items(), (f"{info}/RECORD", record)):
            archive.writestr(path, text)
    return wheel


def build_editable(wheel_directory: str, *_: object) -> str:
    """Make the wheel of the repository."""
    return make_wheel(Path(wheel_directory), "repository").name
