"""`python -m benchmarks.flame FILE.svg`: where the time of introspection goes, drawn from py-spy's samples.

py-spy is a program of its own (PyPI) that has to be on the PATH.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.latency import introspection
from benchmarks.load import drive
from benchmarks.servers import Server, Servers

SECONDS, PER_SECOND, CONNECTIONS = 10, 500, 32
BELOW = "Runner.run (asyncio/runners.py)"
"""The start of the program, which is the same in every sample, and not drawn."""
WIDTH, ROW, LETTER = 1200, 18, 6.2
LEAST = 0.003
"""The smallest part of all samples that is drawn."""
WARM = ("#f4c28a", "#f0b27a", "#eea76a", "#f6cf9f")


@dataclass(slots=True)
class Frame:
    """A function, and how many samples were in it or in what it called."""

    samples: int = 0
    called: dict[str, Frame] = field(default_factory=dict[str, "Frame"])

    @property
    def depth(self) -> int:
        """The number of functions on the stack."""
        return 1 + max((each.depth for each in self.called.values()), default=0)


def main() -> None:
    """Sample a service that answers, and draw."""
    with ExitStack() as stack:
        servers = Servers(stack)
        redis_url = servers.redis()
        folder = Path(stack.enter_context(TemporaryDirectory()))
        stacks = _sampled(servers.service(redis_url), redis_url, folder / "stacks")
    Path(sys.argv[1]).write_text(drawn(tree(stacks)))


def tree(stacks: str) -> Frame:
    """The samples as a tree: each line is a stack, its functions parted by semicolons, and a count."""
    root = Frame()
    for line in stacks.splitlines():
        functions, _, count = line.rpartition(" ")
        names = [name.rpartition(":")[0] + ")" for name in functions.split(";")]
        if BELOW not in names:
            continue
        here = root
        here.samples += int(count)
        for name in names[names.index(BELOW) + 1 :]:
            here = here.called.setdefault(name, Frame())
            here.samples += int(count)
    return root


def drawn(root: Frame) -> str:
    """The tree as SVG: callers below, and as wide as they take long."""
    height = (root.depth + 1) * ROW
    size = f'viewBox="0 0 {WIDTH} {height}"'
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="10">'
    )
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    frames = _frames("event loop", root, root.samples, 0, height - ROW)
    return "\n".join([opening, background, *frames, "</svg>\n"])


def _sampled(server: Server, redis_url: str, file: Path) -> str:
    asked = introspection(redis_url)
    drive(server.port, asked, connections=CONNECTIONS, seconds=1)
    command = ["py-spy", "record", "--format", "raw", "--output", str(file)]
    command += ["--duration", str(SECONDS), "--rate", str(PER_SECOND)]
    with ThreadPoolExecutor() as threads:
        threads.submit(drive, server.port, asked, connections=CONNECTIONS, seconds=SECONDS + 1)
        subprocess.run([*command, "--pid", str(server.running.pid)], check=True)
    return file.read_text()


def _frames(name: str, frame: Frame, all_samples: int, left: float, top: float) -> Iterator[str]:
    part = frame.samples / all_samples
    if part < LEAST:
        return
    width = part * WIDTH
    text = name.partition(" (")[0][: int((width - 4) / LETTER)]
    fill = WARM[len(name) % len(WARM)]
    yield (
        f"<g><title>{escape(name)} {part:.1%}</title>"
        f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW - 1}" fill="{fill}"/>'
        f'<text x="{left + 2:.1f}" y="{top + 12}">{escape(text)}</text></g>'
    )
    for called, each in sorted(frame.called.items()):
        yield from _frames(called, each, all_samples, left, top - ROW)
        left += each.samples / all_samples * WIDTH


if __name__ == "__main__":
    main()
