"""Builds the Dockerfile as a container engine would: its steps, one after the other, in a folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
ALLOWED = (REPOSITORY / ".dockerignore").read_text().split()
"""What of the repository an engine would see: everything is left out but `!names`."""


def instructions() -> list[tuple[str, str]]:
    """Each instruction with what follows it, lines that go on joined."""
    text = (REPOSITORY / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


@dataclass
class Image:
    """The result of the steps: a root with the paths of the last stage, and the command that starts it."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    user: str = "0"
    entry_point: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    _args: dict[str, str] = field(default_factory=dict)
    _directory: str = "/"

    @property
    def root(self) -> Path:
        """The path of /; the same for every stage, because a virtual environment knows its own place."""
        return self.folder / "root"

    def build(self) -> None:
        for word, rest in instructions():
            getattr(self, f"_{word.lower()}")(rest)

    def path(self, name: str) -> Path:
        """A path of the image, or one that its working directory begins."""
        return self.root / (Path(self._directory) / name).as_posix().lstrip("/")

    def _arg(self, rest: str) -> None:
        name, _, value = rest.partition("=")
        self._args.setdefault(name, value)

    def _from(self, rest: str) -> None:
        """Begin a stage: a root with nothing in it, and a Python with pip apart, as the base image has."""
        if self.root.exists():
            self.root.rename(self.folder / "build")
        self.root.mkdir(parents=True)
        base = self._python()
        kept = {name: os.environ[name] for name in os.environ if name.startswith(("PIP_", "SSL_"))}
        self.environ = {**kept, "PATH": f"{base}/bin:/usr/bin:/bin"}
        self._directory = "/"

    def _python(self) -> Path:
        """The stage's own Python; that of the second is a copy, because to make one takes seconds."""
        first, second = self.folder / "python", self.folder / "python-again"
        if first.exists():
            shutil.copytree(first, second, symlinks=True)
            return second
        subprocess.run([sys.executable, "-m", "venv", str(first)], check=True)
        return first

    def _env(self, rest: str) -> None:
        for name, value in (each.split("=", 1) for each in rest.split()):
            self.environ[name] = value.replace("/app/", f"{self.root}/app/")

    def _workdir(self, rest: str) -> None:
        self._directory = rest
        self.path(".").mkdir(parents=True, exist_ok=True)

    def _copy(self, rest: str) -> None:
        if rest.startswith("--from=build "):
            _, source, target = rest.split()
            shutil.copytree(
                self.folder / "build" / source.lstrip("/"),
                self.path(target),
                symlinks=True,
                dirs_exist_ok=True,
            )
            return
        *patterns, target = rest.split()
        assert {f"!{pattern}" for pattern in patterns} <= set(ALLOWED)
        for path in (path for pattern in patterns for path in REPOSITORY.glob(pattern)):
            if path.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, self.path(target), ignore=ignored)
            else:
                self.path(target).parent.mkdir(exist_ok=True)
                shutil.copy2(path, self.path(target))

    def _run(self, rest: str) -> None:
        command = re.sub(r"\$\{(\w+)\}", lambda found: self._args[found[1]], rest)
        done = subprocess.run(
            ["sh", "-ec", command],
            cwd=self.path("."),
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _user(self, rest: str) -> None:
        self.user = rest

    def _label(self, rest: str) -> None:
        """Says something to readers only."""

    def _expose(self, rest: str) -> None:
        """Says something to readers only."""

    def _entrypoint(self, rest: str) -> None:
        self.entry_point = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.command = json.loads(rest)
