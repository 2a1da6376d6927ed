"""Changes code in small ways and tells which changes no test notices: `make mutants FILES="service/protocol/pkce.py …"`.

cosmic-ray makes the changes, in a copy of the repository. Each is judged by the tests that run the changed line, as
the coverage of one run of them tells. What was judged is kept in build/mutants: the next call goes on where the last one ended.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from coverage import CoverageData

REPOSITORY = Path(__file__).parents[1]
MUTANTS = REPOSITORY / "build/mutants"
COPY = MUTANTS / "copy"
COVERAGE = MUTANTS / "coverage"
PROGRAMS = MUTANTS / "venv/bin"
BEFORE = ".before"
"""What the name of a file's unchanged copy ends with."""
MOST = 60
"""Tests that judge a change at most."""
SECONDS = 300
"""How long they may take; a change that lets them hang is noticed, too."""
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
CONFIGURATION = """
[cosmic-ray]
module-path = {file!r}
timeout = {seconds}.0
test-command = {command!r}
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = ["core/ReplaceBinaryOperator_BitOr_.*"]
"""
"""`|` stands in annotations, which nothing runs."""


def main(tests: Sequence[str], files: Sequence[str]) -> None:
    """Make and judge the changes of these files and folders."""
    _copy()
    if not COVERAGE.exists():
        environ = os.environ | {"COVERAGE_FILE": str(COVERAGE)}
        options = ("-m", "not needs", "--cov", "--cov-context=test", "--cov-report=", "-n", "2")
        subprocess.run([*PYTEST, *options, *tests], cwd=COPY, env=environ, check=False)
    for file in _each_file(files):
        print(f"\n== {file}", flush=True)
        _judge_all(file)


def _copy() -> None:
    """Bring the copy to what the repository holds."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=REPOSITORY, text=True)
    for name in filter(None, listed.split("\0")):
        file, copied = REPOSITORY / name, COPY / name
        if file.is_file() and not (copied.exists() and copied.read_bytes() == file.read_bytes()):
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, copied)


def _each_file(files: Sequence[str]) -> Iterator[str]:
    for name in files:
        found = sorted((REPOSITORY / name).rglob("*.py")) or [REPOSITORY / name]
        yield from (
            str(each.relative_to(REPOSITORY)) for each in found if each.name != "__init__.py"
        )


def _judge_all(file: str) -> None:
    """Judge what is not judged yet, and print what survived."""
    name = file.removesuffix(".py").replace("/", "-")
    session, configuration = MUTANTS / f"{name}.sqlite", MUTANTS / f"{name}.toml"
    unchanged = COPY / f"{file}{BEFORE}"
    if not unchanged.exists() or unchanged.read_bytes() != (COPY / file).read_bytes():
        session.unlink(missing_ok=True)
        shutil.copy2(COPY / file, unchanged)
    command = shlex.join([sys.executable, "-m", "scripts.mutants", "--judge", file, str(COVERAGE)])
    configuration.write_text(CONFIGURATION.format(file=file, seconds=SECONDS, command=command))
    if not session.exists():
        _run("cosmic-ray", "init", str(configuration), str(session))
        _run("cr-filter-operators", str(session), str(configuration))
    _run("cosmic-ray", "baseline", str(configuration))  # without a change the tests pass
    _run("cosmic-ray", "exec", str(configuration), str(session))
    _run("cr-report", str(session), "--surviving-only", "--show-diff")


def _run(program: str, *arguments: str) -> None:
    subprocess.run([PROGRAMS / program, *arguments], cwd=COPY, check=True)


def judge(file: str, coverage: str) -> None:
    """Run the tests of the changed lines, in place of this process."""
    tests = sorted(_find_tests(Path(file), coverage))
    if tests:
        os.environ["COVERAGE_FILE"] = os.devnull
        os.execv(sys.executable, [*PYTEST, "-x", *tests[:: len(tests) // MOST + 1]])  # noqa: S606


def _find_tests(file: Path, coverage: str) -> set[str]:
    """Return the tests that run the changed lines."""
    before = Path(f"{file}{BEFORE}").read_text().splitlines()
    changes = SequenceMatcher(None, before, file.read_text().splitlines()).get_opcodes()
    data = CoverageData(coverage)
    data.read()
    tests = {
        line: {context.partition("|")[0] for context in contexts if context}
        for line, contexts in data.contexts_by_lineno(str(file.absolute())).items()
    }
    changed = [
        line + 1 for tag, start, end, *_ in changes if tag != "equal" for line in range(start, end)
    ]
    return set().union(*(_tests_before(line, tests) for line in changed))


def _tests_before(line: int, tests: Mapping[int, set[str]]) -> set[str]:
    """Return the tests that run a line, or else the nearest one before it that any test runs."""
    while line and not tests.get(line):
        line -= 1
    return tests.get(line, set())


if __name__ == "__main__":
    if sys.argv[1] == "--judge":
        judge(*sys.argv[2:])
    else:
        split = sys.argv.index("--")
        main(sys.argv[1:split], sys.argv[split + 1 :])
