"""The program: `python -m service`, or `token-service`."""

from __future__ import annotations

from service.cli.program import program


def main() -> None:
    """Run one command, of which standard output has the result only."""
    program(prog_name="token-service")


if __name__ == "__main__":
    main()
