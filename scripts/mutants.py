"""Changes code in small ways and tells which changes no test notices: `make mutants FILES="service/protocol/pkce.py …"`.

One process imports the service and the tests once. For each change it forks, puts the changed code into the function
there, and runs tests that run the changed line until one fails; coverage of one run of the tests tells which do. No file
is changed, and what was judged is kept in build/mutants: the next call leaves it out.
"""

from __future__ import annotations

import argparse
import builtins
import functools
import gc
import json
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

import pytest

from scripts.mutations import Mutant, find_mutants, instrument, take_sample

REPOSITORY = Path(__file__).parents[1]
MUTANTS = REPOSITORY / "build/mutants"
COVERED = MUTANTS / "covered.json"
JUDGED = MUTANTS / "judged.jsonl"
FEW, MANY = 40, 400
"""Tests that judge a change first, and those that judge one that survived them."""
ROWS = 6
"""Rows of one test at most among the few."""
BEST = 3
"""Tests that noticed most changes of the file; they come first."""
NEAR, RARE = 3, 15
"""Lines after a change of which the one is looked for that fewest tests run, and how many tests of rare lines come next."""
NAMED, CLOSE = 200, 100
"""Rows of tests that are named like the file; of those that run little but the changed function, and little but its file."""
TABLES = "tests/refusals/"
"""Where each row of a test is another request."""
LINES = 100_000
"""More than a file has."""
NOTE = "__note_line__"
PROCESSES = 2
SECONDS, SECONDS_OF_TEST = 30, 0.5
"""How long they may take, and longer for each of them; a change that lets them hang is noticed, too."""
PYTEST = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not needs")


def main() -> None:
    """Find out which tests run which lines, and judge a sample of each file's changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", nargs="+", required=True, help="folders of tests that judge")
    parser.add_argument("--files", nargs="+", required=True, help="files and folders to change")
    parser.add_argument("--sample", type=int, default=10_000, help="changes of each file at most")
    parser.add_argument("--seed", type=int, default=0, help="chooses the sample")
    chosen = parser.parse_args()
    MUTANTS.mkdir(parents=True, exist_ok=True)
    if not COVERED.exists():
        pytest.main([*PYTEST, *chosen.tests], plugins=[Covering()])
        return
    judge = Judge(list(_each_file(chosen.files)), chosen.sample, chosen.seed)
    sys.exit(pytest.main([*PYTEST, *chosen.tests], plugins=[judge]))


def _each_file(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        for each in sorted((REPOSITORY / name).rglob("*.py")) or [REPOSITORY / name]:
            yield str(each.relative_to(REPOSITORY))


class Covering:
    """Runs in place of pytest's loop over the tests: one row of each, and notes which lines each of them runs."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Write which tests run which line of which file, and the file as it was then."""
        files = list(_each_file(["service"]))
        hits = _note_lines(files)
        parts = [MUTANTS / f"covered-{number}.jsonl" for number in range(PROCESSES)]
        items = _take_rows(session.items)
        # No test has run here yet: what tests share, such as ports, each of the processes makes for itself.
        children = [
            _fork(functools.partial(_cover, items[at::PROCESSES], hits, part))
            for at, part in enumerate(parts)
        ]
        for child in children:
            os.waitpid(child, 0)
        join_covered(files, parts)
        return True


def join_covered(files: Sequence[str], parts: Sequence[Path]) -> None:
    """Write which tests run each line of each file."""
    lines: dict[str, dict[str, list[int]]] = {}
    tests: list[str] = []
    for part in parts:
        for line_of_part in part.read_text().splitlines():
            test, numbers = cast("tuple[str, list[int]]", json.loads(line_of_part))
            tests.append(test)
            for number in numbers:
                at, line = divmod(number, LINES)
                lines.setdefault(files[at], {}).setdefault(str(line), []).append(len(tests) - 1)
    sources = {file: (REPOSITORY / file).read_text() for file in lines}
    COVERED.write_text(json.dumps({"tests": tests, "lines": lines, "sources": sources}))


def _take_rows(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return one row of each test, and every row of the tables that are made to be a table."""
    first = {item.nodeid.partition("[")[0]: item for item in reversed(items)}
    return [
        item
        for item in items
        if first[item.nodeid.partition("[")[0]] is item or item.nodeid.startswith(TABLES)
    ]


def _note_lines(files: Sequence[str]) -> set[int]:
    """Let each statement of the service note its line, in the set that is returned."""
    hits: set[int] = set()
    setattr(builtins, NOTE, hits.add)
    _import_all(files)
    functions = _find_functions()
    for at, file in enumerate(files):
        name = str(REPOSITORY / file)
        for code in instrument(name, (REPOSITORY / file).read_text(), NOTE, at * LINES):
            for function in functions.get((name, code.co_qualname), ()):
                if function.__code__.co_firstlineno == code.co_firstlineno:
                    function.__code__ = code
    return hits


def _import_all(files: Sequence[str]) -> None:
    """Import the modules that the service imports where it first needs them, but for those of an extra that is not installed."""
    for file in files:
        if not file.endswith("__main__.py"):
            with suppress(ModuleNotFoundError):
                import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def _cover(items: Sequence[pytest.Item], hits: set[int], part: Path) -> None:
    with part.open("w") as covered:
        for item, following in zip(items, [*items[1:], None], strict=True):
            hits.clear()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            covered.write(json.dumps([item.nodeid, sorted(hits)]) + "\n")
            covered.flush()


def _fork(run: Callable[[], None]) -> int:
    """Run this in a process of its own, without output; return its number."""
    child = os.fork()
    if child:
        return child
    os.setpgid(0, 0)
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(devnull, stream)
    try:
        run()
    finally:
        os._exit(0)


class Covered:
    """Knows the tests that run a line of a file, as it is now."""

    def __init__(self, covered: Mapping[str, Any]) -> None:
        """Take the measurement of before."""
        self._tests: Sequence[str] = covered["tests"]
        self._lines: Mapping[str, Mapping[str, Sequence[int]]] = covered["lines"]
        self._sources: Mapping[str, str] = covered["sources"]
        of_all = chain.from_iterable(each.values() for each in self._lines.values())
        self._sizes = Counter(self._tests[number] for number in chain.from_iterable(of_all))
        """How many lines each test runs."""

    def find_tests(self, file: str, line: int) -> set[str]:
        """Return the tests of a line, or else of the nearest one before it that any test runs."""
        if file not in self._lines:
            return set()
        lines = self._lines[file]
        at = _line_before(self._sources[file], (REPOSITORY / file).read_text(), line)
        while at and not lines.get(str(at)):
            at -= 1
        return {self._tests[number] for number in lines.get(str(at), ())}

    def find_tests_around(self, file: str, code: CodeType) -> Iterator[list[str]]:
        """Return the tests of a file that have words of its path in their folder or name, those of a function, and those of its file.

        First come those that run little else. Of each one row was measured, and another may go elsewhere there.
        """
        everywhere = chain.from_iterable(self._lines.get(file, {}).values())
        of_file = self._sort({self._tests[number] for number in everywhere})
        _, *words = re.findall("[a-z]{3,}", file)  # the last ones say most
        named = Counter(
            {test: sum(2**at for at, word in enumerate(words) if word in test) for test in of_file}
        )
        yield [test for test, matches in named.most_common() if matches]
        yield self._sort(set[str]().union(*self._by_line(file, code)))
        yield of_file

    def _sort(self, tests: set[str]) -> list[str]:
        return sorted(tests, key=self._sizes.__getitem__)

    def find_rare_tests(self, file: str, line: int, code: CodeType) -> list[str]:
        """Return the tests soon after a line and in its function, first those of lines that few run: there a change is noticed."""
        near = [self.find_tests(file, line + after) for after in range(NEAR + 1)]
        by_line = [min(near, key=len), *sorted(self._by_line(file, code), key=len)]
        return [*dict.fromkeys(chain.from_iterable(map(sorted, by_line)))]

    def _by_line(self, file: str, code: CodeType) -> list[set[str]]:
        """Return the tests of each line of a function."""
        lines = {line for _, _, line in code.co_lines() if line is not None}
        return [self.find_tests(file, line) for line in lines]


@functools.lru_cache(maxsize=4096)
def _line_before(before: str, now: str, line: int) -> int:
    """Return where a line was when the coverage was measured, or where the lines around it were."""
    if before == now:
        return line
    opcodes = SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
    for tag, start, _, now_start, now_end in opcodes.get_opcodes():
        if now_start < line <= now_end:
            return start + (line - now_start if tag == "equal" else 1)
    return line


class Judge:
    """Runs in place of pytest's loop over the tests: a few of them for each change, in a process of its own."""

    def __init__(self, files: Sequence[str], number: int, seed: int) -> None:
        """Take the files, and how many changes of each are judged."""
        self._files = files
        self._number = number
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._seed = seed
        self._noticed: dict[str, Counter[str]] = {}
        """By file the tests that noticed a change: they are tried first."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge all changes."""
        covered = Covered(json.loads(COVERED.read_text()))
        rows: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            rows.setdefault(item.nodeid.partition("[")[0], []).append(item)
        _import_all(self._files)
        functions = _find_functions()
        known = {_key(line) for line in JUDGED.read_text().splitlines()} if JUDGED.exists() else ()
        _warm_up(session)
        for file in self._files:
            mutants = find_mutants(str(REPOSITORY / file), (REPOSITORY / file).read_text())
            sample = take_sample(mutants, self._number, self._seed)
            counts: Counter[str] = Counter()
            for mutant in sample:
                if str(mutant) in known:
                    continue
                where = functions.get((mutant.file, mutant.code.co_qualname), [])
                items = self._order(covered, file, mutant, rows)
                verdict = self._judge(session, mutant, where, items)
                counts[verdict.partition(" ")[0]] += 1
                if not verdict.startswith("noticed"):
                    sys.stdout.write(f"{verdict}: {_relative(mutant)}\n")
                with JUDGED.open("a") as judged:
                    judged.write(json.dumps({"mutant": str(mutant), "verdict": verdict}) + "\n")
            found = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
            sys.stdout.write(f"== {file}: {len(mutants)} changes, {found or 'none judged'}\n")
            sys.stdout.flush()
        return True

    def _judge(
        self,
        session: pytest.Session,
        mutant: Mutant,
        functions: Sequence[FunctionType],
        items: Sequence[pytest.Item],
    ) -> str:
        """Return `noticed` with the test, `survived` with the number of tests, `untested`, or `unreachable`, if no function is found."""
        if not functions:
            return "unreachable"
        if not items:
            return "untested"
        noticed = self._noticed.setdefault(mutant.file, Counter())
        for part in (items[:FEW], items[FEW:MANY]):
            failed = _run(session, mutant, functions, part) if part else None
            if failed is not None:
                noticed[failed.partition("[")[0]] += 1
                return f"noticed by {failed}"
        return f"survived {min(len(items), MANY)} tests"

    def _order(
        self,
        covered: Covered,
        file: str,
        mutant: Mutant,
        rows: Mapping[str, Sequence[pytest.Item]],
    ) -> list[pytest.Item]:
        """Return the rows of tests: a few of each, the best and rare ones first, all of those around, then the rest."""
        tests = covered.find_tests(file, mutant.line)
        rare = covered.find_rare_tests(file, mutant.line, mutant.code)
        around = covered.find_tests_around(file, mutant.code)
        first: list[pytest.Item] = []
        later: list[pytest.Item] = []
        for name, measured in self._order_names(file, tests, rare):
            every = list(rows.get(name, ()))
            if name.startswith(TABLES):  # measured row by row
                every = [item for item in every if item.nodeid in measured]
            self._random.shuffle(every)
            first.extend(every[:ROWS])
            later.extend(every[ROWS:])
        close: list[pytest.Item] = []
        for each, number in zip(around, (NAMED, CLOSE, CLOSE), strict=True):
            names = dict.fromkeys(test.partition("[")[0] for test in each)
            near = (rows.get(name, ()) for name in names if not name.startswith(TABLES))
            close.extend(islice(chain.from_iterable(near), number))
        return [*dict.fromkeys((*first[:FEW], *close, *first, *later))]

    def _order_names(
        self, file: str, tests: set[str], rare: Sequence[str]
    ) -> list[tuple[str, Sequence[str]]]:
        """Return the tests without their rows, each with those that were measured."""
        noticed = self._noticed.get(file, Counter())
        measured: dict[str, list[str]] = {}
        for test in tests:
            measured.setdefault(test.partition("[")[0], []).append(test)
        names = sorted(measured)
        self._random.shuffle(names)
        names.sort(key=lambda name: -noticed[name])
        of_rare = dict.fromkeys(test.partition("[")[0] for test in rare)
        then = [name for name in of_rare if name in measured][:RARE]
        return [(name, measured[name]) for name in dict.fromkeys((*names[:BEST], *then, *names))]


def _key(line: str) -> str:
    return str(json.loads(line)["mutant"])


def _relative(mutant: Mutant) -> str:
    return str(mutant).replace(f"{REPOSITORY}/", "")


def _find_functions() -> dict[tuple[str, str], list[FunctionType]]:
    """Return the functions of the service by file and qualified name."""
    gc.unfreeze()  # pytest hides from it what it has collected
    functions: dict[tuple[str, str], list[FunctionType]] = {}
    for one in gc.get_objects():
        if isinstance(one, FunctionType):
            code = one.__code__
            functions.setdefault((code.co_filename, code.co_qualname), []).append(one)
    return functions


def _warm_up(session: pytest.Session) -> None:
    """Run one test, so that what all tests share is made once and not in each process."""
    one = next(item for item in session.items if re.search("test_client_credentials", item.nodeid))
    other = next(item for item in session.items if item.path.parent != one.path.parent)
    one.config.hook.pytest_runtest_protocol(item=one, nextitem=other)


def _run(
    session: pytest.Session,
    mutant: Mutant,
    functions: Sequence[FunctionType],
    items: Sequence[pytest.Item],
) -> str | None:
    """Return the test that failed, or that did not end; None if all passed."""
    reader, writer = os.pipe()
    child = _fork(functools.partial(_run_changed, session, mutant, functions, items, writer))
    os.close(writer)
    ends = time.monotonic() + SECONDS + SECONDS_OF_TEST * len(items)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > ends:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            break
        time.sleep(0.02)
    with os.fdopen(reader) as pipe:
        *_, last = pipe.read().splitlines() or [""]
    return None if last == "passed" else last


def _run_changed(
    session: pytest.Session,
    mutant: Mutant,
    functions: Sequence[FunctionType],
    items: Sequence[pytest.Item],
    writer: int,
) -> None:
    for function in functions:
        function.__code__ = mutant.code
    for item, following in zip(items, [*items[1:], None], strict=True):
        os.write(writer, f"{item.nodeid}\n".encode())
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return
    os.write(writer, b"passed\n")


if __name__ == "__main__":
    main()
