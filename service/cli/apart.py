"""Reads the configuration again in a process that ends, so that requests do not wait for it."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from traceback import print_exc

from service.cli.importing import without_unwanted
from service.config.configuration import Configuration, collector_paused
from service.config.problem import ConfigError, Problem
from service.observe.logs import configure_logs

NICENESS = 10
"""Of a process that reads for one that serves already."""


def _find_installed() -> tuple[int, int] | None:
    """Return what changes with an installation of another release in this one's place."""
    with suppress(OSError):
        status = Path(__file__).stat()
        return status.st_mtime_ns, status.st_size
    return None


INSTALLED = _find_installed()
"""At the start of this process."""

ANOTHER_RELEASE = "another release was installed since the start; restart the service to read it"


def read(file: Path, environ: Mapping[str, str]) -> Configuration:
    """Read by an interpreter that begins anew, as a process with threads has to; raise ConfigError with every problem."""
    if _find_installed() != INSTALLED:  # its structs may be others
        raise _make_refusal(file, ANOTHER_RELEASE)
    try:
        process, receiving = _start(file, environ)
    except OSError as error:  # what serves has to go on
        raise _cannot_be_read(file, error) from error
    with process:
        return _receive(receiving, file)


def _start(file: Path, environ: Mapping[str, str]) -> tuple[Popen[bytes], int]:
    """Return an interpreter that reads, and the end of the pipe at which its answer comes.

    It is in a session of its own: what stops the group of the process that serves, such as Ctrl-C, must not look like a file
    that cannot be read.
    """
    receiving, sending = os.pipe()
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from service.cli.apart import answer; "
        f"answer({sending}, {str(file)!r})"
    )
    command = [sys.executable, "-c", program]
    try:
        process = Popen(  # noqa: S603 - this very program
            command, env={**environ}, stdin=DEVNULL, pass_fds=[sending], start_new_session=True
        )
    except OSError:
        os.close(receiving)
        raise
    finally:
        os.close(sending)
    return process, receiving


def answer(sending: int, file: str) -> None:
    """Be the process that `read` starts; requests go first."""
    os.nice(NICENESS)
    configure_logs("warning")  # for what an operator's class logs when it is imported
    _answer(sending, Path(file), os.environ)


def _answer(sending: int, file: Path, environ: Mapping[str, str]) -> None:
    """Write the configuration, or the ConfigError, and end this process."""
    try:
        gc.disable()  # nothing is worth collecting in a process that ends
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        with without_unwanted():
            from service.start.load import load_to_serve  # noqa: PLC0415 - what this process is for

        sys.stdout = sys.stderr  # an operator's class may print something
        try:
            result: Configuration | ConfigError = load_to_serve(file, environ)
        except ConfigError as error:
            result = error
        with suppress(BrokenPipeError), open(sending, "wb") as stream:  # it may have been stopped
            pickle.dump(result, stream, pickle.HIGHEST_PROTOCOL)
    except BaseException:  # noqa: BLE001 - nothing above is of this process
        print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
        os._exit(0)


@collector_paused()
def _receive(receiving: int, file: Path) -> Configuration:
    try:
        with open(receiving, "rb") as stream:
            result: Configuration | ConfigError = pickle.load(stream)  # noqa: S301 - from a child of this process
    except (EOFError, pickle.UnpicklingError) as error:
        message = "the process that reads the configuration ended before it was done"
        raise _make_refusal(file, message) from error
    except (ImportError, AttributeError, TypeError) as error:
        raise _make_refusal(file, ANOTHER_RELEASE) from error
    if isinstance(result, ConfigError):
        raise result
    return result


def _cannot_be_read(file: Path, error: OSError) -> ConfigError:
    return _make_refusal(file, f"cannot be read by another process: {error.strerror}")


def _make_refusal(file: Path, message: str) -> ConfigError:
    return ConfigError([Problem(file=str(file), message=message)])
