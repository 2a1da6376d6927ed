"""The wheel of the kit for APIs is typed, needs joserfc only, and holds nothing of the service (PEP 427, PEP 561)."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from tests.installing.test_wheel import uv

KIT = Path(__file__).parents[2] / "api"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    uv("build", "--wheel", "--no-build-isolation", "-o", folder, KIT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_wheel_of_the_kit_is_typed_and_holds_no_tests(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = [archive.read(name) for name in names if name.endswith("/METADATA")]
    assert "oauth_resource_server/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"oauth_resource_server"}
    needed = message_from_bytes(metadata).get_all("Requires-Dist", [])
    assert [one for one in needed if "extra ==" not in one] == ["joserfc>=1.2"]


def test_the_kit_can_be_imported_without_the_service_or_a_framework(wheel: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(wheel)!r})
import oauth_resource_server
absent = {{"service", "fastapi", "starlette", "flask", "django", "aiohttp", "httpx2", "pytest"}}
print(sorted(absent & set(sys.modules)))
"""
    shown = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
