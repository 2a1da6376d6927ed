"""The workflows run what everybody runs, by actions of fixed commits, with the least rights (actionlint judges the rest)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / f".github/workflows/{name}.yml").read_text()
    )
    return found


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step["run"] for step in job["steps"] if "run" in step)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_every_action_is_one_commit_whose_version_is_named(file: Path) -> None:
    used = re.findall(r"uses: (.+)", file.read_text())
    pinned = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert used
    assert [each for each in used if not pinned.fullmatch(each)] == []


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_job_has_the_rights_that_it_names_and_no_others(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    assert content["permissions"] == {}
    assert all("permissions" in job for job in content["jobs"].values())


def test_ci_runs_the_script_that_has_to_pass() -> None:
    job = workflow("ci")["jobs"]["ci"]
    assert job["permissions"] == {"contents": "read"}
    assert ".ci/run" in commands(job).splitlines()


def test_only_the_job_that_builds_nothing_may_sign() -> None:
    build, sign = (workflow("release")["jobs"][name] for name in ("build", "sign"))
    assert "make release" in commands(build)
    assert build["permissions"] == {"contents": "read"}
    assert sign["permissions"] == {"contents": "write", "id-token": "write"}
    assert not {"make", "pip", "python"} & set(commands(sign).split())
    assert "cosign sign-blob" in commands(sign)
    assert not any("checkout" in step.get("uses", "") for step in sign["steps"])
