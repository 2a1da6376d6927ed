"""`python -m tests.store.records`: adds the records of versions that are new; what is there stays as it is."""

from __future__ import annotations

import json

from tests.store.records.example import EXAMPLES, SHAPES, encodings, golden, shape


def main() -> None:
    """Write one file for each version of a kind that has none, and its shape."""
    shapes = json.loads(SHAPES.read_text()) if SHAPES.exists() else {}
    for kind, encoding in sorted(encodings().items()):
        shapes.setdefault(kind, {}).setdefault(f"v{encoding.version}", shape(encoding))
        if not golden(encoding).exists():
            golden(encoding).write_bytes(encoding.encode(EXAMPLES[kind]) + b"\n")
    SHAPES.write_text(json.dumps(shapes, indent=2, sort_keys=True) + "\n")


main()
