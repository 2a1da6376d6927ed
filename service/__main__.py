"""The program: `python -m service`, or `token-service`."""

from __future__ import annotations

import atexit
import gc

from service.cli.program import program

COLLECTED_AFTER = 100_000
"""New objects after which garbage is looked for: more than a command needs for its imports. A process that serves sets its own."""


def main() -> None:
    """Run one command, of which standard output has the result only."""
    gc.set_threshold(COLLECTED_AFTER)
    atexit.register(
        gc.freeze
    )  # otherwise all of it would be looked at once more, only to be dropped with the process
    program(prog_name="token-service")


if __name__ == "__main__":
    main()
