"""docs/workloads.md: its settings have no problem, and its example gives what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.config.problem import Problem
from service.start.load import inspect
from tests.documentation.reading import REPOSITORY, blocks, says
from tests.driving.ports import lasting_ports
from tests.driving.process import DEMONSTRATION, serving

EXAMPLE, CLUSTER = REPOSITORY / "examples/workloads", "localhost:8090"
PAGE_BLOCKS = blocks(REPOSITORY / "docs/workloads.md")
BLOCKS = [yaml.safe_load(block.text) for block in PAGE_BLOCKS if block.language == "yaml"]
FIRST = BLOCKS[0]
ISSUERS = [each for each in BLOCKS if "workload_issuers" in each]


def problems(folder: Path, settings: dict[str, Any]) -> list[Problem]:
    file = folder / "config.yaml"
    deployer = {**FIRST["clients"][0], "client_id": "deployer", "template": False}
    usual = {**FIRST, "issuer": "https://login.example"}
    usual["clients"] = [*FIRST["clients"], *([deployer] if settings is not FIRST else [])]
    file.write_text(yaml.safe_dump(usual | settings))
    return [each for each in inspect(file, {}) if each.severity == "error"]


@pytest.mark.parametrize("settings", ISSUERS, ids=lambda one: one["workload_issuers"][0]["name"])
def test_settings_have_no_error(settings: dict[str, Any], tmp_path: Path) -> None:
    settings = {key: value for key, value in settings.items() if key == "workload_issuers"}
    found = problems(tmp_path, settings)
    assert [each for each in found if "deployer" not in str(each)] == []


def test_page_shows_the_file_of_the_example() -> None:
    shown = (EXAMPLE / "config.yaml").read_text().partition("\n\n")[2]
    for variable in ("${SERVICE_PORT:-8080}", "${CLUSTER_PORT:-8090}"):
        shown = shown.replace(variable, variable[-5:-1])
    assert PAGE_BLOCKS[0].text == shown


@pytest.fixture
def running(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The service and the stand-in for a cluster, by the page's first settings: where each is in place of where the page says."""
    cluster = f"localhost:{lasting_ports(1)[0]}"
    config = PAGE_BLOCKS[0].text.replace(CLUSTER, cluster)
    with serving(config, tmp_path) as service:
        ports = {"SERVICE_PORT": service.split(":")[1], "CLUSTER_PORT": cluster.split(":")[1]}
        command = [sys.executable, str(EXAMPLE / "cluster.py")]
        with subprocess.Popen(
            command, env={**os.environ, **ports}, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                assert "Running on" in process.stdout.readline()
                yield {DEMONSTRATION: service, CLUSTER: cluster}
            finally:
                process.kill()


@pytest.mark.needs("curl")
def test_a_pod_gets_a_token_and_an_api_introspects_it(running: dict[str, str]) -> None:
    script = next(block.text for block in PAGE_BLOCKS if block.language == "sh")
    answer = next(block.text for block in PAGE_BLOCKS if block.language == "json")
    for there, here in running.items():
        script = script.replace(there, here)
    printed = subprocess.check_output(["sh", "-eu"], input=script, text=True, timeout=60)
    assert says(answer, printed.replace(running[DEMONSTRATION], DEMONSTRATION)), printed
