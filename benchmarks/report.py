"""`python -m benchmarks.report FOLDER`: what was measured last, as tables in docs/performance.md."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.servers import FLOOR, PEER, SERVICE

DOCUMENT = Path("docs/performance.md")
CHARTS = {"floor.svg": "performance-floor.svg", "peer.svg": "performance-peer.svg"}
TIMES = ("latency", "cores", "memory", "start", "flat", "tracking", "api-kit")
STALLS = ("stalls",)

Row = Mapping[str, Any]


def main() -> None:
    """Write every table anew, and take the charts over."""
    folder = Path(sys.argv[1])
    DOCUMENT.write_text(updated(DOCUMENT.read_text(), folder))
    for drawn, kept in CHARTS.items():
        shutil.copyfile(folder / drawn, DOCUMENT.with_name(kept))


def updated(document: str, folder: Path) -> str:
    """The document with what the folder tells, each part between its two marks."""
    works = json.loads((folder / "table.json").read_text())["works"]
    times, stalls = _findings(folder, TIMES), _findings(folder, STALLS)
    parts = {
        "works": _works(works),
        "round trips": _round_trips(works),
        "missed": _missed(works, [*times, *stalls]),
    }
    # All else is measured apart: what takes longer, and instructions, which need no quiet machine.
    if times:
        parts["times"] = _figures(times)
    if stalls:
        parts["stalls"] = _figures(stalls)
    if counted := _findings(folder, ("instructions",)):
        parts["instructions"] = _instructions(counted)
    for name, text in parts.items():
        before, begin, rest = document.partition(f"<!-- measured: {name} -->\n")
        _, end, after = rest.partition("<!-- until here -->\n")
        if not (begin and end):
            raise ValueError(f"the document has no place for {name}")
        document = f"{before}{begin}{text}{end}{after}"
    return document


def _findings(folder: Path, topics: Collection[str]) -> list[Row]:
    """Return the figures of topics; none unless all of them were measured."""
    files = [folder / f"{topic}.json" for topic in topics]
    if not all(file.exists() for file in files):
        return []
    return [row for file in files for row in json.loads(file.read_text())]


def _works(works: list[Row]) -> str:
    head = (
        "work",
        *("to the floor", "bar", "spread", "to node-oidc-provider", "bar"),
        *("requests per CPU-second", "floor", "node-oidc-provider", "p50 ms", "p99 ms"),
    )
    return _table(head, map(_work, works))


def _work(row: Row) -> Iterable[str]:
    floor, peer, cpu = row["to_floor"], row["to_peer"], row["req_per_cpu_second"]
    yield row["work"]
    yield from (_ratio(floor), f"{floor['bar']:.2f}", f"{floor['spread']:.0%}")
    yield from (_ratio(peer), f"{peer['bar']:.2f}") if peer else ("–", "–")
    yield from (f"{cpu[SERVICE]:,.0f}", f"{cpu[FLOOR]:,.0f}")
    yield f"{cpu[PEER]:,.0f}" if PEER in cpu else "–"
    yield from (f"{row['p50_ms'][SERVICE]:.2f}", f"{row['p99_ms'][SERVICE]:.1f}")


def _ratio(ratio: Row) -> str:
    return f"{ratio['median']:.2f}" + (", **below**" if ratio["median"] < ratio["bar"] else "")


def _round_trips(works: list[Row]) -> str:
    told = [(row["work"], str(row["round_trips"]), row["commands"]) for row in works]
    return _table(("work", "round trips", "commands"), told)


def _instructions(findings: list[Row]) -> str:
    figures = [row["figure"] for row in findings]
    works = [str(row["what"]).rpartition(": ")[0] for row in findings[::3]]
    rows = zip(works, figures[::3], figures[1::3], figures[2::3], strict=True)
    told = [
        (work, f"{ours:,.0f}", f"{floor:,.0f}", f"{part:.2f}") for work, ours, floor, part in rows
    ]
    return _table(("work", "service", "floor", "to the floor"), told)


def _figures(findings: list[Row]) -> str:
    return _table(
        ("measured", "figure", "bar"), [(_what(row), _said(row), _bar(row)) for row in findings]
    )


def _what(row: Row) -> str:
    return str(row["what"])


def _said(row: Row) -> str:
    figure = row["figure"]
    return (
        f"{figure:,.0f} {row['unit']}" if figure >= 1000 else f"{figure:.2f} {row['unit']}".strip()
    )


def _bar(row: Row) -> str:
    bar = ""
    if row["at_most"] is not None:
        bar = f"at most {row['at_most']:g}"
    if row["at_least"] is not None:
        bar = f"at least {row['at_least']:g}"
    return bar if row["met"] else f"{bar}, **not met**"


def _missed(works: list[Row], findings: list[Row]) -> str:
    """Whatever is on the wrong side of its bar, noise or not."""
    missed = [
        f"{row['work']} {name}: {ratio['median']:.2f} of {ratio['bar']:.2f}"
        for row in works
        for name, ratio in (
            ("compared with the floor", row["to_floor"]),
            ("compared with the peer", row["to_peer"]),
        )
        if ratio and ratio["median"] < ratio["bar"]
    ]
    missed += [f"{_what(row)}: {_said(row)}, {_bar(row)}" for row in findings if not row["met"]]
    return "".join(f"- {each}\n" for each in missed) or "Every bar was met in this run.\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = [titles, ["---"] * len(titles), *map(list, rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
