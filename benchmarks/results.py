"""Prints results, and writes them as JSON and charts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.chart import Bar, chart
from benchmarks.finding import Finding
from benchmarks.table import Ratio, Table


def show_table(table: Table, folder: Path | None) -> None:
    """Print it; where there is a folder, write table.json and a chart for each other server."""
    sys.stdout.write(f"{table.text()}\n")
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.json").write_text(json.dumps(table.as_json(), indent=2) + "\n")
    rows = table.rows()
    floor = [_bar(row.work, row.to_floor) for row in rows]
    (folder / "floor.svg").write_text(
        chart("Requests per CPU-second compared with the floor", floor)
    )
    peer = [_bar(row.work, row.to_peer) for row in rows if row.to_peer]
    if peer:
        title = "Requests per CPU-second compared with node-oidc-provider"
        (folder / "peer.svg").write_text(chart(title, peer))


def show_findings(what: str, findings: Sequence[Finding], folder: Path | None) -> None:
    """Print them; where there is a folder, write them to a file there."""
    sys.stdout.write("".join(f"{finding}\n" for finding in findings))
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        told = [{**asdict(finding), "met": finding.met} for finding in findings]
        (folder / f"{what}.json").write_text(json.dumps(told, indent=2) + "\n")


def _bar(label: str, ratio: Ratio) -> Bar:
    return Bar(label=label, ratio=ratio.median, at_least=ratio.bar)
