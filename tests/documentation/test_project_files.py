"""The files that people and programs look for at the top of a repository are there, and are true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.documentation.reading import REPOSITORY


def test_the_bill_of_materials_names_every_locked_package_but_those_that_build() -> None:
    made = subprocess.run(
        ["make", "--silent", "build/sbom.json", f"BIN={Path(sys.executable).parent}"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert made.returncode == 0, made.stderr
    bill = json.loads((REPOSITORY / "build/sbom.json").read_text())
    lock = (REPOSITORY / "requirements.lock").read_text()
    locked = set(re.findall(r"^([a-z0-9_.-]+)(?:\[[\w,]+\])?==", lock, flags=re.MULTILINE))
    assert bill["bomFormat"] == "CycloneDX"
    builders = {
        "hatchling",
        "packaging",
        "pathspec",
        "pluggy",
        "setuptools",
        "tomlkit",
        "trove-classifiers",
    }
    assert {component["name"] for component in bill["components"]} == locked - builders
    assert all(component["purl"] for component in bill["components"])


def test_every_folder_with_dependencies_is_kept_up_to_date() -> None:
    bot = yaml.safe_load((REPOSITORY / ".github/dependabot.yml").read_text())
    watched = {
        (update["package-ecosystem"], folder.strip("/").removesuffix("/**"))
        for update in bot["updates"]
        for folder in update.get("directories", [update.get("directory")])
    }
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split()
    kinds = {"package.json": "npm", "go.mod": "gomod", "pom.xml": "maven", "Dockerfile": "docker"}
    unwatched = [
        path
        for path in map(Path, tracked)
        if path.name in kinds
        if not any(
            (kinds[path.name], each.as_posix().strip(".")) in watched for each in path.parents
        )
    ]
    assert unwatched == []


@pytest.mark.parametrize("form", sorted((REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml")))
def test_an_issue_form_can_be_read(form: Path) -> None:
    assert isinstance(yaml.safe_load(form.read_text()), dict)


def test_llms_txt_leads_to_files_that_exist() -> None:
    text = (REPOSITORY / "llms.txt").read_text()
    links = re.findall(r"\]\(([^)#]+)", text)
    assert text.startswith("# Token service\n\n> ")
    assert len(links) > 15
    assert [link for link in links if not (REPOSITORY / link).exists()] == []
