"""Names the programs that a test needs: without them it is skipped by name, or fails under REQUIRE_ALL=1."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest

REQUIRE_ALL = os.environ.get("REQUIRE_ALL") == "1"
IMPORT = "import "
"""What stands before the name of a package."""
WITHOUT = "needs a program that is not here: "


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a test marked `needs("program", ...)` where one of the programs is missing."""
    needed = [program for mark in item.iter_markers("needs") for program in mark.args]
    missing = [program for program in needed if not _is_here(program)]
    if missing and REQUIRE_ALL:
        pytest.fail(WITHOUT + ", ".join(missing), pytrace=False)
    if missing:
        pytest.skip(WITHOUT + ", ".join(missing))


def _is_here(program: str) -> bool:
    """Return whether a program can be run, or a package that the lock file leaves out be imported."""
    package = program.removeprefix(IMPORT)
    found = find_spec(package) if package != program else shutil.which(program)
    return found is not None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name at the end every test that was skipped for want of a program."""
    skipped = [
        f"{report.nodeid}: {reason}"
        for report in terminalreporter.getreports("skipped")
        if (reason := reason_of(report)).startswith(WITHOUT)
    ]
    if not skipped:
        return
    terminalreporter.section(f"{len(skipped)} TESTS DID NOT RUN", red=True, bold=True)
    for line in sorted(skipped):
        terminalreporter.write_line(line, red=True)
    terminalreporter.write_line("REQUIRE_ALL=1 makes these fail.", red=True)


def reason_of(report: pytest.TestReport) -> str:
    """Tell why a report was skipped; pytest keeps it as (path, line, "Skipped: reason")."""
    return (
        report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
    )
