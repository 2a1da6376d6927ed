"""The program: `python -m service`, or `token-service`."""

from __future__ import annotations

import atexit
import gc

from service.cli.program import program

COLLECTED_AFTER = 100_000
"""New objects after which garbage is looked for: more than the imports of a command make."""


def main() -> None:
    """Run one command, of which standard output has the result only."""
    gc.set_threshold(COLLECTED_AFTER)  # a process that serves sets its own
    # Python looks for garbage once more at its end, in all objects that are not frozen; the memory is freed then anyway.
    atexit.register(gc.freeze)
    program(prog_name="token-service")


if __name__ == "__main__":
    main()
