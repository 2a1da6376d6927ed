"""The program: `python -m service`, or `token-service`."""

from __future__ import annotations

from service.cli.importing import without_unwanted
from service.cli.program import program

with without_unwanted():
    from service.observe.logs import configure_logs


def main() -> None:
    """Run one command, of which standard output has the result only; `serve` logs at a level of its own."""
    configure_logs("warning")
    program(prog_name="token-service")


if __name__ == "__main__":
    main()
